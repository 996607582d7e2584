"""Training batches for stacked replicas: drawn by seed, shared by the settings of a seed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from pondering.tasks.base import Batch, Task


class Stream:
    """The training batches of K replicas.

    A replica's batch depends on (task, its seed, the update) alone, so that settings are compared
    on the same examples, and shards, resumed runs and solo runs see what the whole sweep sees.

    Args:
        task: draws the examples.
        seeds: the K replicas' seeds.
        batch: examples per replica and update.
        device: where batches are wanted.
    """

    def __init__(
        self, task: Task, seeds: Sequence[int], batch: int, device: torch.device | str = "cpu"
    ) -> None:
        self._task = task
        self._seeds = sorted(set(seeds))
        self._batch = batch
        self._device = device
        self._index = [self._seeds.index(seed) for seed in seeds]
        self._block: int | None = None
        self._drawn: list[Batch] = []  # one per seed, a whole block
        self._lengths: list[int] = []

    def batch(self, update: int) -> Batch:
        """The batch of an update (0, 1, ...): tensors (T, K, B, ...), T as long as needed."""
        block, place = divmod(update, self._task.block_updates)
        if block != self._block:
            self._draw(block)
        length = self._lengths[place]
        rows = slice(place * self._batch, (place + 1) * self._batch)
        columns = list(zip(*self._drawn, strict=True))
        parts = [self._replicas([p[:length, rows] for p in column], 1) for column in columns[:-1]]
        return Batch._make([*parts, self._replicas([p[rows] for p in columns[-1]], 0)])

    def _replicas(self, by_seed: list[Tensor], axis: int) -> Tensor:
        """From one tensor per seed to one in all, with an axis of replicas."""
        if len(by_seed) == 1:
            shape = list(by_seed[0].shape)
            shape.insert(axis, len(self._index))
            return by_seed[0].unsqueeze(axis).expand(shape)
        return torch.stack([by_seed[k] for k in self._index], dim=axis)

    def _draw(self, block: int) -> None:
        task, size = self._task, self._batch
        blocks = [task.training_block(seed, block, size) for seed in self._seeds]
        present = np.stack([batch.mask for batch in blocks], axis=1)
        present = present.reshape(len(present), len(self._seeds), -1, size)
        times = np.arange(1, len(present) + 1)[:, None]
        self._lengths = (present.any(axis=(1, 3)) * times).max(axis=0).tolist()
        self._drawn = [batch.torch(self._device) for batch in blocks]
        self._block = block
