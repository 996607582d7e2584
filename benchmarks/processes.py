"""Work in processes of their own: one, or as many at the same time as there are cores."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from threading import Barrier
from typing import Any

from cases import Row

CONTEXT = multiprocessing.get_context("fork")


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def alone(function: Callable[..., Row], *arguments: Any) -> Row:
    """Call in a process of its own, whose peak memory is the call's; this one stays idle."""
    return together(lambda number, gate: function(*arguments), 1)[0]


def together(function: Callable[..., Row], count: int, *arguments: Any) -> list[Row]:
    """Call in `count` processes at the same time.

    Args:
        function: is told its number, 0, 1, ..., and a barrier of all processes, where they wait
            for each other; then the arguments.

    Returns:
        what each has returned, in their order. A process that dies has a `note`, and breaks the
        barrier, so that the others do not wait for it.
    """
    gate = CONTEXT.Barrier(count)
    processes, answers = {}, {}
    for number in range(count):
        mine, theirs = CONTEXT.Pipe(duplex=False)
        job = theirs, function, number, gate, arguments
        process = CONTEXT.Process(target=_answer, args=job)
        process.start()
        theirs.close()
        processes[mine] = number, process
    waiting = dict(processes)
    while waiting:
        for ready in wait(list(waiting)):
            assert isinstance(ready, Connection)
            number, process = waiting.pop(ready)
            try:
                answers[number] = ready.recv()
            except EOFError:
                gate.abort()
                process.join()
                status = process.exitcode
                answers[number] = {"note": f"the process ended with status {status}"}
    for _, process in processes.values():
        process.join()
    return [answers[number] for number in range(count)]


def _answer(
    pipe: Connection,
    function: Callable[..., Row],
    number: int,
    gate: Barrier,
    arguments: tuple[Any, ...],
) -> None:
    pipe.send(function(number, gate, *arguments))
