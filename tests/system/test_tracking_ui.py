"""MLflow's own UI, opened in a browser over a database that is being written."""

from __future__ import annotations

import json
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from support import tracked_stage as stage
from support.tracked_stage import until

from pondering import track
from pondering.track.views import page as page_of

UI = "from pondering.cli.track import ui_command; ui_command()"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose database is still without runs."""
    monkeypatch.delenv("PONDERING_TRACKING", raising=False)
    shutil.copy(stage.empty_database(), tmp_path)
    return tmp_path


@pytest.fixture
def server(project: Path) -> Iterator[tuple[str, int]]:
    """`pondering ui` on a port that is taken: its base address and the port it was asked for."""
    log = project / "ui.log"
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, "-c", UI, "--root", str(project), "--port", str(port)]
        with log.open("w") as output, subprocess.Popen(command, stdout=output, stderr=output) as ui:
            try:
                until(lambda: "http://" in log.read_text(), 60)
                said = re.search(r"(http://127\.0\.0\.1:\d+)/#/experiments", log.read_text())
                assert said is not None
                until(lambda: answers(said[1]), 60)
                yield said[1], port
            finally:
                ui.send_signal(signal.SIGINT)
    assert ui.returncode == 0 and not answers(said[1])
    assert "Traceback" not in log.read_text()


def answers(base: str) -> bool:
    """Whether a server answers."""
    try:
        with urllib.request.urlopen(base, timeout=5):
            return True
    except OSError:
        return False


def ask(base: str, path: str, question: dict[str, Any]) -> Any:
    """MLflow's REST answer."""
    request = urllib.request.Request(
        f"{base}/api/2.0/mlflow/{path}",
        json.dumps(question).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


def test_the_ui_lists_runs_with_parameters_and_draws_their_curves(
    project: Path, server: tuple[str, int], browser: Browser
) -> None:
    base, taken = server
    port = int(base.rpartition(":")[2])
    assert port != taken
    assert f"port {taken} is taken, using {port}" in (project / "ui.log").read_text()
    assert listening(port) == {"0100007F"}, "the UI listens beyond 127.0.0.1"
    command = [sys.executable, stage.__file__, str(project), "parity", "act"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as trainer:
        until(stage.info(project).stage.growing().provenance.exists)
        until(lambda: bool(statuses(base)))
        assert statuses(base) == {"RUNNING"}
    assert trainer.returncode == 0
    until(lambda: statuses(base) == {"FINISHED", "FAILED"})
    figures = project / "reports/quick/figures"
    figures.mkdir()
    (figures / "graves4.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    track.log_results(project, "quick")
    page = browser.new_page(viewport={"width": 1600, "height": 900})
    page.goto(page_of(base, "1"))
    rows = page.get_by_role("link", name=re.compile(r"^tau [\d.]+ seed \d$"))
    expect(rows).to_have_count(4, timeout=20_000)
    for column in ("mechanism", "setting", "seed", "error", "ponder_time"):
        expect(page.get_by_role("columnheader", name=column, exact=True).first).to_be_attached()
    rows.filter(has_text="tau 0.01 seed 0").click()
    expect(page.get_by_text("training.learning_rate")).to_be_visible(timeout=20_000)
    page.get_by_text("Model metrics", exact=True).first.click()
    points = page.locator(".js-plotly-plot .scatterlayer .point")
    expect(points.first).to_be_visible(timeout=20_000)
    assert points.count() % stage.POINTS == 0 and points.count() >= 2 * stage.POINTS
    page.close()
    (report,) = ask(base, "runs/search", {"experiment_ids": ["2"]})["runs"]
    file = f"get-artifact?path=figures/graves4.svg&run_uuid={report['info']['run_id']}"
    with urllib.request.urlopen(f"{base}/{file}", timeout=20) as answer:
        assert answer.read().startswith(b"<svg")


def statuses(base: str) -> set[str]:
    """Those of all replicas in MLflow."""
    question = {"experiment_ids": ["1"], "filter": "tags.kind = 'replica'"}
    found = ask(base, "runs/search", question).get("runs", [])
    return {run["info"]["status"] for run in found}


def listening(port: int) -> set[str]:
    """The addresses, in hexadecimal, on which some process listens on `port`."""
    found = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            local, state = line.split()[1], line.split()[3]
            where, _, number = local.partition(":")
            if state == "0A" and int(number, 16) == port:
                found.add(where)
    return found
