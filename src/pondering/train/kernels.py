"""Training by the kernels of `model/paths/kernels`: 64 updates between two looks at the device."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch

from pondering.model.cells import CELLS, LSTM
from pondering.model.paths import kernels
from pondering.params.schema import ExperimentConfig
from pondering.tasks.base import Batch, Task
from pondering.train.batches import Stream
from pondering.train.build import make_halting
from pondering.train.draws.stream import DeviceStream
from pondering.train.trainer import Trainer

ONE_SIGMOID = ("parity", "logic")  # tasks that score one sigmoid of every input


def missing(config: ExperimentConfig, mechanism: str, device: torch.device) -> str | None:
    """Why an experiment's training has no kernels on this machine; None: it has."""
    task, kind = config.task["name"], CELLS[config.network.cell]
    if task not in ONE_SIGMOID or (task == "logic" and kind is not LSTM):
        return f"no kernels for {task} around {kind.__name__}"
    if config.halting.reads != "h":
        return f"no kernels for reads: {config.halting.reads}"
    halting = make_halting(config, config.replicas(mechanism)[0])
    flag = config.halting.first_step_flag
    return kernels.missing(kind, halting, config.network.hidden, flag, device)


def by_kernels(sweep: Trainer, slots: int | None = None) -> Trainer:
    """An untrained sweep, to be trained by kernels.

    Args:
        slots: updates that are done at once at most; None: as many as a graph has.
    """
    return KernelTrainer(sweep.network, sweep.task, sweep.replicas, sweep.schedule, slots=slots)


class DrawnAhead:
    """A task for a `Stream`, its blocks drawn by threads while the device works.

    NumPy draws without Python's lock, so that seeds are drawn side by side. A block depends on its
    seed and number alone, so it is the same as ever.
    """

    def __init__(self, task: Task, seeds: Sequence[int]) -> None:
        self.block_updates = task.block_updates
        self._task, self._seeds = task, seeds
        self._blocks: dict[int, dict[int, Future[Batch]]] = {}  # by number, by seed
        self._pool = ThreadPoolExecutor(thread_name_prefix="draws")

    def training_block(self, seed: int, block: int, batch: int) -> Batch:
        """A block, see `Task`; the next one is begun."""
        for number in (block, block + 1):
            if number not in self._blocks:
                self._blocks[number] = {
                    each: self._pool.submit(self._task.training_block, each, number, batch)
                    for each in self._seeds
                }
        self._blocks = {number: self._blocks[number] for number in (block, block + 1)}
        return self._blocks[block][seed].result()


@dataclass
class KernelTrainer(Trainer):
    """A `Trainer` whose updates kernels do, many at once; checkpoints and curves are the same.

    A replica that diverges stops at once, as elsewhere: the device sees it. The host looks after
    the last of those updates.
    """

    slots: int | None = None

    @cached_property
    def _draws(self) -> Stream:
        """Batches by seed: replicas of one seed share them on the device, too."""
        seeds = sorted({each.seed for each in self.replicas})
        if isinstance(self.stream, DeviceStream):
            return DeviceStream(self.task, seeds, self.schedule.batch, self.alive.device)
        drawn: Any = DrawnAhead(self.task, seeds)
        return Stream(drawn, seeds, self.schedule.batch, self.alive.device)

    @cached_property
    def _updates(self) -> Any:
        """What is on the device; made for the first update, after a checkpoint was read."""
        from pondering.model.paths.kernels.update import Optimiser, Progress, Updates

        adam, seeds = self.optimiser, sorted({each.seed for each in self.replicas})
        return Updates(
            self.network,
            Optimiser(
                adam.means, adam.squares, adam.betas, adam.epsilon, self.schedule.clip,
                self.schedule.halting_rate,
            ),
            Progress(self.alive, self.diverged, self.window, self.computed_steps),
            [seeds.index(each.seed) for each in self.replicas],
            self.schedule.batch,
            self._times,
            self.slots or kernels.SLOTS,
        )  # fmt: skip

    @property
    def kept(self) -> int:
        """Numbers of a replica that its kernels keep, besides parameters: batches, states."""
        cell, steps = self.network.cell, self.network.halting.max_steps
        rows = self.schedule.batch * int(cell.hidden)
        tape = 6 * self._times * (steps + 3) if isinstance(cell, LSTM) else 2 * (steps + 2)
        inputs = kernels.SLOTS * self.schedule.batch * self._times * self.task.input_size
        return rows * tape + 2 * inputs  # in the slots, and where they are drawn

    @property
    def _times(self) -> int:
        """T, inputs of the longest sequence."""
        return max(getattr(self.task, "length", (1,)))

    def _update(self) -> None:
        """As many updates as the slots hold, none behind the next logging point."""
        first, every = self.update, self.schedule.log_every
        begin = first - first % every  # of the window
        last = min(first + self._updates.slots, begin + every, self.schedule.updates)
        numbers = range(first, last)
        drawn = map(self._draws.batch, numbers)
        batches = ((batch.inputs, batch.targets, batch.mask) for batch in drawn)
        shares = torch.tensor(list(map(self.schedule.share, numbers)), dtype=torch.float64)
        rates = self.optimiser.learning_rate.double() * shares[:, None].to(self.alive.device)
        self._updates.run(batches, rates, first)
        self.update = last
        if not bool(self.alive.any()):
            self.update = begin + int(self.window[:, 4].max())  # when the last one stopped
        self.optimiser.updates = self.update
