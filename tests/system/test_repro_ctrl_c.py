"""Ctrl-C in `make repro`: everything ends at once, and a line says how to go on."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import repros, stages, tiny

SECONDS = 4.0  # two are promised; this machine may be busy
LINE = "stopped; `make repro` goes on from there"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    """A project whose two trainings take for ever."""
    values = tiny.document(training={"updates": 10**6, "log_points": 10})
    folder = repros.new(tmp_path / "project", values, ["repeat", "act"])
    assert stages.run(folder, "datasets", *stages.QUICK).status == 0
    yield folder
    repros.kill_all(folder)


def checkpoints(project: Path) -> list[Path]:
    return list(project.glob(".checkpoints/quick/*/*/checkpoint.safetensors"))


def test_all_ends_at_once_and_a_line_says_how_to_go_on(project: Path, tmp_path: Path) -> None:
    """SIGINT goes to the whole process group, as from a terminal."""
    log = tmp_path / "log"
    repro = repros.start(project, "make", log)
    company = len(os.sched_getaffinity(0)) > 1
    repros.until(lambda: len(checkpoints(project)) == 1 + company or repro.poll() is not None)
    assert repro.poll() is None, log.read_text()
    asked = time.monotonic()
    os.killpg(repro.pid, signal.SIGINT)
    status = repro.wait(repros.PATIENCE)
    repros.until(lambda: not repros.at_work(project), SECONDS)
    assert time.monotonic() - asked < SECONDS
    said = log.read_text()
    assert "Traceback" not in said
    *_, line, last = said.splitlines()
    assert line == LINE
    assert last.startswith("make") and last.endswith("Error 130")
    assert status == -signal.SIGINT  # make's own
