"""A sweep cut into shards: some of its replicas each, with a checkpoint of their own.

A replica's batches depend on its seed alone and its gradient on itself alone, so shards train as
the whole sweep does: bit for bit on a CPU where batch and hidden size are multiples of `LANES`,
else up to rounding.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import multiprocessing
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from multiprocessing import connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch

from pondering.model.halting.readout import LossRefusedError
from pondering.model.paths import PathName
from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import Replica
from pondering.params.schema import ExperimentConfig, Params
from pondering.project import machine, provenance
from pondering.project.command import stage
from pondering.project.errors import Interrupted, UserError
from pondering.project.paths import Layout
from pondering.project.progress import duration, progress_bar
from pondering.tasks import make_task
from pondering.train import checkpoint, kernels
from pondering.train.build import make_trainer, path_of, pick_device
from pondering.train.replica import Finished, data_hash, store, write
from pondering.train.trainer import Row, Trainer

NAME = "checkpoint.safetensors"
FLOATS_KEPT = 14  # about so many numbers per hidden unit and ponder step are kept for the gradient
LANES = {"readable": 16, "compiled": 16, "fast": 32}  # floats that a path's functions take at once
COPIES = 6  # of the parameters: gradient, two moments of Adam, and temporary ones
AWAY = 16  # replicas at most in a shard for another machine, so that many machines get one
EVERY_STEP = 16  # and where every step is kept: 64 leave the cache and take 1.2 times as long
LIKELY_STEPS = 20  # ponder steps of an input vector; few reach a cap of 100
SHARE = 0.5  # of the free memory
OLD = 3  # checkpoints of earlier values or code that are kept
SECONDS_BETWEEN_LOOKS = 0.5

Tell = Callable[[int, list[Row], dict[str, float]], None]
"""Gets a shard's update, its new curve rows and its latest numbers."""


@dataclass(frozen=True)
class Shard:
    """Replicas of one mechanism that train as one stack.

    Args:
        params: the checked parameters; experiment, mechanism: names in them.
        root: the project's folder.
        replicas: which, by their hashes.
        origin: where their numbers will come from, for their records.
    """

    params: Params
    experiment: str
    mechanism: str
    root: Path
    replicas: Mapping[str, Replica]
    origin: Mapping[str, Any]

    @property
    def config(self) -> ExperimentConfig:
        """The experiment's values."""
        return self.params.experiment(self.experiment)

    @property
    def updates(self) -> int:
        """How many it takes."""
        return self.config.updates(self.mechanism)

    @cached_property
    def device(self) -> torch.device:
        """Where it trains."""
        return pick_device(self.params.device)

    @cached_property
    def path(self) -> PathName:
        """By which numerical path; on a GPU `compiled` stands for kernels."""
        if self.wants_kernels and self.without_kernels is None:
            return "compiled"
        return path_of(self.params.compute.path, self.config, self.mechanism, self.device)

    @property
    def wants_kernels(self) -> bool:
        """Whether it is to train by kernels where there are some."""
        return self.params.compute.path == "compiled" and self.device.type == "cuda"

    @cached_property
    def without_kernels(self) -> str | None:
        """Why there are no kernels for it; None: there are."""
        return kernels.missing(self.config, self.mechanism, self.device)

    @property
    def key(self) -> str:
        """What its checkpoint is of."""
        return json.dumps([self.device.type, self.path, *self.replicas])

    @property
    def folder(self) -> Path:
        """Where the checkpoints of its experiment lie, a folder each."""
        return Layout(self.root, self.params.profile).checkpoints(self.experiment)

    @property
    def checkpoint(self) -> Path:
        """Its checkpoint."""
        return self.folder / hashlib.sha256(self.key.encode()).hexdigest()[:16] / NAME

    def trainer(self) -> Trainer:
        """It, untrained.

        Raises:
            UserError: values that task, cell or mechanism refuse, or no frozen data.
        """
        frozen = Layout(self.root, self.params.profile).frozen(self.experiment)
        if not frozen.is_file():
            stage = f"datasets@{self.params.profile}-{self.experiment}"
            raise UserError(f"{frozen}: no such file; run `dvc repro {stage}` first")
        task = make_task(self.config.task, self.experiment, frozen)
        replicas = list(self.replicas.values())
        trainer = make_trainer(self.config, task, replicas, self.device, self.path)
        by_kernels = self.wants_kernels and self.path == "compiled"
        return kernels.by_kernels(trainer) if by_kernels else trainer

    def one(self) -> Trainer:
        """Its first replica alone, untrained."""
        return self.part([next(iter(self.replicas))]).trainer()

    def part(self, hashes: Iterable[str]) -> Shard:
        """Some of its replicas."""
        return replace(self, replicas={each: self.replicas[each] for each in hashes})


def origin_of(params: Params, experiment: str, root: Path) -> dict[str, Any]:
    """Where the numbers of a training that begins now come from."""
    device, config = pick_device(params.device), params.experiment(experiment)
    whole = provenance.record(
        root,
        None,
        data_hash(params, config),
        machine.name_of(device),
        torch.get_num_threads(),
        f"dvc repro train@{params.profile}-{experiment}",
    )
    return {name: each for name, each in whole.items() if name not in ("config", "params_hash")}


def cut(whole: Shard, missing: Sequence[str]) -> list[Shard]:
    """The shards of a mechanism; those that have begun go on as they were cut.

    Args:
        whole: all its replicas.
        missing: the hashes of those that are to be trained.
    """
    left, shards = dict.fromkeys(missing), list[Shard]()
    for path in sorted(whole.folder.glob(f"*/{NAME}")):
        hashes = checkpoint.replicas_of(path)
        taken = {each for shard in shards for each in shard.replicas}
        if left.keys() & hashes and whole.replicas.keys() >= hashes and not taken & hashes:
            begun = whole.part([each for each in whole.replicas if each in hashes])
            if begun.checkpoint == path:
                shards.append(begun)
                left = {each: None for each in left if each not in hashes}
    if not left:
        return shards
    rest = whole.part(list(left))
    number = -(-len(left) // _size(rest))
    sizes = [len(left) // number + (place < len(left) % number) for place in range(number)]
    bounds = itertools.pairwise([0, *itertools.accumulate(sizes)])
    return shards + [rest.part(list(left)[first:last]) for first, last in bounds]


def _size(whole: Shard) -> int:
    """How many replicas a shard has at most."""
    compute, count = whole.params.compute, len(whole.replicas)
    if compute.replicas_at_once != "auto":
        return compute.replicas_at_once
    size = fitting(whole.one(), whole.config.halting.max_steps)
    # As many shards as keep every process at work to the end, where a cut changes no digit.
    lanes, config, away = LANES[whole.path], whole.config, compute.executor == "ray"
    alike = config.training.batch % lanes == config.network.hidden % lanes == 0
    at_once = processes(whole) if alike and not away else 1
    size = min(size, AWAY) if away else max(1, size // at_once)
    if MECHANISMS[whole.mechanism].ways == ("every_step",) and whole.device.type == "cpu":
        size = min(size, EVERY_STEP)
    rounds = -(-count // (size * at_once))
    return size if away else -(-count // (rounds * at_once))


def processes(shard: Shard) -> int:
    """How many shards train at once on this machine; one on a GPU."""
    alone = shard.device.type == "cpu" and sys.platform == "linux"
    return machine.processes(shard.params.compute.threads) if alone else 1


def fitting(sweep: Trainer, steps: int) -> int:
    """How many replicas fit into the memory that is free, judged by a sweep of one.

    Args:
        sweep: untrained, one replica.
        steps: ponder steps that an input vector may take.
    """
    device = next(iter(sweep.parameters.values())).device
    numbers = sum(parameter.numel() for parameter in sweep.parameters.values())
    rows = sweep.stream.batch(0).mask.numel()
    hidden = sweep.network.cell.state_sizes[0]
    kept = FLOATS_KEPT * hidden * rows * min(steps, LIKELY_STEPS)
    if isinstance(sweep, kernels.KernelTrainer):
        kept = sweep.kept
    return max(1, int(SHARE * free_memory(device) / (4 * (COPIES * numbers + kept))))


def free_memory(device: torch.device) -> int:
    """Bytes that can be had; on a CPU with those that the system holds as a cache."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info()[0]
    information = Path("/proc/meminfo")
    if information.is_file():
        lines = dict(line.split(":") for line in information.read_text().splitlines())
        return int(lines["MemAvailable"].split()[0]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def refuse_hopeless(shards: Sequence[Shard]) -> None:
    """Refuse a `paper` run on a CPU, with its cost, unless the user insists.

    Raises:
        UserError: see above.
    """
    params, device = shards[0].params, shards[0].device
    insists = params.compute.insist or os.environ.get("PONDERING_INSIST") == "1"
    if params.profile != "paper" or device.type != "cpu" or insists:
        return
    left = sum(
        _seconds_of_two_updates(shard) * len(shard.replicas) * shard.updates / 2
        for shard in {shard.mechanism: shard for shard in shards}.values()
    )
    raise UserError(
        f"params.yaml: profile: paper needs a GPU: {shards[0].experiment} would take about "
        f"{duration(left)} on this CPU; use a GPU, choose reduced or quick, or insist with "
        "compute.insist: true or PONDERING_INSIST=1"
    )


def _seconds_of_two_updates(shard: Shard) -> float:
    """Measured with one replica: a whole sweep may not fit into this machine's memory."""
    trial = shard.one()
    start = time.monotonic()
    trial.run(lambda _: None, lambda: trial.update >= 2)
    return time.monotonic() - start


class News:
    """What shards tell while they train: to a bar or lines, and to a listener."""

    def __init__(self, shards: Sequence[Shard], listen: Callable[[list[Row]], None]) -> None:
        self._shards, self._listen = shards, listen
        self._updates: dict[int, int] = {}
        self._label = f"{shards[0].params.profile} {shards[0].experiment}"
        self.bar = progress_bar(self._label, sum(shard.updates for shard in shards))

    def tell(self, shard: int, update: int, rows: list[Row], numbers: dict[str, float]) -> None:
        """A shard has come to an update, with new curve rows and its latest numbers."""
        one = self._shards[shard]
        if shard not in self._updates and update:
            print(f"{self._label} {one.mechanism}: going on from update {update:,}", flush=True)
            self.bar.initial += update  # done before, so they say nothing of the pace
        self._updates[shard] = update
        self._listen([{"experiment": one.experiment} | row for row in rows])
        self.bar.set_postfix({k: f"{v:.3g}" for k, v in numbers.items()}, refresh=False)
        self.bar.update(sum(self._updates.values()) - self.bar.n)


def train(
    shard: Shard,
    tell: Tell,
    wants_end: Callable[[], bool] = lambda: False,
    saved: Callable[[Path], None] = lambda path: None,
) -> Trainer:
    """Train a shard to its end, from its last checkpoint if there is one.

    Args:
        tell: called at the start and at each logging point.
        wants_end: whether to stop at a checkpoint before another update.
        saved: called after each checkpoint.

    Raises:
        Interrupted: told to stop by a signal or by `wants_end`; the checkpoint is written.
        UserError: a damaged checkpoint; a mechanism that the task's loss does not fit.
        OSError: a checkpoint cannot be written; the last one is intact.
    """
    sweep, path = shard.trainer(), shard.checkpoint
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_file():
        checkpoint.load(sweep, path, shard.key)
    tell(sweep.update, sweep.rows(), sweep.summary())
    told, began = len(sweep.curves), time.monotonic()

    def on_point(sweep: Trainer) -> None:
        nonlocal told
        tell(sweep.update, sweep.rows(told), sweep.summary())
        told = len(sweep.curves)

    def should_stop() -> bool:
        if time.monotonic() - began > shard.params.compute.checkpoint_seconds:
            save()
        return stop.is_set or wants_end()

    def save() -> None:
        nonlocal began
        now = time.monotonic()
        sweep.seconds += now - began
        began = now
        checkpoint.save(sweep, path, shard.key)
        saved(path)

    if not sweep.finished:
        try:
            with stop_flag() as stop:
                sweep.run(on_point, should_stop)
                save()
        except LossRefusedError as error:
            raise UserError(f"{sweep.task.name}: {error}") from None
    if not sweep.finished:
        raise Interrupted(
            f"stopped at update {sweep.update:,} of {sweep.schedule.updates:,}; "
            "the same command goes on from there"
        )
    return sweep


def finish(shard: Shard, sweep: Trainer) -> None:
    """Write a file for each replica of a finished shard; its checkpoint is of no more use."""
    folder, curves = store(shard.root), torch.stack(sweep.curves).numpy()
    record = dict(shard.origin) | {"path": shard.path, "updates": sweep.update}
    record["wall_seconds"] = round(sweep.seconds / len(shard.replicas), 3)  # its share
    parameters = {name: each.detach().cpu().numpy() for name, each in sweep.parameters.items()}
    for k, (sha256, status) in enumerate(zip(shard.replicas, sweep.status(), strict=True)):
        own = {name: each[k].copy() for name, each in parameters.items()}
        curve = curves[:, k]
        curve = curve[curve[:, 0] == curve[:, 0]]  # one that stopped has no rows any more
        write(folder, sha256, Finished(own, curve, status, record))
    shutil.rmtree(shard.checkpoint.parent, ignore_errors=True)


def prune(folder: Path) -> None:
    """Keep the `OLD` newest checkpoints of other values or code."""
    others = sorted(folder.glob(f"*/{NAME}"), key=lambda path: path.stat().st_mtime)
    for path in others[:-OLD]:
        shutil.rmtree(path.parent)


def train_here(shards: Sequence[Shard], news: News) -> None:
    """Train every shard on this machine, as many at once as it has processes.

    Raises:
        Interrupted: told to stop; the checkpoints are written.
        SystemExit: a process has failed, with its status; it has said why.
    """
    at_once = min(len(shards), processes(shards[0]))
    for shard in {each.mechanism: each for each in shards}.values():
        if shard.wants_kernels and shard.without_kernels:
            said = f"{shard.experiment} {shard.mechanism}: {shard.without_kernels}"
            print(f"{said}; it trains by torch's own calls", flush=True)
    with news.bar:
        if at_once > 1:
            _in_processes(shards, at_once, news)
            return
        for number, shard in enumerate(shards):
            finish(shard, train(shard, functools.partial(news.tell, number)))


def _in_processes(shards: Sequence[Shard], at_once: int, news: News) -> None:
    """Train shards in processes forked from this one, each with a pipe to tell its news."""
    waiting = list(enumerate(shards))
    at_work: dict[Any, tuple[int, BaseProcess]] = {}
    with stop_flag() as stop:
        try:
            while (waiting or at_work) and not stop.is_set:
                while waiting and len(at_work) < at_once:
                    number, shard = waiting.pop(0)
                    pipe, process = _started(shard, stop)
                    at_work[pipe] = number, process
                for ready in connection.wait(list(at_work), SECONDS_BETWEEN_LOOKS):
                    if not _heard(ready, *at_work[ready], news):
                        del at_work[ready]
        finally:
            for _, process in at_work.values():
                process.terminate()
            for _, process in at_work.values():
                process.join()
    if stop.is_set:
        raise Interrupted("stopped; the same command goes on from the checkpoints")


def _started(shard: Shard, stop: Flag) -> tuple[Any, BaseProcess]:
    """A process that trains a shard, and its pipe.

    Forked, it has at once what takes others seconds to import.
    """
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(shard, theirs, os.getpid(), stop))
    process.start()
    theirs.close()
    return ours, process


def _heard(pipe: Any, shard: int, process: BaseProcess, news: News) -> bool:
    """Pass on what a process tells; False once it has ended.

    Raises:
        SystemExit: it has failed, with its status; it has said why.
    """
    try:
        news.tell(shard, *pipe.recv())
    except EOFError:
        process.join()
        if process.exitcode:
            raise SystemExit(abs(process.exitcode)) from None
        return False
    return True


def _work(shard: Shard, pipe: Any, parent: int, stop: Flag) -> None:
    """In a process of its own, which ends when its parent does.

    Args:
        stop: the parent's flag, which a signal sets here as long as the training has none yet.
    """

    def wants_end() -> bool:
        return stop.is_set or os.getppid() != parent

    def tell(*news: Any) -> None:
        if not wants_end():
            pipe.send(news)

    with stage():
        finish(shard, train(shard, tell, wants_end))


class Flag:
    """Set or not."""

    is_set = False


@contextmanager
def stop_flag() -> Iterator[Flag]:
    """A flag that Ctrl-C and termination set, instead of breaking an update in two."""
    flag = Flag()

    def raise_flag(*_: object) -> None:
        flag.is_set = True

    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, raise_flag) for number in signals]
    try:
        yield flag
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
