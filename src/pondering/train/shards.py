"""A sweep cut into shards: some of its replicas each, with a checkpoint of their own.

A replica's batches depend on its seed alone and its gradient on itself alone, so shards train as
the whole sweep does: bit for bit on a CPU where batch and hidden size are multiples of `LANES`,
else up to rounding.
"""

from __future__ import annotations

import itertools
import os
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from pondering.model.halting.readout import LossRefusedError
from pondering.params.replica import Replica
from pondering.project.errors import Interrupted, UserError
from pondering.train import checkpoint
from pondering.train.trainer import Row, Trainer

NAME = "checkpoint.safetensors"
FLOATS_KEPT = 14  # about so many numbers per hidden unit and ponder step are kept for the gradient
LANES = {"readable": 16, "compiled": 16, "fast": 32}  # floats that a path's functions take at once
COPIES = 6  # of the parameters: gradient, two moments of Adam, and temporary ones
AWAY = 16  # replicas at most in a shard for another machine, so that many machines get one
EVERY_STEP = 16  # and where every step is kept: 64 leave the cache and take 1.2 times as long
LIKELY_STEPS = 20  # ponder steps of an input vector; few reach a cap of 100
SHARE = 0.5  # of the free memory


class Shard(NamedTuple):
    """Replicas `first` to `last - 1` of a sweep, and where their checkpoint lies."""

    first: int
    last: int
    path: Path


class ShardResult(NamedTuple):
    """What trained replicas leave for the tables."""

    parameters: Mapping[str, Tensor]  # (K, ...) each
    rows: list[Row]
    status: list[str]
    update: int
    seconds: float


class Watch:
    """Callbacks during training. This base class ignores them."""

    def start(self, sweep: Trainer) -> None:
        """Before the first update, after a checkpoint was read."""

    def point(self, sweep: Trainer, since: int) -> None:
        """There are logging points from number `since` on."""

    def update(self, sweep: Trainer) -> None:
        """Another update follows."""

    def wants_end(self) -> bool:
        """Whether to stop at a checkpoint before another update."""
        return False

    def saved(self, path: Path) -> None:
        """A checkpoint was written."""

    def end(self) -> None:
        """The training has ended, or was stopped."""


def cut(count: int, size: int, folder: Path) -> list[Shard]:
    """The fewest shards of at most `size` of `count` replicas, as equal as can be.

    A single one has its checkpoint in `folder` itself.
    """
    number = -(-count // size)
    if number == 1:
        return [Shard(0, count, folder / NAME)]
    sizes = [count // number + (place < count % number) for place in range(number)]
    pairs = itertools.pairwise([0, *itertools.accumulate(sizes)])
    return [Shard(a, b, folder / f"replicas-{a:04d}-{b - 1:04d}" / NAME) for a, b in pairs]


def size_begun(folder: Path) -> int | None:
    """The size of the shards that have begun in a run's folder; 0 for a whole sweep, None if none.

    Memory is not always as free as it was: a run goes on as it was cut.
    """
    if (folder / NAME).is_file():
        return 0
    bounds = [path.name.split("-")[1:] for path in folder.glob("replicas-*-*")]
    return max((int(b) - int(a) + 1 for a, b in bounds), default=None)


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


def train(sweep: Trainer, path: Path, key: str, every: float, watch: Watch) -> ShardResult:
    """Train an untrained sweep to its end, from its last checkpoint if there is one.

    Args:
        path: where the checkpoint lies, in a folder that is there.
        key: hash of all that decides the result.
        every: seconds between checkpoints, at most.

    Raises:
        Interrupted: told to stop by a signal or by `watch`; the checkpoint is written.
        UserError: a damaged checkpoint; a mechanism that the task's loss does not fit.
        OSError: a checkpoint cannot be written; the last one is intact.
    """
    if path.is_file():
        checkpoint.load(sweep, path, key)
    watch.start(sweep)
    told, began = len(sweep.curves), time.monotonic()

    def on_point(sweep: Trainer) -> None:
        nonlocal told
        watch.point(sweep, told)
        told = len(sweep.curves)

    def should_stop() -> bool:
        watch.update(sweep)
        if time.monotonic() - began > every:
            save()
        return stop.is_set or watch.wants_end()

    def save() -> None:
        nonlocal began
        now = time.monotonic()
        sweep.seconds += now - began
        began = now
        checkpoint.save(sweep, path, key)
        watch.saved(path)

    try:
        if not sweep.finished:
            with stop_flag() as stop:
                sweep.run(on_point, should_stop)
                save()
    except LossRefusedError as error:
        raise UserError(f"{sweep.task.name}: {error}") from None
    finally:
        watch.end()
    if not sweep.finished:
        raise Interrupted(
            f"stopped at update {sweep.update:,} of {sweep.schedule.updates:,}; "
            "the same command goes on from there"
        )
    return outcome(sweep)


def outcome(sweep: Trainer) -> ShardResult:
    """What a finished sweep leaves."""
    return ShardResult(sweep.parameters, sweep.rows(), sweep.status(), sweep.update, sweep.seconds)


def gathered(outcomes: Sequence[ShardResult], replicas: Sequence[Replica]) -> ShardResult:
    """Shards in their order as one; curve rows in the order in which a whole sweep has them."""
    place = {tuple(each.row().values()): number for number, each in enumerate(replicas)}
    rows = [row for each in outcomes for row in each.rows]
    rows.sort(key=lambda row: (row["update"], place[row["mechanism"], row["setting"], row["seed"]]))
    names = outcomes[0].parameters
    return ShardResult(
        {name: torch.cat([each.parameters[name].detach().cpu() for each in outcomes])
         for name in names},
        rows,
        [status for each in outcomes for status in each.status],
        max(each.update for each in outcomes),
        sum(each.seconds for each in outcomes),
    )  # fmt: skip


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
