"""`pondering repro` runs what `dvc repro` would run, several stages at once.

DVC says whether a stage is out of date and records what it wrote, as in `dvc repro`. The stages'
commands run in processes forked from one that has imported what they need: each stage starts at
once and is a process of its own, with its own memory, random numbers and end. The results are the
same, bit for bit, with any number of processes.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import runpy
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import connection, forkserver, resource_tracker
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pondering.cli.check import check
from pondering.params.read import load_params
from pondering.params.schema import Params
from pondering.project.command import stage
from pondering.project.errors import Interrupted
from pondering.project.progress import duration

if TYPE_CHECKING:  # DVC takes seconds to import
    from pondering.cli.pipeline import Pipeline

SECONDS_BETWEEN_LOOKS = 0.1
SERVER = multiprocessing.get_context("forkserver")
ENDS = (signal.SIGINT, signal.SIGTERM)  # what a terminal or a shell sends to end all processes
ROOMS = ["cli.keys", "data.fetch", "data.frozen", "evaluate.exits"]
ROOMS += ["evaluate.stage", "report.pages", "track", "train.stage"]
ROOMS += ["model.paths.compiled.operations", "model.paths.compiled.warm"]
PRELOADED = ["torch", "pandas", *(f"pondering.{room}" for room in ROOMS), "pondering.cli.settled"]


@click.command()
@click.pass_context
def repro(ctx: click.Context) -> None:
    """Run what changed (as `dvc repro`), with every core at work.

    What it started stops at a checkpoint when it ends, killed or not.
    """
    from pondering.cli import pipeline

    params = load_params()
    with pipeline.led(Path()) as stages:
        if not any(stages.changed(name) for name in stages.needs):
            click.echo("repro: everything is up to date")
            return
        SERVER.set_forkserver_preload(PRELOADED)
        _start_server()
        ctx.invoke(check)
        processes = _processes(params)
        click.echo(f"repro: running what changed, processes: {processes}")
        told: list[int] = []  # numbers of signals, which would else break a record in two
        with _handled(lambda number, _: told.append(number)):
            _Run(stages, processes, told).run()


def _start_server() -> None:
    """Start what stages are forked from, in which signals wait: Ctrl-C is left to this process.

    Ignored, the one that ends a stage which has only begun would be lost.
    """
    resource_tracker.ensure_running()  # first: it ends by letting these signals through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDS)
    try:
        forkserver.ensure_running()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _processes(params: Params) -> int:
    """How many stages run at once: one where a GPU or a cluster trains, else one for each core."""
    from pondering.project import machine
    from pondering.train.build import pick_device

    if pick_device(params.device).type != "cpu" or params.compute.executor == "ray":
        return 1
    return machine.processes(params.compute.threads)


class _Run:
    """Stages at work, and those that wait for them.

    Args:
        stages: all of them.
        processes: how many run at once.
        told: the numbers of the signals that told this process to end.
    """

    def __init__(self, stages: Pipeline, processes: int, told: list[int]) -> None:
        self._stages, self._processes, self._told = stages, processes, told
        self._waiting, self._all = list(stages.needs), len(stages.needs)
        self._done: set[str] = set()
        self._running: dict[str, tuple[BaseProcess, float]] = {}

    def run(self) -> None:
        """Run every stage that is out of date when its turn comes.

        Raises:
            Interrupted: after Ctrl-C, when the stages at work have ended.
            SystemExit: after SIGTERM likewise, or with the status of a stage that failed.
        """
        try:
            while not self._told and (self._waiting or self._running):
                while len(self._running) < self._processes and (name := self._next()):
                    self._start(name)
                at_work = [process.sentinel for process, _ in self._running.values()]
                connection.wait(at_work, SECONDS_BETWEEN_LOOKS)
                if not self._told:
                    self._collect()
        finally:
            self._end()
        if self._told:
            line = "stopped; `make repro` goes on from there"
            if self._told[0] == signal.SIGINT:
                raise Interrupted(line)
            click.echo(line, err=True)
            sys.exit(128 + self._told[0])

    def _next(self) -> str | None:
        """A stage that is out of date and waits for nothing, if there is one."""
        while ready := [name for name in self._waiting if self._stages.needs[name] <= self._done]:
            chosen: str = min(ready, key=self._turn)
            self._waiting.remove(chosen)
            if self._stages.changed(chosen):
                return chosen
            self._done.add(chosen)
        return None

    def _turn(self, name: str) -> tuple[bool, bool, int]:
        """What comes first: what is no training; of trainings, in dvc.yaml short ones come first.

        Trainings of one mechanism share loops, which the first one compiles. The second would
        compile them too if it began meanwhile, so one of another mechanism comes before it.
        """
        mechanism = name.rpartition("-")[2]
        shared = any(other.rpartition("-")[2] == mechanism for other in self._running)
        training = name.startswith("train@")
        return training, shared, -self._waiting.index(name) if training else 0

    def _start(self, name: str) -> None:
        if name.startswith("train@"):
            click.echo(f"repro: {name} begins")
        arguments = self._stages.command(name), dict(os.environ), self._processes == 1
        process = SERVER.Process(target=_work, args=arguments)
        process.start()
        self._running[name] = process, time.monotonic()

    def _collect(self) -> None:
        """Take in what has ended."""
        for name, (process, began) in list(self._running.items()):
            if process.is_alive():
                continue
            del self._running[name]
            if status := process.exitcode:
                how = f"with status {status}" if status > 0 else f"by signal {-status}"
                click.echo(f"repro: {name} ended {how}; `make repro` starts there again", err=True)
                sys.exit(status if status > 0 else 128 - status)
            self._stages.written(name)
            self._done.add(name)
            seconds = duration(time.monotonic() - began)
            click.echo(f"repro: {len(self._done)} of {self._all}, {name}, {seconds}")

    def _end(self) -> None:
        """Tell whatever is still at work to end, and wait for it; some may end well."""
        for process, _ in self._running.values():
            process.terminate()
        for name, (process, _) in self._running.items():
            process.join()
            if process.exitcode == 0:
                self._stages.written(name)


@contextmanager
def _handled(handler: Callable[[int, Any], object]) -> Iterator[None]:
    """Handle in another way what ends a process."""
    before = [signal.signal(number, handler) for number in ENDS]
    try:
        yield
    finally:
        for number, each in zip(ENDS, before, strict=True):
            signal.signal(number, each)


def _work(command: str, environment: dict[str, str], alone: bool) -> None:
    """Take the place of a stage's command, in a process of its own."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with stage():
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})  # which may wait already
        os.environ.update(environment)  # and `python` is the one that runs this
        os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        *before, last = command.splitlines()
        words = shlex.split(last)
        if words[0] != "python" or shlex.join(words) != last:
            os.execv("/bin/sh", ["sh", "-ec", command])
        if before and (status := subprocess.call(["/bin/sh", "-ec", "\n".join(before)])):
            sys.exit(status)
        if not alone:
            sys.stderr = _Shared(sys.stderr.buffer, line_buffering=True)
        sys.argv = words[1:]
        runpy.run_path(words[1], run_name="__main__")


class _Shared(io.TextIOWrapper):
    """A stream that others write to as well, so that bars on it would hide each other."""

    def isatty(self) -> bool:
        return False
