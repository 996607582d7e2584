"""The training side: rows appended to a journal file, and the background writer kept running."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from filelock import FileLock, Timeout

from pondering.track.place import Place
from pondering.track.stages import Stage

_CHECK_SECONDS = 5.0  # between looks at whether the writer still lives
_writers: list[subprocess.Popen[bytes]] = []  # kept so that those that end are reaped


@dataclass(frozen=True)
class RunInfo:
    """One train stage as MLflow shows it: a parent run, and one child per (setting, seed)."""

    profile: str
    experiment: str
    mechanism: str
    config: dict[str, Any]
    replicas: tuple[tuple[float, int], ...]
    commit: str
    lock_hash: str
    data_hash: str
    device: str
    root: Path

    @property
    def stage(self) -> Stage:
        """Where this run's files lie."""
        return Stage(self.root, self.profile, self.experiment, self.mechanism)


class Tracker:
    """Takes curve rows from a train stage; never raises, never waits for MLflow."""

    def __init__(self, run: RunInfo) -> None:
        self._run = run
        self._place: Place | None = None
        self._file: IO[str] | None = None
        self._lock: FileLock | None = None
        self._checked = 0.0
        self._warned = False
        self._started = time.time()
        if _turned_off():
            return
        with self._guard():
            self._open()

    def log(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Pass on the curve rows of one logging point.

        Args:
            rows: dicts with the columns of the curves CSV. A resumed run passes on the rows it
                already has first; rows that are never passed on are read from the CSV at the end.
        """
        if self._file is None:
            return
        with self._guard():
            self._write({"rows": [dict(row) for row in rows]})
            if time.monotonic() - self._checked > _CHECK_SECONDS:
                self._keep_writer()

    def close(self, status: str) -> None:
        """End the run as FINISHED, FAILED or KILLED; a finished one takes the key of its files."""
        if self._file is None:
            return
        with self._guard():
            stage = self._run.stage
            written = stage.curves.is_file() and stage.curves.stat().st_mtime >= self._started - 2
            key = stage.key() if written and status == "FINISHED" else None
            self._write({"end": {"status": status, "key": key}})
        with self._guard():
            if self._file is not None:
                self._file.close()
            if self._lock is not None:
                self._lock.release()
            self._keep_writer()

    def _open(self) -> None:
        """Start the journal and hold its lock, which the writer reads as a sign of life."""
        run = self._run
        self._place = Place.of(run.root)
        folder = self._place.journals
        folder.mkdir(parents=True, exist_ok=True)
        name = f"{run.profile}--{run.experiment}--{run.mechanism}--{time.time_ns()}-{os.getpid()}"
        self._lock = FileLock(folder / f"{name}.lock")
        self._lock.acquire(timeout=0)
        header = asdict(run) | {"root": str(run.root.resolve())}
        # Named as a journal only once its first line is whole.
        temporary = folder / f"{name}.new"
        self._file = temporary.open("w")
        self._write(header)
        temporary.rename(folder / f"{name}.jsonl")
        self._keep_writer()

    def _write(self, value: dict[str, Any]) -> None:
        """Append one line."""
        assert self._file is not None
        self._file.write(json.dumps({"time": _now(), **value}, default=_plain) + "\n")
        self._file.flush()

    def _keep_writer(self) -> None:
        """Start the writer if it is not running, and say once what keeps it from writing."""
        assert self._place is not None
        self._checked = time.monotonic()
        ensure_writer(self._place)
        problem = self._place.journals / "problem"
        if problem.is_file():
            self._warn(problem.read_text().strip())

    @contextlib.contextmanager
    def _guard(self) -> Iterator[None]:
        """Training never fails for the tracker's sake."""
        try:
            yield
        except Exception as error:
            self._file = None
            self._warn(f"{type(error).__name__}: {error}")

    def _warn(self, reason: str) -> None:
        """One line per run, on stderr."""
        if not self._warned:
            self._warned = True
            line = " ".join(reason.split())[:300]
            print(
                f"warning: MLflow does not follow this run ({line}); training goes on, "
                "run `make track` to mend it",
                file=sys.stderr,
                flush=True,
            )


@contextlib.contextmanager
def live(run: RunInfo) -> Iterator[Tracker]:
    """Show a train stage in MLflow while it runs.

    The stage's curves and provenance must be written inside the block: at its end the run takes
    their hash as its key, so that `rebuild` knows it. `PONDERING_TRACKING=off` turns it off.

    Args:
        run: the stage and its replicas.

    Yields:
        a tracker whose `log(rows)` is called at each logging point.
    """
    tracker = Tracker(run)
    try:
        yield tracker
    except KeyboardInterrupt:
        tracker.close("KILLED")
        raise
    except BaseException:
        tracker.close("FAILED")
        raise
    tracker.close("FINISHED")


def log_results(root: Path, profile: str) -> None:
    """Ask the writer to bring evaluations and figures of a profile to MLflow; returns at once."""
    if _turned_off():
        return
    with contextlib.suppress(OSError):
        place = Place.of(root)
        place.journals.mkdir(parents=True, exist_ok=True)
        (place.journals / f"{profile}.request").touch()
        ensure_writer(place)


def settle(root: Path, timeout: float = 60.0, database: Path | None = None) -> bool:
    """Wait until everything that has ended is in MLflow.

    Args:
        root: the project.
        timeout: seconds to wait at most; the wait also ends when the writer reports a problem.
        database: the sqlite file, where it is not the project's own.

    Returns:
        whether nothing is left to write.
    """
    place = Place.of(root, database)
    end = time.monotonic() + timeout
    while waiting(place):
        if time.monotonic() > end or (place.journals / "problem").is_file():
            return False
        ensure_writer(place)
        time.sleep(0.1)
    return True


def waiting(place: Place) -> list[Path]:
    """Journals whose run has ended, and requests: what the writer could finish now."""
    journals = [path for path in place.journals.glob("*.jsonl") if not alive(path)]
    return journals + list(place.journals.glob("*.request"))


def alive(journal: Path) -> bool:
    """Whether the process that writes `journal` still runs (it holds the lock beside it)."""
    return _held(journal.with_suffix(".lock"))


def ensure_writer(place: Place) -> None:
    """Start the background writer of a backend unless one runs already."""
    folder = place.journals
    if _held(folder / "writer.lock"):
        return
    # Nothing of the writer may hang on to this process: a pipe that it kept open would keep
    # `make repro | tee log` from ending.
    with (folder / "writer.log").open("w") as log:
        writer = subprocess.Popen(
            [sys.executable, "-m", "pondering.track.writer", str(place.root)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=place.root,
            start_new_session=True,
            # By environment, not by argument: an address may hold a password, and `ps` shows those.
            env={**os.environ, "MLFLOW_TRACKING_URI": place.uri},
        )
    _writers[:] = [one for one in [*_writers, writer] if one.poll() is None]


def _turned_off() -> bool:
    """Whether the user wants no tracking."""
    return os.environ.get("PONDERING_TRACKING", "on").lower() in ("off", "0", "false")


def _held(path: Path) -> bool:
    """Whether some process holds the lock at `path`."""
    if not path.exists():
        return False
    try:
        with FileLock(path, timeout=0):
            return False
    except Timeout:
        return True


def _now() -> int:
    """Milliseconds since 1970, as MLflow counts."""
    return int(time.time() * 1000)


def _plain(value: Any) -> Any:
    """NumPy and torch scalars, paths and the like as JSON."""
    return value.item() if hasattr(value, "item") else str(value)
