"""Where the time of an update goes: its functions with a clock around each of them."""

from __future__ import annotations

import contextlib
import functools
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from threading import Barrier
from typing import Any
from unittest.mock import patch

import torch
from cases import Case, Row
from measure import Bench, Effort
from subjects import HaltingUnit

from pondering.model import paths
from pondering.model.network import Network
from pondering.model.paths.fast import every_step, sequence
from pondering.params.read import ExperimentConfig
from pondering.project.machine import settle
from pondering.train import trainer
from pondering.train.adam import StackedAdam
from pondering.train.batches import Stream

PARTS = (
    "drawing", "embedding", "loops forward", "heads, loss", "loops backward", "rest of backward",
    "norms, clipping", "Adam", "logging",
)  # fmt: skip
REST = "rest"  # the loop's own lines: whether a replica has diverged, and the like


class Clock:
    """Seconds by part; while one part calls another, the time is the other's."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._open = [REST]
        self._since = time.perf_counter()

    def _turn_to(self, parts: list[str]) -> None:
        now = time.perf_counter()
        self.seconds[self._open[-1]] += now - self._since
        self._open, self._since = parts, now

    def around(self, part: str, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, timed."""

        @functools.wraps(function)
        def timed(*arguments: Any, **named: Any) -> Any:
            before = self._open
            self._turn_to([*before, part])
            try:
                return function(*arguments, **named)
            finally:
                self._turn_to(before)

        return timed

    def restart(self) -> None:
        """Forget what has been timed so far."""
        self.seconds.clear()
        self._since = time.perf_counter()

    def stop(self) -> None:
        """Close the last span."""
        self._turn_to(self._open)


def places() -> list[tuple[str, Any, str]]:
    """Part, owner and name of every function with a clock."""
    from pondering.model.paths.compiled import operations  # Numba takes a second to load

    gradients = (operations._Ponder, operations._Unroll, sequence._Ponder, every_step._Unroll)
    return [
        ("drawing", Stream, "batch"),
        ("embedding", Network, "_embed"),
        ("loops forward", paths, "sequence"),
        ("loops forward", paths, "ponder"),
        ("heads, loss", trainer, "forward"),
        *(("loops backward", each, "backward") for each in (*gradients, every_step._Mean)),
        ("rest of backward", torch.autograd, "backward"),
        ("norms, clipping", trainer, "gradient_norms"),
        ("norms, clipping", StackedAdam, "clip"),
        ("Adam", StackedAdam, "step"),
        ("Adam", StackedAdam, "zero_grad"),
        ("logging", trainer.Trainer, "_accumulate"),
    ]


@contextlib.contextmanager
def clocked() -> Iterator[Clock]:
    """Every part with a clock around it."""
    clock = Clock()
    with contextlib.ExitStack() as patches:
        for part, owner, name in places():
            timed: Any = clock.around(part, getattr(owner, name))
            if isinstance(vars(owner)[name], staticmethod):
                timed = staticmethod(timed)
            patches.enter_context(patch.object(owner, name, timed))
        yield clock


def timed_parts(
    case: Case, config: ExperimentConfig, unit: HaltingUnit | None, effort: Effort
) -> Row:
    """Milliseconds of an update by part, in one process of one thread.

    The drawing of a block of batches is measured apart, and each update has its share of it.
    """
    settle(1)
    bench = Bench(case, config, unit, torch.device("cpu"), effort, 0, Barrier(1))
    drawing = bench.drawing(bench.sweep.stream)
    with clocked() as clock:
        bench.run_sweep()
        clock.restart()
        start, cycles = time.perf_counter(), 0
        while not cycles or time.perf_counter() - start < 4 * effort.window:
            bench.run_sweep()
            cycles += 1
        clock.stop()
    updates = cycles * bench.count
    found = {part: 1000 * clock.seconds[part] / updates for part in (*PARTS, REST)}
    found["drawing"] += 1000 * drawing
    return {"ms": found, "share": 1 - found[REST] / sum(found.values())}


def largest(row: Row) -> str:
    """The part that takes longest, in words."""
    part = max(row["ms"], key=row["ms"].get)
    return f"{part}, {100 * row['ms'][part] / sum(row['ms'].values()):.0f}%"
