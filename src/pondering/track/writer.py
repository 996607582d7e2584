"""The background process that follows journals into MLflow: `python -m pondering.track.writer`.

It holds one lock for its life, so there is one per backend, starts every journal from its
beginning (deleting what an earlier writer left half-written), and leaves when nothing has been
waiting for a while. Journals outlive it: whatever it could not write, its successor does.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from pondering.track.journal import RunInfo, alive, waiting
from pondering.track.place import Place, without_secrets

if TYPE_CHECKING:
    from pondering.track.store import StageRuns, Store

LINGER = 20.0  # seconds without work before it leaves; the next train stage finds it warm
FLUSH = 2.0  # seconds between two passes over running journals,
SHARE = 50.0  # and at least this many times what the last pass took: 2% of a core at most,
SLOWEST = 60.0  # but no longer than this
PATIENCE = 60.0  # seconds it keeps trying to write what has ended, against a database that refuses


class Trouble(Exception):
    """The database cannot be written now; one line says why."""


class Follower:
    """One journal on its way into MLflow."""

    def __init__(self, path: Path, store: Store) -> None:
        self._path = path
        self._store = store
        self._file: IO[str] = path.open()
        self._half = ""
        self._runs: StageRuns | None = None
        self._run: RunInfo | None = None
        self._started = self._time = 0

    def step(self) -> bool:
        """Write what has come in; whether the run is over and its journal done with."""
        over = not alive(self._path)  # before reading: what was written by then is read now
        end: dict[str, Any] | None = None
        rows: list[tuple[int, list[dict[str, Any]]]] = []
        for line in self._lines():
            self._time = line["time"]
            if self._run is None:
                self._run = _run(line)
                self._started = line["time"]
            elif "rows" in line:
                rows.append((line["time"], line["rows"]))
            else:
                end = line["end"]
        if self._run is None:
            return over
        if self._runs is None and not self._begin(end):
            return over
        assert self._runs is not None
        times = {int(row["update"]): when for when, group in rows for row in group}
        self._runs.log((row for _, group in rows for row in group), times)
        if over:
            self._finish(end or {"status": "KILLED", "key": None})
        return over

    def close(self) -> None:
        """Close the journal."""
        self._file.close()

    def _lines(self) -> list[dict[str, Any]]:
        """Whole lines written since the last call."""
        text = self._half + self._file.read()
        *whole, self._half = text.split("\n")
        return [json.loads(line) for line in whole]

    def _begin(self, end: dict[str, Any] | None) -> bool:
        """Create the runs, unless an earlier writer had finished them before it was stopped."""
        from pondering.track.rebuilding import clear
        from pondering.track.store import StageRuns

        assert self._run is not None
        stage = self._run.stage
        key = end["key"] if end else None
        if key and self._store.parents(stage, "pondering.key", key):
            return False
        name = self._path.stem
        for half in self._store.parents(stage, "pondering.journal", name):
            if "pondering.key" not in half.data.tags:
                self._store.delete(half)
        clear(self._store, stage, {path.stem for path in self._path.parent.glob("*.jsonl")})
        self._runs = StageRuns(self._store, self._run, self._started, name)
        return True

    def _finish(self, end: dict[str, Any]) -> None:
        """Close the runs; they take their key only if the tables are still those of this run."""
        assert self._run is not None and self._runs is not None
        stage = self._run.stage
        key = end["key"]
        if key and key == stage.key():
            self._runs.log(stage.rows(), self._time)
            self._runs.finish(end["status"], self._time, key)
            self._store.results(self._store.client.get_run(self._runs.parent), *stage.results())
        else:
            self._runs.finish(end["status"], self._time, None)


class Writer:
    """All journals of one backend."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._store: Store | None = None
        self._followers: dict[Path, Follower] = {}
        self._identity: tuple[int, int] | None = None

    def pending(self) -> bool:
        """Whether there is a journal or a request."""
        folder = self._place.journals
        return any(folder.glob("*.jsonl")) or any(folder.glob("*.request"))

    def replaced(self) -> bool:
        """Whether the database file is not the one that was opened: deleted, or another.

        MLflow's open connections would write into nowhere, so only a new process will do.
        """
        return self._store is not None and self._identity != _identity(self._place.file)

    def urgent(self) -> bool:
        """Whether something should not wait for the next flush: a new run, or one that ended."""
        new = set(self._place.journals.glob("*.jsonl")) - set(self._followers)
        return bool(new) or bool(waiting(self._place))

    def work(self) -> float:
        """One pass: everything that has come in goes to MLflow.

        Returns:
            the seconds that go to following runs which had begun before; they come again.

        Raises:
            Trouble: the database cannot be used.
        """
        from pondering.track.database import exclusive

        cost = 0.0
        with exclusive(self._place):
            store = self._open()
            for path in sorted(self._place.journals.glob("*.jsonl")):
                begun = time.monotonic()
                new = path not in self._followers
                if new:
                    self._followers[path] = Follower(path, store)
                if self._followers[path].step():
                    self._followers.pop(path).close()
                    path.unlink(missing_ok=True)
                    path.with_suffix(".lock").unlink(missing_ok=True)
                elif not new:
                    cost += time.monotonic() - begun
            for request in sorted(self._place.journals.glob("*.request")):
                from pondering.track.rebuilding import update

                update(store, request.stem)
                request.unlink(missing_ok=True)
        return cost

    def forget(self) -> None:
        """Drop all state: every journal is read from its beginning again."""
        for follower in self._followers.values():
            follower.close()
        self._followers.clear()

    def _open(self) -> Store:
        """The store, after a look at whether the file under it is still the same and usable."""
        from pondering.track.database import create, state

        file = self._place.file
        if self.replaced():
            raise Trouble(f"{self._place.name} was replaced")
        if file is not None:
            found = state(file)
            if found == "locked":
                raise Trouble(f"{file.name} is locked by another process")
            if found in ("old", "foreign"):
                kind = "of another MLflow version" if found == "old" else "damaged"
                raise Trouble(f"{file.name} is {kind}")
            if found == "missing":
                create(file)
        if self._store is None:
            from pondering.track.store import Store  # imports mlflow: not before it is needed

            self._store = Store(self._place)
            self._identity = _identity(file)
        return self._store


def main(root: Path) -> None:
    """Follow the journals of the project at `root` until there is nothing left to do."""
    place = Place.of(root)
    with contextlib.suppress(OSError):
        os.nice(10)
    lock = FileLock(place.journals / "writer.lock")
    while True:
        try:
            lock.acquire(timeout=2.0)
        except Timeout:
            return
        writer = Writer(place)
        try:
            again = follow(writer, place)
        finally:
            lock.release()
        # A journal begun between the last look and the release found the lock held.
        if not again or not place.journals.exists() or not writer.urgent():
            return


def follow(writer: Writer, place: Place) -> bool:
    """Work until idle (True) or until the database has refused for too long (False)."""
    problem = place.journals / "problem"
    idle = time.monotonic()
    refused: float | None = None
    while place.journals.exists():
        if not writer.pending():
            if time.monotonic() - idle > LINGER:
                return True
            time.sleep(0.2)
            continue
        cost = 0.0
        try:
            cost = writer.work()
            refused = None
            problem.unlink(missing_ok=True)
        except Exception as error:
            if writer.replaced():
                os.execv(sys.executable, [sys.executable, "-m", __spec__.name, str(place.root)])
            text = str(error) if isinstance(error, Trouble) else f"{type(error).__name__}: {error}"
            with contextlib.suppress(OSError):
                half = problem.with_suffix(".half")  # a run may read it at any moment
                half.write_text(without_secrets(" ".join(text.split()))[:300] + "\n")
                half.replace(problem)
            writer.forget()
            refused = refused or time.monotonic()
            if time.monotonic() - refused > PATIENCE and not _running(place):
                return False
        idle = time.monotonic()
        rest = min(max(FLUSH, SHARE * cost), SLOWEST)
        while time.monotonic() - idle < rest and (refused or not writer.urgent()):
            time.sleep(0.2)
    return False


def _running(place: Place) -> bool:
    """Whether some run still writes its journal."""
    return any(alive(path) for path in place.journals.glob("*.jsonl"))


def _identity(file: Path | None) -> tuple[int, int] | None:
    """What tells a file from another that took its name."""
    try:
        found = file.stat() if file is not None else None
    except FileNotFoundError:
        return None
    return (found.st_dev, found.st_ino) if found is not None else None


def _run(header: dict[str, Any]) -> RunInfo:
    """The run a journal's first line describes."""
    fields = {name: header[name] for name in RunInfo.__dataclass_fields__}
    fields["root"] = Path(fields["root"])
    fields["replicas"] = tuple((setting, seed) for setting, seed in fields["replicas"])
    return RunInfo(**fields)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
