"""SIGKILL of `dvc repro` and of `make repro` at a hundred random moments, for `.ci/run`.

It takes minutes, and `make test` has none to spare: no `test_` in its name, so pytest must be told.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest
from support import repros
from test_repro_kills import project, undisturbed  # noqa: F401  fixtures

from pondering.cli.mending import mend_lock, mend_rwlock

KILLS = int(os.environ.get("PONDERING_KILLS", "50"))  # of each command


@pytest.mark.parametrize("command", ["dvc", "make"])
def test_kills_at_random_moments(
    project: Path,  # noqa: F811
    tmp_path: Path,
    undisturbed: dict[str, bytes],  # noqa: F811
    command: str,
) -> None:
    """A run is killed, begun again and killed until one gets to its end; then all begins anew.

    After each kill everything that there is must be whole; whatever ended must be as undisturbed.
    """
    chance, log = random.Random(command), tmp_path / "log"
    seconds = run_whole(project, command, log, undisturbed)
    kills, whole = 0, 1
    while kills < KILLS:
        mend_rwlock(project)
        mend_lock(project)
        run = repros.start(project, command, log)
        end = time.monotonic() + chance.uniform(0, seconds)
        while run.poll() is None and time.monotonic() < end:
            time.sleep(0.002)
        if run.poll() is None:
            kills += 1
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            repros.until(lambda: not repros.at_work(project))
            for name, data in repros.results(project).items():
                assert name.endswith(".partial") or undisturbed.get(name) == data, name
        else:
            assert run.returncode == 0, log.read_text()
            whole += 1
            begin_anew(project, undisturbed)
    run_whole(project, command, log, undisturbed)
    print(f"{command}: {kills} kills, {whole} runs that got to the end, {seconds:.1f} s alone")


def run_whole(project: Path, command: str, log: Path, want: dict[str, bytes]) -> float:  # noqa: F811
    """A run that nobody kills; its seconds."""
    mend_rwlock(project)
    mend_lock(project)
    begin = time.monotonic()
    run = repros.start(project, command, log)
    assert run.wait(repros.PATIENCE) == 0, log.read_text()
    seconds = time.monotonic() - begin
    begin_anew(project, want)
    return seconds


def begin_anew(project: Path, want: dict[str, bytes]) -> None:  # noqa: F811
    """Look at what a run left, then remove it."""
    repros.until(lambda: not repros.at_work(project))
    assert repros.results(project) == want
    for name in ("data/tasks", "data/runs", "reports", ".checkpoints"):
        shutil.rmtree(project / name)
    (project / "dvc.lock").unlink()
