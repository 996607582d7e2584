"""The one training loop: draw, ponder, score, update; log, validate, checkpoint, resume."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor

from pondering.model.halting import PonderRecord
from pondering.model.halting.contract import ordered_sum
from pondering.model.network import Network
from pondering.params.replica import Replica
from pondering.tasks.base import Batch, Task
from pondering.train.adam import StackedAdam
from pondering.train.batches import Stream
from pondering.train.plateau import Plateau

Row = dict[str, Any]
COLUMNS = ("loss", "error", "ponder_time", "remainder", "computed_steps")


class Schedule(NamedTuple):
    """The length of a training, and the values of its updates."""

    updates: int
    batch: int
    learning_rate: float
    clip: float | None
    log_points: int
    decay: Literal["none", "linear", "cosine"] = "none"
    halting_rate: float | None = None  # the halting unit's, as a multiple of the learning rate

    def share(self, update: int) -> float:
        """The share of the learning rate at update 0, 1, ...; it falls to 0 after the last update.

        Source: cosine, Loshchilov and Hutter 2017, Eq. 5, without restarts.
        """
        done = update / self.updates
        if self.decay == "none":
            return 1.0
        return 1 - done if self.decay == "linear" else (1 + math.cos(math.pi * done)) / 2

    @property
    def log_every(self) -> int:
        """Updates between two logging points."""
        return max(1, self.updates // self.log_points)


def forward(network: Network, task: Task, batch: Batch, update: int) -> tuple[Tensor, PonderRecord]:
    """One pass over a batch, by the mechanism of an update (0, 1, ...).

    Returns:
        each sequence's loss with its ponder or KL cost, summed over time, (..., B); the record.
    """
    halting = network.halting.at_update(update)
    pondered = network(batch.inputs, batch.mask, halting=halting)
    losses = halting.objective(lambda outputs: task.loss(outputs, batch), pondered)
    return ordered_sum(losses), pondered


@dataclass
class Trainer:
    """Trains a sweep. It holds the state of a checkpoint and the training loop.

    Args:
        network: K stacked replicas.
        task: the task that they learn.
        replicas: their settings and seeds.
        schedule: updates, batch, learning rate and its decay, clipping, logging.
        plateau: learning-rate schedule and early stopping, or None.
    """

    network: Network
    task: Task
    replicas: Sequence[Replica]
    schedule: Schedule
    plateau: Plateau | None = None
    update: int = 0
    seconds: float = 0.0  # wall time, set by the caller that writes checkpoints
    curves: list[Tensor] = field(default_factory=list)  # per logging point (K, 1 + columns)

    def __post_init__(self) -> None:
        self.parameters = dict(self.network.named_parameters())
        device = next(iter(self.parameters.values())).device
        count = len(self.replicas)
        rates = torch.full((count,), self.schedule.learning_rate, device=device)
        unit = self.network.heads.halting_unit()
        factor = self.schedule.halting_rate
        self.optimiser = StackedAdam(self.parameters.values(), rates, unit, factor)
        self.alive = torch.ones(count, dtype=torch.bool, device=device)
        self.diverged = torch.zeros(count, dtype=torch.bool, device=device)
        self.window = torch.zeros(count, 5, dtype=torch.float64, device=device)
        self.computed_steps = torch.zeros(count, dtype=torch.float64, device=device)
        seeds = [each.seed for each in self.replicas]
        self.stream = Stream(self.task, seeds, self.schedule.batch, device)

    @property
    def finished(self) -> bool:
        """Whether the schedule is done or every replica has stopped."""
        return self.update >= self.schedule.updates or not bool(self.alive.any())

    def run(
        self,
        should_stop: Callable[[], bool] = lambda: False,
        on_point: Callable[[], None] = lambda: None,
    ) -> None:
        """Train until the end, or until `should_stop`.

        Args:
            should_stop: called before every update; True ends the loop.
            on_point: called after each logging point.
        """
        while not self.finished and not should_stop():
            self._update()
            ends = self.update == self.schedule.updates
            if self.plateau and self.update % self.plateau.every == 0:
                error = validation_error(self, self.plateau.batch)
                self.alive &= ~self.plateau.note(error, self.optimiser.learning_rate)
            if self.update % self.schedule.log_every == 0 or ends or self.finished:
                self._log_point()
                on_point()

    def _update(self) -> None:
        batch, alive = self.stream.batch(self.update), self.alive.unsqueeze(-1)
        # A replica that has stopped has no inputs, so it costs no ponder.
        batch = batch._replace(mask=batch.mask & alive, scored=batch.scored & alive)
        self.network.zero_grad()
        losses, pondered = forward(self.network, self.task, batch, self.update)
        loss, share = losses.mean(-1), self.schedule.share(self.update)
        finite = self.optimiser.descend(loss, self.alive, self.schedule.clip, share)
        self.diverged |= self.alive & ~finite
        self.alive &= finite
        self.update += 1
        self._accumulate(batch, pondered, loss)

    @torch.no_grad()
    def _accumulate(self, batch: Batch, pondered: PonderRecord, loss: Tensor) -> None:
        """Add an update's loss, error and ponder to the window since the last logging point."""
        prediction = self.network.halting.predict(pondered)
        error = self.task.error(prediction, batch).mean(-1)
        present = batch.mask.sum((0, -1)).clamp(min=1)
        ponder = ordered_sum(self.network.halting.ponder_time(pondered).sum(-1)) / present
        remainder = ordered_sum(pondered.remainder.sum(-1)) / present
        trained = batch.mask.any(0).any(-1)
        values = (loss.detach(), error, ponder, remainder, trained)
        self.window += torch.stack([value.double() for value in values], dim=1)
        self.computed_steps += pondered.ponder_time.sum((0, -1))

    def _log_point(self) -> None:
        """Close the window: one row of means per replica that was trained in it.

        A replica that stopped before the window has NaN as update number, so no row. A diverged
        replica has a row of NaN.
        """
        *sums, trained = self.window.unbind(1)
        update = torch.full_like(trained, self.update)
        update[(trained == 0) & ~self.diverged] = torch.nan
        row = torch.stack([update, *(each / trained for each in sums), self.computed_steps], dim=1)
        row[self.diverged, 1:-1] = torch.nan
        self.curves.append(row.cpu())
        self.window.zero_()

    def rows(self, since: int = 0) -> list[Row]:
        """Curve rows of logging points `since` and later, one per replica and point."""
        return [
            each.row() | {"update": int(values[0])} | dict(zip(COLUMNS, values[1:], strict=True))
            for point in self.curves[since:]
            for each, values in zip(self.replicas, point.tolist(), strict=True)
            if values[0] == values[0]
        ]

    def status(self) -> list[str]:
        """The status of each replica: finished, diverged or running."""
        rest = "finished" if self.finished else "running"
        return ["diverged" if failed else rest for failed in self.diverged.tolist()]


@torch.no_grad()
def validation_error(sweep: Trainer, batch: Batch, rows: int = 1000) -> Tensor:
    """Error of every replica on a batch without replica axis, (K,), `rows` examples at a time."""
    count = len(sweep.replicas)
    total = torch.zeros(count, device=batch.targets.device)
    size = batch.targets.shape[1]
    for start in range(0, size, rows):
        part = batch.take(slice(start, start + rows)).replicate(count)
        pondered = sweep.network(part.inputs, part.mask)
        prediction = sweep.network.halting.predict(pondered)
        total += sweep.task.error(prediction, part).sum(-1)
    mean: Tensor = total / size
    return mean
