"""Batches of stacked replicas, drawn on their device by the updates of a block at once."""

from __future__ import annotations

from pondering.tasks.base import Batch
from pondering.train.batches import AT_ONCE, Stream
from pondering.train.draws import DRAWS
from pondering.train.draws.words import Words


class DeviceStream(Stream):
    """A `Stream` that asks the host for nothing: T is always that of the longest sequence."""

    def _draw(self, block: int) -> None:
        count = self._task.block_updates
        updates = range(block * count, (block + 1) * count)
        words = Words(self._task.name, self._seeds, updates, self._batch, self._device)
        *timed, difficulty = DRAWS[self._task.name](self._task, words)
        self._drawn = Batch._make([*(part.movedim(2, 0) for part in timed), difficulty])
        self._lengths = [len(self._drawn.mask)] * count
        self._block, self._first = block, None

    def _join(self, first: int) -> None:
        rows = slice(first * self._batch, (first + AT_ONCE) * self._batch)
        *timed, difficulty = self._drawn
        self._joined = Batch._make([*(part[:, :, rows] for part in timed), difficulty[:, rows]])
        self._first = first
