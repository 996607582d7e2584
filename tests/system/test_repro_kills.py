"""SIGKILL of `dvc repro` at several moments: the next run goes on.

`random_kills.py` has a hundred more, of `make repro` too.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import repros, stages, tiny

from pondering.cli.mending import mend_lock, mend_rwlock

MECHANISMS = ["act"]
FROZEN = "data/tasks/quick/tiny.npz"
CURVES = "reports/quick/curves/tiny-act.csv"


def values(checkpoint_seconds: float) -> dict[str, Any]:
    found = tiny.document(training={"updates": 300})
    found["compute"]["checkpoint_seconds"] = checkpoint_seconds
    return found


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    folder = repros.new(tmp_path / "project", values(1e-9), MECHANISMS)
    yield folder
    repros.kill_all(folder)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the stages write when nobody kills them."""
    folder = repros.new(tmp_path_factory.mktemp("alone") / "project", values(1000.0), MECHANISMS)
    for name, *arguments in (
        ("datasets", *stages.QUICK),
        *(("train", *stages.QUICK, "--mechanism", mechanism) for mechanism in MECHANISMS),
    ):
        assert stages.run(folder, name, *arguments).status == 0
    return repros.results(folder)


def saved(project: Path) -> set[tuple[str, int]]:
    """The checkpoints that there are; each one written is another file."""
    found = project.glob(".checkpoints/quick/*/*/checkpoint.safetensors")
    return {(str(path), path.stat().st_ino) for path in found}


def moments(project: Path) -> list[Callable[[], object]]:
    """What a run has come to when it is killed, in this order."""
    return [
        lambda: repros.at_work(project),
        (project / FROZEN).exists,
        (project / "dvc.lock").exists,
        lambda: saved(project),
        (project / CURVES).exists,
    ]


def test_the_next_run_goes_on(project: Path, tmp_path: Path, undisturbed: dict[str, bytes]) -> None:
    """Every other time DVC alone is killed, and what it had started goes on as an orphan.

    Lock files that the kill cut off are mended as `make repro` does first.
    """
    chance, log, command = random.Random(1), tmp_path / "log", "dvc"
    for number, come in enumerate(moments(project)):
        mend_rwlock(project)
        mend_lock(project)
        run = repros.start(project, command, log)
        repros.until(lambda come=come, run=run: come() or run.poll() is not None)
        assert run.poll() is None, log.read_text()
        time.sleep(chance.uniform(0, 0.1))
        if number % 2:
            run.kill()
            run.wait()
            continue
        os.killpg(run.pid, signal.SIGKILL)
        assert run.wait() == -signal.SIGKILL
        repros.until(lambda: not repros.at_work(project))
        for name, data in repros.results(project).items():
            assert name.endswith(".partial") or undisturbed[name] == data, name
    mend_rwlock(project)
    mend_lock(project)
    run = repros.start(project, command, log)
    assert run.wait(repros.PATIENCE) == 0, log.read_text()
    repros.until(lambda: not repros.at_work(project))
    assert repros.results(project) == undisturbed
    shutil.rmtree(project / ".checkpoints")  # or whoever trained again would be quick
    again = repros.start(project, command, log)
    assert again.wait(repros.PATIENCE) == 0
    assert "up to date" in log.read_text() and not saved(project)
