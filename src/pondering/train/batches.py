"""Training batches for stacked replicas: drawn for each seed, shared by its settings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from pondering.tasks.base import Batch, Task

AT_ONCE = 8  # updates that are drawn together; with more, the memory of a block is not reused


class Stream:
    """The training batches of K replicas.

    A replica's batch depends on (task, seed, update) alone. So settings are compared on the same
    examples, and shards, resumed runs and single runs have the batches of the whole sweep.

    Args:
        task: the source of the examples.
        seeds: the K replicas' seeds.
        batch: examples per replica and update.
        device: the device of the batches.
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
        self._blocks: list[Batch] = []  # by seed, as drawn
        self._lengths: list[int] = []  # of each update's sequences
        self._first: int | None = None  # first update of `_joined`, within the block
        self._joined: Batch | None = None  # some updates of the block, with an axis of seeds

    def batch(self, update: int) -> Batch:
        """The batch of an update (0, 1, ...): tensors (T, K, B, ...), T as long as needed."""
        block, place = divmod(update, self._task.block_updates)
        if block != self._block:
            self._draw(block)
        first = place - place % AT_ONCE
        if first != self._first:
            self._join(first)
        length = self._lengths[place]
        rows = slice((place - first) * self._batch, (place - first + 1) * self._batch)
        assert self._joined is not None
        parts = [self._replicas(part[:length, :, rows], 1) for part in self._joined[:-1]]
        return Batch._make([*parts, self._replicas(self._joined.difficulty[:, rows], 0)])

    def _replicas(self, by_seed: Tensor, axis: int) -> Tensor:
        """From an axis of seeds to an axis of replicas; no copy if the two are the same."""
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
        self._blocks = [task.training_block(seed, block, size) for seed in self._seeds]
        lengths = []
        for each in self._blocks:
            present = each.mask.reshape(len(each.mask), -1, size).any(2)
            lengths.append((present * np.arange(1, len(present) + 1)[:, None]).max(0))
        self._lengths = np.max(lengths, axis=0).tolist()
        self._block, self._first = block, None

    def _join(self, first: int) -> None:
        """The seeds of a few updates side by side."""
        rows = slice(first * self._batch, (first + AT_ONCE) * self._batch)
        *columns, difficulty = zip(*self._blocks, strict=True)
        parts = [np.stack([each[:, rows] for each in column], axis=1) for column in columns]
        together = np.stack([each[rows] for each in difficulty])
        self._joined = Batch._make([*parts, together]).torch(self._device)
        self._first = first
