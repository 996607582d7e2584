"""A shard: replicas of one mechanism that train as one stack, with a checkpoint of their own.

A replica's batches depend on its seed alone and its gradient on itself alone. So shards train as
the whole sweep does. On a CPU the bits are equal where `path.LANES` divides batch and hidden size;
elsewhere numbers agree to rounding.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import signal
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import torch

from pondering.model.halting.readout import LossRefusedError
from pondering.model.paths import PathName
from pondering.params.schema import ExperimentConfig, Params
from pondering.project.errors import Interrupted, UserError
from pondering.tasks import make_task
from pondering.train import checkpoint, kernels
from pondering.train.build import make_trainer
from pondering.train.draws.stream import DeviceStream
from pondering.train.path import path_of
from pondering.train.replica import ByHash, Finished, file_of, write
from pondering.train.trainer import Row, Trainer

NAME = "checkpoint.safetensors"

Tell = Callable[[int, list[Row]], None]
"""Gets a shard's update and its new curve rows."""


@dataclass(frozen=True)
class Shard:
    """Replicas of one mechanism that train as one stack.

    Args:
        params: the checked parameters; experiment: a name in them.
        replicas: which, by their hashes.
        device: where they train.
        origin: where their numbers will come from, for their records.
    """

    params: Params
    experiment: str
    replicas: ByHash
    device: torch.device
    origin: Mapping[str, Any] = field(default_factory=dict)

    @property
    def mechanism(self) -> str:
        """That of its replicas."""
        return next(iter(self.replicas.values())).mechanism

    @property
    def config(self) -> ExperimentConfig:
        """The experiment's values."""
        return self.params.experiment(self.experiment)

    @property
    def updates(self) -> int:
        """How many it takes."""
        return self.config.updates(self.mechanism)

    @cached_property
    def path(self) -> PathName:
        """By which numerical path; `compiled` are loops on a CPU, kernels on a GPU."""
        return path_of(self.params.compute.path, self.config, self.mechanism, self.device)

    @property
    def key(self) -> str:
        """What its checkpoint is of."""
        return json.dumps([self.device.type, self.path, *self.replicas])

    @property
    def checkpoint(self) -> Path:
        """Its checkpoint."""
        folder = self.params.layout.checkpoints(self.experiment)
        return folder / hashlib.sha256(self.key.encode()).hexdigest()[:16] / NAME

    def part(self, hashes: Iterable[str]) -> Shard:
        """Some of its replicas."""
        return replace(self, replicas={each: self.replicas[each] for each in hashes})

    def trainer(self) -> Trainer:
        """It, untrained.

        Raises:
            UserError: values that task, cell or mechanism refuse, or no frozen data.
        """
        frozen = self.params.layout.frozen(self.experiment)
        if not frozen.is_file():
            todo = self.params.training(self.experiment)
            raise UserError(f"{frozen}: no such file; run `{todo}`")
        task = make_task(self.config.task, self.experiment, frozen)
        replicas = list(self.replicas.values())
        trainer = make_trainer(self.config, task, replicas, self.device, self.path)
        if self.path == "compiled" and self.device.type == "cuda":
            trainer = kernels.by_kernels(trainer)
        if self.config.training.draws == "device":
            seeds, batch = [each.seed for each in replicas], self.config.training.batch
            trainer.stream = DeviceStream(task, seeds, batch, self.device)
        return trainer


def train(shard: Shard, tell: Tell, saved: Callable[[Path], None] = lambda path: None) -> Trainer:
    """Train a shard to its end, from its last checkpoint if there is one.

    Args:
        tell: called at the start and at each logging point.
        saved: called after each checkpoint.

    Raises:
        Interrupted: told to stop by a signal; the checkpoint is written.
        UserError: a damaged checkpoint; a mechanism that the task's loss does not fit.
        OSError: a checkpoint cannot be written; the last one is intact.
    """
    trainer, path = shard.trainer(), shard.checkpoint
    if path.is_file():
        checkpoint.load(trainer, path)
    began = time.monotonic()

    def save() -> None:
        nonlocal began
        now = time.monotonic()
        trainer.seconds += now - began
        began = now
        checkpoint.save(trainer, path, shard.key)
        saved(path)

    def should_stop() -> bool:
        if time.monotonic() - began > shard.params.compute.checkpoint_seconds:
            save()
        return bool(SIGNALS)

    with stop_signals():
        tell(trainer.update, trainer.rows())
        if not trainer.finished:
            try:
                trainer.run(should_stop, lambda: tell(trainer.update, trainer.rows(-1)))
            except LossRefusedError as error:
                raise UserError(f"{trainer.task.name}: {error}") from None
            save()
    if not trainer.finished:
        raise Interrupted(
            f"stopped at update {trainer.update:,} of {trainer.schedule.updates:,}; "
            "the same command goes on from there"
        )
    return trainer


def finish(shard: Shard, trainer: Trainer) -> None:
    """Write a file for each replica of a finished shard; its checkpoint is of no more use."""
    curves = torch.stack(trainer.curves)
    record = dict(shard.origin) | {"path": shard.path, "updates": trainer.update}
    record["wall_seconds"] = round(trainer.seconds / len(shard.replicas), 3)  # its share
    parameters = {name: each.detach().cpu().numpy() for name, each in trainer.parameters.items()}
    for k, (sha256, status) in enumerate(zip(shard.replicas, trainer.status(), strict=True)):
        tensors = {name: each[k].copy() for name, each in parameters.items()}
        there = ~curves[:, k, 0].isnan()  # one that stopped has no rows any more
        curve = curves[there, k].numpy()
        write(file_of(shard.params.root, sha256), Finished(tensors, curve, status, record))
    shutil.rmtree(shard.checkpoint.parent, ignore_errors=True)


SIGNALS: list[int] = []
"""Those that have come, to this process or before it was forked to its parent."""


@contextmanager
def stop_signals() -> Iterator[None]:
    """Gather Ctrl-C and terminations in `SIGNALS`, so that they break no update in two."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda number, _: SIGNALS.append(number)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
        SIGNALS.clear()
