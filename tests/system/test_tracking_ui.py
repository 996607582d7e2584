"""`pondering ui` in a browser, while a training writes to its database."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from support import tiny
from support import tracked_stage as stage
from support.tracked_stage import until

UI = "from pondering.cli.main import main; main(['ui', *__import__('sys').argv[1:]])"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a finished training, in a folder with an uncommon name."""
    folder = tmp_path / "a?b #c%20d é"
    folder.mkdir()
    values = tiny.document()
    values["parity"] = values.pop("tiny")
    tiny.write(folder, values)
    stage.write_results(folder)
    monkeypatch.delenv("PONDERING_TRACKING", raising=False)
    return folder


@pytest.fixture
def server(project: Path) -> Iterator[str]:
    """The address of `pondering ui`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log, base = project.parent / "ui.log", f"http://127.0.0.1:{port}"
    hosts = f"hub.example.org,127.0.0.1:{port}"
    command = [sys.executable, "-c", UI, "--port", str(port), "--allowed-hosts", hosts]
    with (
        log.open("w") as output,
        subprocess.Popen(command, stdout=output, stderr=output, cwd=project) as ui,
    ):
        try:
            until(lambda: base in log.read_text() and answer(base) == 200, 180)
            yield base
        finally:
            ui.send_signal(signal.SIGINT)
    assert ui.returncode == 0 and answer(base) is None
    assert "Traceback" not in log.read_text()
    assert {each.name for each in project.parent.iterdir()} == {project.name, "ui.log"}


def answer(base: str, host: str | None = None) -> int | None:
    """The HTTP status of a server's answer; None without a server."""
    request = urllib.request.Request(f"{base}/", headers={"Host": host} if host else {})
    try:
        with urllib.request.urlopen(request, timeout=5) as found:
            return int(found.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


def replicas(base: str) -> dict[str, Any]:
    """The run of each replica by name, asked over HTTP."""
    request = urllib.request.Request(
        f"{base}/api/2.0/mlflow/runs/search",
        json.dumps({"experiment_ids": ["1"], "filter": "tags.kind = 'replica'"}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=20) as found:
        return {run["info"]["run_name"]: run["info"] for run in json.load(found)["runs"]}


def statuses(base: str) -> set[str]:
    return {run["status"] for run in replicas(base).values()}


def test_the_ui_lists_runs_and_draws_their_curves(
    project: Path, server: str, browser: Browser
) -> None:
    assert statuses(server) == {"FINISHED", "FAILED"}
    assert answer(server, "hub.example.org") == 200 and answer(server, "evil.example.org") == 403
    port = int(server.rpartition(":")[2])
    with pytest.raises(OSError), socket.create_connection(("127.0.0.2", port), 5):
        pass  # it listens on 127.0.0.1 alone
    command = [sys.executable, stage.__file__]
    with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=project) as trainer:
        until(lambda: "RUNNING" in statuses(server))
    assert trainer.returncode == 0
    assert statuses(server) == {"FINISHED", "FAILED"}
    page = browser.new_page(viewport={"width": 1600, "height": 900})
    run = replicas(server)["act, tau 0.01, seed 0"]
    page.goto(f"{server}/#/experiments/{run['experiment_id']}/runs/{run['run_id']}")
    expect(page.get_by_text("training.learning_rate")).to_be_visible(timeout=30_000)
    page.get_by_text("Model metrics", exact=True).first.click()
    points = page.locator(".js-plotly-plot .scatterlayer .point")
    expect(points.first).to_be_visible(timeout=30_000)
    assert points.count() % len(stage.POINTS) == 0 and points.count() >= 2 * len(stage.POINTS)
    page.close()
