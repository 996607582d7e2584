"""Trainings in MLflow while they run: curve rows are collected, and written now and then."""

from __future__ import annotations

import contextlib
import math
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pondering.params.replica import Replica
from pondering.params.schema import Params
from pondering.track import DATABASE

if TYPE_CHECKING:
    from mlflow.entities import Run

    from pondering.track.runs import Runs

Row = dict[str, Any]
SECONDS = 10.0  # between two writings


@contextlib.contextmanager
def live(params: Params, experiment: str) -> Iterator[Callable[[list[Row]], None]]:
    """Write a training to MLflow while it runs, if there is a database in the working folder.

    `PONDERING_TRACKING=off` turns it off.

    Yields:
        what takes the curve rows of each logging point. A resumed training begins with those that
        it has already, and gets new runs.
    """
    if not _turned_on():
        yield lambda rows: None
        return
    writer, status = _Writer(params, experiment), "KILLED"
    try:
        yield writer.take
        status = "FINISHED"
    finally:
        writer.end(status)


def load_if_open(profile: str) -> None:
    """Bring a profile's results to MLflow, if there is a database in the working folder."""
    if _turned_on() and DATABASE.exists():
        with _at_worst_a_warning():
            from pondering.track.load import load

            load([profile])


class _Writer:
    """Curve rows on their way to MLflow."""

    def __init__(self, params: Params, experiment: str) -> None:
        self._rows: dict[Replica, list[Row]] = defaultdict(list)  # still to be written
        self._last: dict[Replica, Row] = {}
        self._run_of: dict[Replica, Run] = {}
        self._next = 0.0  # when to write again: at first at once, after a fault never
        self._params, self._experiment = params, experiment
        self._runs: Runs | None = None

    def take(self, rows: list[Row]) -> None:
        """Rows of a logging point, written with others where it is time.

        A shard that is tried again repeats its rows.
        """
        for row in rows:
            replica = Replica.of_row(row["mechanism"], row["setting"], row["seed"])
            if replica not in self._last or row["update"] > self._last[replica]["update"]:
                self._last[replica] = row
                self._rows[replica].append(row)
        if time.monotonic() >= self._next:
            self._next = math.inf
            with _at_worst_a_warning():
                self._write()
                self._next = time.monotonic() + SECONDS

    def end(self, status: str) -> None:
        """Write the rest and close all runs, as killed where the training was interrupted."""
        if self._next == math.inf:
            return
        with _at_worst_a_warning():
            self._write()
            if self._runs is None:
                return
            for replica, run in self._run_of.items():
                self._runs.end(run, self._last[replica], status)
            self._runs.client.set_terminated(self._runs.parent, status)

    def _write(self) -> None:
        if not (self._rows and DATABASE.exists()):
            return
        from pondering.track.runs import Runs, client, parameters

        if self._runs is None:
            self._runs = Runs(client(), self._params.profile, self._experiment)
            self._runs.client.update_run(self._runs.parent, "RUNNING")
        config = self._params.experiment(self._experiment)
        for replica, rows in self._rows.items():
            values = {}
            if replica not in self._run_of:
                self._run_of[replica] = self._runs.begin(replica)
                values = parameters(config.of_mechanism(replica.mechanism), replica)
            self._runs.log(self._run_of[replica], rows, values=values)
        self._rows.clear()


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
