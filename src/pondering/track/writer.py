"""Trainings in MLflow while they run: curve rows are collected, a thread writes them."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from pondering.params.replica import Replica
from pondering.track.database import DATABASE

if TYPE_CHECKING:
    from mlflow.entities import Run

    from pondering.track.runs import Runs

Row = dict[str, Any]
SECONDS = 10.0  # between two writings

# A process that is forked while the thread imports MLflow would wait for ever for that import.
_writing = threading.RLock()
os.register_at_fork(
    before=_writing.acquire, after_in_parent=_writing.release, after_in_child=_writing.release
)


@contextlib.contextmanager
def live(
    profile: str, experiment: str, configs: Mapping[str, Mapping[str, Any]]
) -> Iterator[Callable[[list[Row]], None]]:
    """Write a training to MLflow while it runs, if there is a database in the working folder.

    `PONDERING_TRACKING=off` turns it off.

    Args:
        configs: the values of each mechanism.

    Yields:
        what takes the curve rows of each logging point. A resumed training begins with those that
        it has already, and gets new runs.
    """
    writer = _Writer(profile, experiment, configs)
    if not _turned_on():
        yield writer.rows.extend
        return
    thread = threading.Thread(target=writer.work, daemon=True)
    thread.start()
    try:
        yield writer.rows.extend
        writer.finished = True
    finally:
        writer.over.set()
        thread.join()


def load_if_open(profile: str) -> None:
    """Bring a profile's results to MLflow, if there is a database in the working folder."""
    if _turned_on() and DATABASE.exists():
        with _at_worst_a_warning():
            from pondering.track.load import load

            load([profile])


class _Writer:
    """Curve rows on their way to MLflow."""

    def __init__(
        self, profile: str, experiment: str, configs: Mapping[str, Mapping[str, Any]]
    ) -> None:
        self.rows: list[Row] = []
        self.over, self.finished = threading.Event(), False
        self._profile, self._experiment, self._configs = profile, experiment, configs
        self._runs: Runs | None = None
        self._known: dict[Replica, tuple[Run, Row]] = {}  # the run of each, its last row

    def work(self) -> None:
        """Write now and then, and a last time at the end."""
        with _at_worst_a_warning():
            while not self.over.wait(SECONDS):
                self._write()
            self._write()
            if self._runs is not None:
                self._end(self._runs)

    def _write(self) -> None:
        if not (self.rows and DATABASE.exists()):
            return
        with _writing:
            from pondering.track.runs import Runs, client, parameters

            if self._runs is None:
                self._runs = Runs(client(), self._profile, self._experiment)
                self._runs.client.update_run(self._runs.parent, "RUNNING")
            taken = self.rows[:]
            del self.rows[: len(taken)]
            found: dict[Replica, list[Row]] = defaultdict(list)
            for row in taken:
                found[Replica.of_row(row["mechanism"], row["setting"], row["seed"])].append(row)
            for replica, rows in found.items():
                if replica in self._known:
                    run, last = self._known[replica]
                    self._runs.log(run, [row for row in rows if row["update"] > last["update"]])
                else:
                    run = self._runs.begin(replica)
                    values = parameters(self._configs[replica.mechanism], replica)
                    self._runs.log(run, rows, values=values)
                self._known[replica] = run, rows[-1]

    def _end(self, runs: Runs) -> None:
        """Close all runs, as killed where the training was interrupted."""
        for run, last in self._known.values():
            if self.finished:
                runs.end(run, last)
            else:
                runs.client.set_terminated(run.info.run_id, "KILLED")
        runs.client.set_terminated(runs.parent, "FINISHED" if self.finished else "KILLED")


def _turned_on() -> bool:
    """Whether the user wants tracking."""
    return os.environ.get("PONDERING_TRACKING", "on").lower() not in ("off", "0", "false")


@contextlib.contextmanager
def _at_worst_a_warning() -> Iterator[None]:
    """Whatever MLflow fails at, say it in one line and go on."""
    try:
        yield
    except Exception as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        print(
            f"warning: MLflow does not show this ({reason}); go on, `make ui` adds it later",
            file=sys.stderr,
            flush=True,
        )
