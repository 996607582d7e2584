"""Shards that train side by side on this machine, in processes forked from this one."""

from __future__ import annotations

import ctypes
import functools
import multiprocessing
import signal
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from typing import Any

from pondering.project.command import stage
from pondering.project.errors import Interrupted
from pondering.train.cut import processes
from pondering.train.news import News
from pondering.train.shard import SIGNALS, Shard, finish, stop_signals, train

SECONDS_BETWEEN_LOOKS = 0.5
END_WITH_PARENT = 1  # of prctl(2): the signal that a process gets when its parent ends


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
