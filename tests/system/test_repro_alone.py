"""`pondering repro` ended alone: what it started ends at a checkpoint, and the next run goes on."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import repros, stages, tiny

UPDATES = 1000
MECHANISMS = ["act"]
SECONDS = 10.0  # one update, and a second for DVC to say so; this machine may be busy


def values(checkpoint_seconds: float) -> dict[str, Any]:
    found = tiny.document(training={"updates": UPDATES, "log_points": 1})
    found["compute"]["checkpoint_seconds"] = checkpoint_seconds
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the stages write when nobody ends them."""
    folder = repros.new(tmp_path_factory.mktemp("alone") / "project", values(1000.0), MECHANISMS)
    train = [("train", *stages.QUICK, "--mechanism", each) for each in MECHANISMS]
    for name, *arguments in (("datasets", *stages.QUICK), *train):
        assert stages.run(folder, name, *arguments).status == 0
    return repros.results(folder)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    folder = repros.new(tmp_path / "project", values(0.05), MECHANISMS)
    assert stages.run(folder, "datasets", *stages.QUICK).status == 0
    yield folder
    repros.kill_all(folder)


def trainers(project: Path) -> list[int]:
    """The training that DVC has started; a shell between the two is none."""
    found = repros.at_work(project).items()
    return [pid for pid, said in found if "pipeline/train.py" in said and " -c " not in said]


def test_what_it_started_ends_and_the_next_run_goes_on(
    project: Path, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    """DVC's training stands still meanwhile, or it would be over too soon."""
    log = tmp_path / "log"

    def begun() -> bool:
        return any(project.glob(".checkpoints/quick/tiny-act/*/checkpoint.safetensors"))

    def gone_on() -> bool:
        return "tiny act: going on from update " in log.read_text()

    for number, come in ((signal.SIGTERM, begun), (signal.SIGKILL, gone_on)):
        run = repros.start(project, "pondering", log)
        repros.until(lambda come=come, run=run: come() or run.poll() is not None)
        assert run.poll() is None, log.read_text()
        (trainer,) = trainers(project)
        os.kill(trainer, signal.SIGSTOP)
        os.kill(run.pid, number)
        status = run.wait(repros.PATIENCE)
        assert status == (128 + number if number == signal.SIGTERM else -number)
        assert trainer in repros.at_work(project)
        os.kill(trainer, signal.SIGCONT)
        repros.until(lambda: not repros.at_work(project), SECONDS)
        assert not (project / "data/runs/quick/tiny/act").exists(), "it was trained to its end"
        said = log.read_text()
        assert "Traceback" not in said
        assert f"of {UPDATES:,}; the same command goes on from there" in said
    last = repros.start(project, "pondering", log)
    assert last.wait(repros.PATIENCE) == 0, log.read_text()
    assert gone_on()
    assert repros.results(project) == undisturbed


def test_a_second_one_is_refused_in_one_line(project: Path, tmp_path: Path) -> None:
    logs = [tmp_path / name for name in ("first", "second")]
    first = repros.start(project, "pondering", logs[0])
    repros.until(lambda: "check: params.yaml" in logs[0].read_text() or first.poll() is not None)
    assert first.poll() is None, logs[0].read_text()
    os.kill(first.pid, signal.SIGSTOP)
    second = repros.start(project, "pondering", logs[1])
    assert second.wait(repros.PATIENCE) == 2
    said = "another `make repro` is at work in this folder; wait for its end, or stop it"
    assert logs[1].read_text() == f"error: {said}\n"
