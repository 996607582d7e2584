"""The stages' side: curve rows into a CSV that grows, and MLflow filled by the report."""

from __future__ import annotations

import contextlib
import csv
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from filelock import FileLock

from pondering.project.atomic import write_json
from pondering.track.stages import Stage

_PATIENCE = 10.0  # seconds to wait for the UI, which looks whether the stage still trains


@dataclass(frozen=True)
class RunInfo:
    """One train stage as MLflow shows it: a parent run, and one child per replica.

    A replica is what its rows begin with: mechanism with options, setting, seed.
    """

    profile: str
    experiment: str
    mechanism: str
    config: dict[str, Any]
    replicas: tuple[tuple[str, float, int], ...]
    commit: str
    lock_hash: str
    data_hash: str
    device: str
    root: Path

    @property
    def stage(self) -> Stage:
        """Where this run's files lie when it has finished."""
        return Stage(self.root, self.profile, self.experiment, self.mechanism)

    def record(self) -> dict[str, Any]:
        """What is known of the run while it trains, in the words of its provenance."""
        names = ("config", "replicas", "commit", "lock_hash", "data_hash", "device")
        return {name: getattr(self, name) for name in names}


class Tracker:
    """Takes curve rows from a train stage; never raises."""

    def __init__(self, run: RunInfo) -> None:
        self._run = run
        self._growing = run.stage.growing()
        self._lock = FileLock(self._growing.lock)
        self._file: IO[str] | None = None
        self._on = _turned_on()

    def log(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Append the curve rows of a logging point.

        Args:
            rows: dicts with the columns of the curves CSV. A resumed run passes on the rows it
                already has first, so that its CSV begins anew and is whole.
        """
        if self._on and rows:
            self._on = _attempt(lambda: self._append(rows))

    def close(self, finished: bool) -> None:
        """Remove the growing CSV of a finished run, whose tables say the same."""
        if self._file is not None:
            _attempt(lambda: self._end(finished))

    def _append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        if self._file is None:
            self._file = self._begin()
            csv.DictWriter(self._file, list(rows[0])).writeheader()
        csv.DictWriter(self._file, list(rows[0])).writerows(rows)
        self._file.flush()

    def _end(self, finished: bool) -> None:
        assert self._file is not None
        with contextlib.suppress(OSError):  # of a row that could not be written, as `log` has said
            self._file.close()
        try:
            if finished:
                for file in (self._growing.provenance, self._growing.curves):
                    file.unlink(missing_ok=True)
        finally:
            self._lock.release()

    def _begin(self) -> IO[str]:
        """Open the CSV: not before there are rows, for only then the stage holds its run."""
        growing = self._growing
        growing.curves.parent.mkdir(parents=True, exist_ok=True)
        self._lock.acquire(timeout=_PATIENCE)
        file = growing.curves.open("w")
        write_json(growing.provenance, self._run.record())
        return file


@contextlib.contextmanager
def live(run: RunInfo) -> Iterator[Tracker]:
    """Let MLflow's UI show a train stage while it trains; `PONDERING_TRACKING=off` turns it off.

    The stage's tables must be written inside the block.

    Args:
        run: the stage and its replicas.

    Yields:
        a tracker whose `log(rows)` is called at each logging point.
    """
    tracker = Tracker(run)
    finished = False
    try:
        yield tracker
        finished = True
    finally:
        tracker.close(finished)


def log_results(root: Path, profile: str) -> None:
    """Bring a profile's trainings, evaluations and figures to MLflow."""
    if _turned_on():
        _attempt(lambda: _rebuild(root, profile))


def _rebuild(root: Path, profile: str) -> None:
    from pondering.track import fill

    fill.rebuild(root, profile)


def _turned_on() -> bool:
    """Whether the user wants tracking."""
    return os.environ.get("PONDERING_TRACKING", "on").lower() not in ("off", "0", "false")


def _attempt(work: Callable[[], object]) -> bool:
    """Do a piece of the tracker's work; whether it worked. If not, one line on stderr says why."""
    try:
        work()
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        print(
            f"warning: MLflow does not show this ({reason}); go on, `make track` adds it later",
            file=sys.stderr,
            flush=True,
        )
        return False
    return True
