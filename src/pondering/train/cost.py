"""What it costs to train the shards of an experiment on the device at hand."""

from __future__ import annotations

import time
from collections.abc import Sequence

from pondering.train.cut import processes
from pondering.train.shard import Shard
from pondering.train.trainer import Trainer

UPDATES = {"cpu": 2, "cuda": 200}  # that are timed, after the first, which compiles


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
            timed = timed.part([next(iter(timed.replicas))])
        replicas = sum(len(shard.replicas) for shard in several) / len(timed.replicas)
        each = _of_update(timed.trainer(), UPDATES[timed.device.type])
        found += each * timed.updates * replicas
    return found / min(len(shards), processes(shards[0]))


def _of_update(trainer: Trainer, updates: int) -> float:
    """Seconds of an update, a mean of some."""
    trainer.run(lambda _: None, lambda: trainer.update > 0)
    first, start = trainer.update, time.monotonic()
    trainer.run(lambda _: None, lambda: trainer.update >= first + updates)
    return (time.monotonic() - start) / max(1, trainer.update - first)
