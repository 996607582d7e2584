"""A replica's batch depends on (task, seed, update) alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from pondering.tasks import make_task
from pondering.tasks.base import Batch, Task
from pondering.train.batches import Stream

PARITY = {
    "name": "parity", "bits": 5, "layout": "scattered", "train_nonzero": [1, 5],
    "test_nonzero": {"test": [1, 5]},
}  # fmt: skip
TASKS: dict[str, dict[str, Any]] = {
    "parity": PARITY,
    "logic": {"name": "logic", "gates": 3, "length": [1, 4], "test_length": 2},
    "addition": {"name": "addition", "digits": 2, "length": [1, 3], "test_length": 2},
    "sort": {"name": "sort", "length": [2, 6]},
}
UPDATES = (0, 1, 7, 8, 63, 64, 130, 8)  # within a block of draws, at its ends, beyond, and back
BATCH = 6


@pytest.fixture(params=TASKS)
def task(request: pytest.FixtureRequest) -> Task:
    return make_task(TASKS[request.param], "here")


def of_replica(batch: Batch, k: int) -> Batch:
    return Batch._make([*(part[:, k] for part in batch[:-1]), batch.difficulty[k]])


def trimmed(batch: Batch) -> Batch:
    """A batch without replica axis, cut after the last time that any of its rows has."""
    times = int(batch.mask.any(dim=-1).nonzero().max()) + 1
    return Batch._make([*(part[:times] for part in batch[:-1]), batch.difficulty])


def same(a: Batch, b: Batch) -> bool:
    """Equal, what lies beyond the longest sequence of either left out."""
    return all(torch.equal(x, y) for x, y in zip(trimmed(a), trimmed(b), strict=True))


def test_shards_settings_order_and_neighbours_change_nothing(task: Task) -> None:
    whole = Stream(task, [3, 5, 3, 0, 11], BATCH)  # two settings of seed 3
    alone = {seed: Stream(task, [seed], BATCH) for seed in (0, 3, 5, 11)}
    shard = Stream(task, [11, 3], BATCH)
    for update in UPDATES:
        batch = whole.batch(update)
        assert same(of_replica(batch, 0), of_replica(batch, 2))
        for k, seed in enumerate([3, 5, 3, 0, 11]):
            assert same(of_replica(batch, k), of_replica(alone[seed].batch(update), 0))
        assert same(of_replica(batch, 4), of_replica(shard.batch(update), 0))
        assert same(of_replica(batch, 0), of_replica(shard.batch(update), 1))


def test_the_order_of_the_updates_changes_nothing(task: Task) -> None:
    """A resumed run asks for update 64 first."""
    forward, backward = Stream(task, [1, 2], BATCH), Stream(task, [1, 2], BATCH)
    ahead = {update: forward.batch(update) for update in UPDATES}
    for update in reversed(UPDATES):
        for a, b in zip(ahead[update], backward.batch(update), strict=True):
            assert torch.equal(a, b)


def test_seeds_and_updates_give_different_batches(task: Task) -> None:
    stream = Stream(task, [1, 2], 32)
    first, second, far = stream.batch(0), stream.batch(1), stream.batch(64)
    one = of_replica(first, 0)
    for other in (of_replica(first, 1), of_replica(second, 0), of_replica(far, 0)):
        assert not same(one, other)


def test_batches_are_as_long_as_needed_and_no_longer(task: Task) -> None:
    stream = Stream(task, [1, 2, 3], 2)
    lengths = set()
    for update in range(40):
        batch = stream.batch(update)
        length = batch.mask.shape[0]
        assert all(part.shape[0] == length for part in batch[:-1])
        assert batch.mask[-1].any(), "the last time is somebody's"
        drawn = [task.training_block(seed, 0, 2) for seed in (1, 2, 3)]
        rows = slice(2 * update, 2 * update + 2)
        assert not any(np.asarray(d.mask)[length:, rows].any() for d in drawn), "nobody is cut"
        lengths.add(length)
    assert lengths == {1} if task.name == "parity" else len(lengths) > 1


@pytest.mark.parametrize("update", [3, 8, 63, 67, 77])
def test_a_replicas_batch_is_the_tasks_own_draw(task: Task, update: int) -> None:
    batch = of_replica(Stream(task, [9, 4], BATCH).batch(update), 1)
    block, place = divmod(update, 64)
    drawn = task.training_block(4, block, BATCH)
    rows = slice(place * BATCH, (place + 1) * BATCH)
    length = batch.mask.shape[0]
    for got, want in zip(batch[:-1], drawn[:-1], strict=True):
        np.testing.assert_array_equal(got.numpy(), np.asarray(want)[:length, rows])
    np.testing.assert_array_equal(batch.difficulty.numpy(), np.asarray(drawn.difficulty)[rows])


def test_shapes_have_the_replica_axis_behind_time(task: Task) -> None:
    for seeds in ([5], [5, 5], [5, 6, 7]):
        batch = Stream(task, seeds, BATCH).batch(2)
        assert batch.mask.shape[1:] == (len(seeds), BATCH)
        assert batch.inputs.shape[1:3] == (len(seeds), BATCH)
        assert batch.targets.shape[1:3] == (len(seeds), BATCH)
        assert batch.difficulty.shape == (len(seeds), BATCH)


class Gaps:
    """One vector a sequence, at time 3 of 5, in the batches of even updates; else at time 1."""

    block_updates = 4

    def training_block(self, seed: int, block: int, batch: int) -> Batch:
        size = self.block_updates * batch
        mask = np.zeros((5, size), dtype=bool)
        for row in range(size):
            mask[1 if row // batch % 2 else 3, row] = True
        numbers = np.ones((5, size), dtype=np.float32)
        return Batch(numbers[..., None], numbers, mask, mask, numbers[0])


def test_what_comes_after_a_gap_is_not_cut_off() -> None:
    task: Any = Gaps()
    stream = Stream(task, [1, 2], 3)
    assert [len(stream.batch(update).mask) for update in range(8)] == [4, 2] * 4
    assert all(stream.batch(update).mask.any(0).all() for update in range(8))
