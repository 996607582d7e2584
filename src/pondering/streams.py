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
        self._drawn: Batch | None = None  # a whole block, with an axis of seeds
        self._lengths: list[int] = []

    def batch(self, update: int) -> Batch:
        """The batch of an update (0, 1, ...): tensors (T, K, B, ...), T as long as needed."""
        block, place = divmod(update, self._task.block_updates)
        if block != self._block:
            self._draw(block)
        length = self._lengths[place]
        rows = slice(place * self._batch, (place + 1) * self._batch)
        assert self._drawn is not None
        parts = [self._replicas(part[:length, :, rows], 1) for part in self._drawn[:-1]]
        return Batch._make([*parts, self._replicas(self._drawn.difficulty[:, rows], 0)])

    def _replicas(self, by_seed: Tensor, axis: int) -> Tensor:
        """From an axis of seeds to one of replicas, without a copy where they are the same."""
        if len(self._seeds) == 1:
            shape = list(by_seed.shape)
            shape[axis] = len(self._index)
            return by_seed.expand(shape)
        if self._index == list(range(len(self._seeds))):
            return by_seed
        seeds = by_seed.unbind(axis)
        return torch.stack([seeds[k] for k in self._index], dim=axis)

    def _draw(self, block: int) -> None:
        task, size = self._task, self._batch
        blocks = [task.training_block(seed, block, size) for seed in self._seeds]
        present = np.stack([batch.mask for batch in blocks], axis=1)
        present = present.reshape(len(present), len(self._seeds), -1, size)
        times = np.arange(1, len(present) + 1)[:, None]
        self._lengths = (present.any(axis=(1, 3)) * times).max(axis=0).tolist()
        *columns, difficulty = zip(*blocks, strict=True)
        parts = [np.stack(column, axis=1) for column in columns]
        self._drawn = Batch._make([*parts, np.stack(difficulty)]).torch(self._device)
        self._block = block
