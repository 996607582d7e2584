"""How the sweeps of an experiment are cut into shards that keep every core at work; their time."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Collection, Sequence

import numpy as np
import psutil
import torch

from pondering.project import machine
from pondering.train import checkpoint
from pondering.train.kernels import KernelTrainer
from pondering.train.path import LANES
from pondering.train.shard import NAME, Shard
from pondering.train.trainer import Trainer

FLOATS_KEPT = 14  # about so many numbers per hidden unit and ponder step are kept for the gradient
COPIES = 6  # of the parameters: gradient, two moments of Adam, and temporary ones
AWAY = {"cpu": 16, "cuda": 128}  # replicas at most in a shard for another machine: many get one
EVERY_STEP = 16  # and where every step is kept: 64 leave the cache and take 1.2 times as long
LIKELY_STEPS = 20  # ponder steps of an input vector; few reach a cap of 100
SHARE = 0.5  # of the free memory
TIMED = {"cpu": 2, "cuda": 200}  # updates, after the first, which compiles


def cut(sweeps: Sequence[Shard], missing: Collection[str]) -> list[Shard]:
    """The shards that train what is missing, those with most work first.

    Shards that have begun go on as they were cut. Of the others a sweep stays whole unless it has
    more work than a core's share of all: a small one costs nearly as much as a part of it.

    Args:
        sweeps: all replicas of each mechanism.
        missing: the hashes of those that are to be trained.
    """
    shards, rest = list[Shard](), list[Shard]()
    for sweep in sweeps:
        begun = _begun(sweep, missing)
        taken = {each for shard in begun for each in shard.replicas}
        left = [each for each in sweep.replicas if each in missing and each not in taken]
        shards += begun
        rest += [sweep.part(left)] if left else []
    total = sum(map(_work, rest))
    for sweep in rest:
        number = math.ceil(len(sweep.replicas) / _size(sweep, _work(sweep) / total))
        shards += [sweep.part(part.tolist()) for part in np.array_split([*sweep.replicas], number)]
    return sorted(shards, key=_work, reverse=True)


def _begun(sweep: Shard, missing: Collection[str]) -> list[Shard]:
    """The shards of a sweep that have a checkpoint, if all their replicas are wanted."""
    found, taken = list[Shard](), set[str]()
    for path in sorted(sweep.params.layout.checkpoints(sweep.experiment).glob(f"*/{NAME}")):
        hashes = checkpoint.replicas_of(path)
        if hashes & {*missing} and sweep.replicas.keys() >= hashes and not taken & hashes:
            begun = sweep.part([each for each in sweep.replicas if each in hashes])
            if begun.checkpoint == path:
                found.append(begun)
                taken |= hashes
    return found


def _work(shard: Shard) -> float:
    """A guess of its work beside that of the experiment's other shards: updates times steps."""
    if shard.mechanism == "repeat":
        return shard.updates * sum(each.setting for each in shard.replicas.values())
    most = shard.config.mechanism(shard.mechanism).arguments.get("max_steps")
    steps = min(most or shard.config.halting.max_steps, LIKELY_STEPS)
    return shard.updates * steps * len(shard.replicas)


def _size(sweep: Shard, share: float) -> int:
    """How many replicas a shard has at most of a sweep that has this share of all work."""
    compute = sweep.params.compute
    if compute.replicas_at_once != "auto":
        return compute.replicas_at_once
    config, lanes, size = sweep.config, LANES[sweep.path], fitting(sweep)
    if compute.executor == "ray":
        return min(size, AWAY[sweep.device.type])
    at_once = processes(sweep)
    size //= at_once
    if config.training.batch % lanes == config.network.hidden % lanes == 0:  # a cut changes no bit
        size = min(size, math.ceil(len(sweep.replicas) / math.ceil(at_once * share)))
    if sweep.mechanism == "pondernet" and sweep.device.type == "cpu":
        size = min(size, EVERY_STEP)
    return max(1, size)


def processes(shard: Shard) -> int:
    """How many shards train at once on this machine; one on a GPU."""
    alone = shard.device.type == "cpu" and sys.platform == "linux"
    return machine.processes(shard.params.compute.threads) if alone else 1


def fitting(sweep: Shard) -> int:
    """How many of its replicas fit into the memory that is free, judged by one."""
    one = _first(sweep).trainer()
    numbers = sum(parameter.numel() for parameter in one.parameters.values())
    if isinstance(one, KernelTrainer):
        kept = one.kept
    else:
        steps, rows = sweep.config.halting.max_steps, one.stream.batch(0).mask.numel()
        hidden = one.network.cell.state_sizes[0]
        kept = FLOATS_KEPT * hidden * rows * min(steps, LIKELY_STEPS)
    on_gpu = sweep.device.type == "cuda"
    free = torch.cuda.mem_get_info()[0] if on_gpu else psutil.virtual_memory().available
    return max(1, int(SHARE * free / (4 * (COPIES * numbers + kept))))


def seconds(shards: Sequence[Shard]) -> float:
    """How long the shards would train, judged by a few updates of one of each mechanism.

    On a GPU that shard is timed whole, since its replicas share the time. On a CPU one replica is:
    a shard at the papers' sizes may take minutes an update.
    """
    found = 0.0
    for mechanism in dict.fromkeys(shard.mechanism for shard in shards):
        several = [shard for shard in shards if shard.mechanism == mechanism]
        timed = several[0]
        if timed.device.type == "cpu":
            timed = _first(timed)
        replicas = sum(len(shard.replicas) for shard in several) / len(timed.replicas)
        each = _of_update(timed.trainer(), TIMED[timed.device.type])
        found += each * timed.updates * replicas
    return found / min(len(shards), processes(shards[0]))


def _first(shard: Shard) -> Shard:
    """Its first replica alone."""
    return shard.part([next(iter(shard.replicas))])


def _of_update(trainer: Trainer, updates: int) -> float:
    """Seconds of an update, a mean of some."""
    trainer.run(lambda: trainer.update > 0)
    first, start = trainer.update, time.monotonic()
    trainer.run(lambda: trainer.update >= first + updates)
    return (time.monotonic() - start) / max(1, trainer.update - first)
