"""Locks on checkpoint folders, and removal of old checkpoints."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

KEPT = 3  # checkpoints of other values, code or data, beside the one in use


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
