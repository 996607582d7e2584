"""Shards that train side by side on this machine, in processes forked from this one."""

from __future__ import annotations

import ctypes
import functools
import multiprocessing
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from typing import Any

from tqdm import tqdm

from pondering.project.command import stage
from pondering.project.errors import Interrupted
from pondering.train.cut import processes
from pondering.train.shard import SIGNALS, Shard, finish, stop_signals, train
from pondering.train.trainer import Row

LINE = "{desc}: {n_fmt} of {total_fmt} updates, {remaining} left{postfix}\n"
SECONDS_BETWEEN_LOOKS = 0.5
END_WITH_PARENT = 1  # of prctl(2): the signal that a process gets when its parent ends


class News:
    """What shards tell while they train: to a listener, and to a bar on a terminal.

    Elsewhere the bar is a line every half minute.

    First of all, why some of them have no kernels on a GPU.
    """

    def __init__(self, shards: Sequence[Shard], listen: Callable[[list[Row]], None]) -> None:
        self._shards, self._listen = shards, listen
        self._updates: dict[int, int] = {}
        self._at_pace = set[int]()  # shards that are beyond their first block
        self._label = f"{shards[0].params.profile} {shards[0].experiment}"
        for shard in {each.mechanism: each for each in shards}.values():
            if shard.without_kernels:
                said = f"{shard.experiment} {shard.mechanism}: {shard.without_kernels}"
                print(f"{said}; it trains by torch's own calls", flush=True)
        terminal = sys.stderr.isatty()
        self.bar = tqdm(
            total=sum(shard.updates for shard in shards),
            desc=self._label,
            unit=" updates",
            leave=not terminal,
            file=sys.stderr if terminal else sys.stdout,
            mininterval=1 if terminal else 30,
            miniters=1,
            delay=1,
            bar_format=None if terminal else LINE,
        )

    def tell(self, shard: int, update: int, rows: list[Row], numbers: dict[str, float]) -> None:
        """A shard has come to an update, with new curve rows and its latest numbers.

        Its first news is where it starts, its second the end of its first block.
        """
        one, before = self._shards[shard], self._updates.get(shard)
        done = update - (before or 0)
        if before is None and update:
            print(f"{self._label} {one.mechanism}: going on from update {update:,}", flush=True)
        self._updates[shard] = update
        self._listen([{"experiment": one.experiment} | row for row in rows])
        self.bar.set_postfix({k: f"{v:.3g}" for k, v in numbers.items()}, refresh=False)
        if shard in self._at_pace:
            self.bar.update(done)
            return
        # Done before, or while loops were compiled: they say nothing of the pace.
        self.bar.n += done
        self.bar.initial += done
        self.bar.last_print_n += done
        if before is not None:
            if not self._at_pace:
                self.bar.unpause()  # the clock starts at the end of the first block of all
            self._at_pace.add(shard)


def train_here(shards: Sequence[Shard], news: News) -> None:
    """Train every shard on this machine, as many at once as it has processes.

    Raises:
        Interrupted: told to stop; the checkpoints are written.
        SystemExit: a process has failed, with its status; it has said why.
    """
    at_once = min(len(shards), processes(shards[0]))
    with news.bar:
        if at_once > 1:
            _side_by_side(shards, at_once, news)
        else:
            for number, shard in enumerate(shards):
                finish(shard, train(shard, functools.partial(news.tell, number)))


def _side_by_side(shards: Sequence[Shard], at_once: int, news: News) -> None:
    """Train each shard in a process of its own, with a pipe for its news.

    A forked process has at once what takes others seconds to import.
    """
    context = multiprocessing.get_context("fork")
    waiting = list(enumerate(shards))
    at_work: dict[Any, BaseProcess] = {}
    with stop_signals():
        try:
            while (waiting or at_work) and not SIGNALS:
                while waiting and len(at_work) < at_once:
                    ours, theirs = context.Pipe(duplex=False)
                    work = (*waiting.pop(0), theirs)
                    at_work[ours] = context.Process(target=_work, args=work)
                    at_work[ours].start()
                    theirs.close()
                ready: list[Any] = connection.wait(list(at_work), SECONDS_BETWEEN_LOOKS)
                for pipe in ready:
                    try:
                        news.tell(*pipe.recv())
                    except EOFError:  # its process has ended
                        process = at_work.pop(pipe)
                        process.join()
                        if process.exitcode:
                            raise SystemExit(abs(process.exitcode)) from None
        finally:
            for process in at_work.values():
                process.terminate()
            for process in at_work.values():
                process.join()
        if SIGNALS:
            raise Interrupted("stopped; the same command goes on from the checkpoints")


def _work(number: int, shard: Shard, pipe: Any) -> None:
    """In a process of its own, which is told to stop when its parent ends, however it ends."""
    ctypes.CDLL(None).prctl(END_WITH_PARENT, signal.SIGTERM)

    def tell(*news: Any) -> None:
        with suppress(BrokenPipeError):  # the parent has ended
            pipe.send((number, *news))

    with stage():
        finish(shard, train(shard, tell))
