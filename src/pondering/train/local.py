"""Shards of a sweep on this machine: one after another here, or some at once in processes."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from typing import Any

from pondering.project.command import stage
from pondering.project.errors import Interrupted
from pondering.project.progress import ProgressBar
from pondering.train.plan import Plan
from pondering.train.shards import Flag, Shard, ShardResult, Watch, stop_flag, train
from pondering.train.trainer import Row, Trainer

Listener = Callable[[list[Row]], None]
SECONDS_BETWEEN_LOOKS = 0.5


def train_here(plan: Plan, shards: list[Shard], listen: Listener) -> list[ShardResult]:
    """Train every shard, as many at once as the plan has processes.

    Args:
        listen: gets the curve rows at each logging point.

    Raises:
        Interrupted: told to stop; the checkpoints are written.
        SystemExit: a process has failed, with its status; it has said why.
    """
    if plan.processes == 1 or len(shards) == 1:
        return [_train(plan, each, _Here(plan, each, listen)) for each in shards]
    _Processes(plan, shards, listen).run()
    return [plan.trained(shard) for shard in shards]


def _train(plan: Plan, shard: Shard, watch: Watch) -> ShardResult:
    sweep, every = plan.sweep(shard.first, shard.last), plan.params.compute.checkpoint_seconds
    return train(sweep, shard.path, plan.shard_key(shard), every, watch)


class _Here(Watch):
    """A shard that trains in this process: a bar or lines, and curve rows for a tracker."""

    def __init__(self, plan: Plan, shard: Shard, listen: Listener) -> None:
        whole = (shard.first, shard.last) == (0, len(plan.missing))
        part = "" if whole else f" {shard.first + 1}-{shard.last} of {len(plan.missing)}"
        self._label = plan.label + part
        self._tell: Listener = lambda rows: listen(plan.named(rows))
        self._bar: ProgressBar | None = None

    def start(self, sweep: Trainer) -> None:
        if sweep.curves:
            self._tell(sweep.rows())
        if sweep.finished:
            return
        if sweep.update:
            print(f"{self._label}: going on from update {sweep.update:,}", flush=True)
        self._bar = ProgressBar(self._label, sweep.schedule.updates, sweep.update)

    def point(self, sweep: Trainer, since: int) -> None:
        self._tell(sweep.rows(since))
        if self._bar:
            self._bar.show(sweep.update, sweep.summary())

    def update(self, sweep: Trainer) -> None:
        if self._bar:
            self._bar.tick(sweep.update)

    def end(self) -> None:
        if self._bar:
            self._bar.close()


class _Child(Watch):
    """A shard that trains in a process of its own, which ends when its parent does.

    Args:
        told: the parent's flag, which a signal sets here as long as the training has none yet.
    """

    def __init__(self, parent: int, pipe: Any, told: Flag) -> None:
        self._parent, self._pipe, self._told = parent, pipe, told

    def start(self, sweep: Trainer) -> None:
        self.point(sweep, 0)

    def point(self, sweep: Trainer, since: int) -> None:
        if not self.wants_end():
            self._pipe.send((sweep.update, sweep.rows(since), sweep.summary()))

    def wants_end(self) -> bool:
        return self._told.is_set or os.getppid() != self._parent


class _Processes:
    """Shards at work in processes forked from this one, each with a pipe to tell its news."""

    def __init__(self, plan: Plan, shards: list[Shard], listen: Listener) -> None:
        self._plan, self._listen = plan, listen
        self._waiting = list(shards)
        self._at_work: dict[Any, BaseProcess] = {}
        self._updates: dict[Any, int] = {}
        self._bar = ProgressBar(plan.label, len(shards) * plan.config.updates(plan.mechanism))

    def run(self) -> None:
        """Train all, or until told to stop.

        Raises:
            Interrupted, SystemExit: see `train_here`.
        """
        with stop_flag() as stop, self._bar:
            try:
                while (self._waiting or self._at_work) and not stop.is_set:
                    while self._waiting and len(self._at_work) < self._plan.processes:
                        self._start(self._waiting.pop(0), stop)
                    for pipe in connection.wait(list(self._at_work), SECONDS_BETWEEN_LOOKS):
                        self._hear(pipe)
            finally:
                for process in self._at_work.values():
                    process.terminate()
                for process in self._at_work.values():
                    process.join()
        if stop.is_set:
            raise Interrupted("stopped; the same command goes on from the checkpoints")

    def _start(self, shard: Shard, stop: Flag) -> None:
        # Forked, it has at once what takes others seconds to import.
        context = multiprocessing.get_context("fork")
        ours, theirs = context.Pipe(duplex=False)
        child = _Child(os.getpid(), theirs, stop)
        process = context.Process(target=_work, args=(self._plan, shard, child))
        process.start()
        theirs.close()
        self._at_work[ours] = process

    def _hear(self, pipe: Any) -> None:
        try:
            update, rows, numbers = pipe.recv()
        except EOFError:  # it has ended
            process = self._at_work.pop(pipe)
            process.join()
            if process.exitcode:
                raise SystemExit(abs(process.exitcode)) from None
            return
        if pipe not in self._updates:
            self._bar.resumed(update)
        self._updates[pipe] = update
        self._listen(self._plan.named(rows))
        self._bar.show(sum(self._updates.values()), numbers)


def _work(plan: Plan, shard: Shard, watch: Watch) -> None:
    with stage():
        _train(plan, shard, watch)
