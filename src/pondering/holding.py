"""Who works in a checkpoint folder, and which of its neighbours are out of use."""

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
    """Hold a run's folder: another trainer of the same run, orphaned or not, is waited for."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / "lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        print(f"{folder}: another trainer is at work on this run; waiting for it", flush=True)
        lock.acquire()
    try:
        os.utime(folder)  # in use now, for `prune`
        yield
    finally:
        lock.release()


def prune(folder: Path) -> None:
    """Of a run's other checkpoints keep the `KEPT` used last; one that is in use stays as well.

    Args:
        folder: the finished run's own; its neighbours are the same experiment and mechanism with
            other values, other code or other data.
    """
    with suppress(OSError):  # tidying is no reason for a finished run to fail
        others = [path for path in folder.parent.iterdir() if path.is_dir() and path != folder]
        others.sort(key=lambda path: path.stat().st_mtime, reverse=True)
        for path in others[KEPT:]:
            with suppress(Timeout), FileLock(path / "lock", timeout=0):
                shutil.rmtree(path)
