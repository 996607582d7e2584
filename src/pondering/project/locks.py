"""Locks on checkpoint folders and on the project, and removal of old checkpoints."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from pondering.project.errors import UserError

KEPT = 3  # checkpoints of other values, code or data, beside the one in use
LEADER = "PONDERING_LEADER"  # in the environment: a file that is locked while the leader lives
SECONDS_BETWEEN_LOOKS = 0.2


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Lock a run's folder; wait while another process trains the same run."""
    path = folder / "lock"
    if held(path):
        print(f"{folder}: another trainer is at work on this run; waiting for it", flush=True)
    with FileLock(path):
        os.utime(folder)  # in use now, for `prune`
        yield


def held(lock: Path) -> bool:
    """Whether a process that lives has locked a file; it is made where there is none."""
    with suppress(Timeout), FileLock(lock, timeout=0):
        return False
    return True


@contextmanager
def leading(root: Path) -> Iterator[None]:
    """Lead every training that starts below this process: they end when it does, however it ends.

    Raises:
        UserError: another process leads in this project.
    """
    path = (root / ".checkpoints" / "leader").absolute()
    lock = FileLock(path)
    try:
        lock.acquire(timeout=10 * SECONDS_BETWEEN_LOOKS)  # a training that looks has it briefly
    except Timeout:
        what = "another `make repro` is at work in this folder"
        raise UserError(f"{what}; wait for its end, or stop it") from None
    os.environ[LEADER] = str(path)
    try:
        yield
    finally:
        del os.environ[LEADER]
        lock.release()


def is_led() -> bool:
    """Whether somebody leads this process."""
    return LEADER in os.environ


class Leader:
    """Whoever leads this process, if anyone does; see `leading`."""

    def __init__(self) -> None:
        self._path = os.environ.get(LEADER)
        self._looked = -SECONDS_BETWEEN_LOOKS

    def gone(self) -> bool:
        """Whether it has ended; cheap enough to be asked at every update."""
        now = time.monotonic()
        if self._path is None or now - self._looked < SECONDS_BETWEEN_LOOKS:
            return False
        self._looked = now
        return not held(Path(self._path))


def prune(folder: Path) -> None:
    """Of a run's other checkpoints keep the `KEPT` used last; one that is in use stays as well.

    Args:
        folder: the finished run's own; its neighbours are the same experiment and mechanism with
            other values, other code or other data.
    """
    others = [path for path in folder.parent.iterdir() if path != folder]
    others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in others[KEPT:]:
        with suppress(Timeout), FileLock(path / "lock", timeout=0):
            shutil.rmtree(path)
