"""A replica's batch depends on (task, seed, update) alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

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


@pytest.mark.parametrize("seeds", [[5], [3, 5, 3, 0, 11]])
def test_a_replicas_batch_is_the_tasks_own_draw(task: Task, seeds: list[int]) -> None:
    """Whatever its neighbours are, and in whichever order updates are asked for."""
    forward, backward = Stream(task, seeds, BATCH), Stream(task, seeds, BATCH)
    for stream, updates in ((forward, UPDATES), (backward, UPDATES[::-1])):
        for update in updates:
            batch, (block, place) = stream.batch(update), divmod(update, task.block_updates)
            rows, length = slice(place * BATCH, (place + 1) * BATCH), len(batch.mask)
            assert batch.mask.shape[1:] == (len(seeds), BATCH)
            for k, seed in enumerate(seeds):
                got, drawn = of_replica(batch, k), task.training_block(seed, block, BATCH)
                for ours, theirs in zip(got[:-1], drawn[:-1], strict=True):
                    np.testing.assert_array_equal(ours, np.asarray(theirs)[:length, rows])
                np.testing.assert_array_equal(got.difficulty, np.asarray(drawn.difficulty)[rows])


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
