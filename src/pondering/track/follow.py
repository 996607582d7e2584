"""Trainings that have not finished, from the CSVs that they write, in MLflow."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from pondering.track.fill import add
from pondering.track.stages import LIVE, Stage, stages
from pondering.track.store import StageRuns, Store


class Follower:
    """The runs of unfinished stages while MLflow's UI is open.

    They have no key: when a stage has finished its runs are replaced by complete ones, from its
    tables.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._runs: dict[tuple[Stage, int], StageRuns] = {}  # by stage and when it began, ms
        self._over: set[tuple[Stage, int]] = set()

    def step(self) -> None:
        """Bring what was written since the last call to MLflow; hold `database.exclusive`."""
        now = int(time.time() * 1000)
        found = list(_growing(self._store.root / LIVE))
        for stage, _ in set(self._runs) - set(found):
            if stage.finished().provenance.is_file():
                add(self._store, stage.finished())
        self._runs = {key: self._runs[key] for key in found if key in self._runs}
        for stage, began in found:
            key = stage, began
            if key in self._over:
                continue
            ended = not held(stage.lock)  # before reading: what was written by then is read
            try:
                record, rows = stage.record(), stage.rows()
            except FileNotFoundError:
                continue  # it has finished since; the next call adds it from its tables
            if key not in self._runs:
                self._store.clear(stage)
                self._runs[key] = StageRuns(self._store, stage, record, record["replicas"], began)
            self._runs[key].log(rows, now)
            if ended:
                self._runs[key].finish("KILLED", now)
                self._over.add(key)
            self._runs[key].save()


def _growing(root: Path) -> Iterator[tuple[Stage, int]]:
    """Stages that write their rows, and when they began, or were resumed, to; ms since 1970."""
    for stage in stages(root):
        with contextlib.suppress(FileNotFoundError):  # it has finished since
            yield stage, int(stage.provenance.stat().st_mtime * 1000)


def held(lock: Path) -> bool:
    """Whether a process that lives has locked a file; it is made where there is none."""
    with suppress(Timeout), FileLock(lock, timeout=0):
        return False
    return True
