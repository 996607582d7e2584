"""Which test inputs training had seen, against a slow search for equal bytes in its own batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from support import tiny

from pondering.evaluate import measure
from pondering.evaluate.load import Trained
from pondering.evaluate.measure import Measured
from pondering.evaluate.seen import NEVER, addresses, first_draws, seen
from pondering.params.replica import Replica
from pondering.tasks import make_task
from pondering.tasks.base import Batch, Task
from pondering.train.batches import Stream
from pondering.train.build import make_network

TASKS: dict[str, dict[str, Any]] = {
    "parity": {
        "name": "parity", "bits": 6, "layout": "scattered", "train_nonzero": [1, 3],
        "test_nonzero": {"inside": [1, 3], "outside": [4, 6]},
    },
    "logic": {"name": "logic", "gates": 1, "length": [1, 2], "test_length": 2},
    "addition": {"name": "addition", "digits": 2, "length": [1, 2], "test_length": 2},
    "wikipedia": {"name": "wikipedia", "source": "generated", "sequence": 3},
}  # fmt: skip
BATCH, UPDATES = 8, 100  # within a block of 64 updates, and of 8


def batch_of(vectors: list[list[list[float]]], mask: list[list[bool]]) -> Batch:
    """Sequences of vectors, time first."""
    there = np.array(mask)
    inputs = np.array(vectors, dtype=np.float32)
    return Batch(inputs, there, there, there, np.ones(there.shape[1], dtype=np.float32))


class Dealt:
    """Training of seed 3 sees the vectors 0 and 1, in updates 1 and 2; that of seed 4 only 9."""

    block_updates = 2
    deals = ((9, 9), (0, 9), (1, 0), (2, 9))

    def training_block(self, seed: int, block: int, batch: int) -> Batch:
        pairs = self.deals if seed == 3 else ((9, 9),) * 4
        values = np.array(pairs[2 * block : 2 * block + 2]).ravel()
        return batch_of([[[value, 1] for value in values]], [[True] * len(values)])


def test_two_of_three_vectors_were_dealt_in_training() -> None:
    task: Any = Dealt()
    test = batch_of([[[0, 1], [1, 1], [2, 1]]], [[True] * 3]).torch()
    found = first_draws(task, {"test": test}, (3, 4), 2, 3)
    assert found[3]["test"].tolist() == [1, 2, NEVER], "2 comes after the last update"
    assert found[4]["test"].tolist() == [NEVER] * 3
    replicas = [Replica("act", 0.1, 4), Replica("act", 0.1, 3), Replica("act", 0.2, 3)]
    shown = seen(found, "test", replicas, 3)
    assert shown.tolist() == [[False] * 3, [True, True, False], [True, True, False]]
    assert seen(found, "test", replicas[1:2], 2).tolist() == [[True, False, False]]


def keys_of(batch: Batch) -> list[tuple[Any, ...]]:
    """Each example as the bytes of its vectors, None where there is none after the last."""
    inputs, mask = np.asarray(batch.inputs), np.asarray(batch.mask)
    return [
        tuple(inputs[t, row].tobytes() for t in range(len(mask)) if mask[t, row])
        for row in range(mask.shape[1])
    ]


@pytest.mark.parametrize("name", TASKS)
def test_what_is_seen_is_what_the_training_stream_had(name: str) -> None:
    task: Task = make_task(TASKS[name], "here")
    sets = {split: each.torch() for split, each in task.evaluation_sets(40).items()}
    stream = Stream(task, [5, 6], BATCH)
    drawn: list[dict[Any, int]] = [{}, {}]
    for update in range(UPDATES):
        batch = stream.batch(update)
        for k in (0, 1):
            own = Batch._make([*(part[:, k] for part in batch[:-1]), batch.difficulty[k]])
            for key in keys_of(own):
                drawn[k].setdefault(key, update)
    found = first_draws(task, sets, (5, 6), BATCH, UPDATES)
    firsts: list[int] = []
    for k, seed in enumerate((5, 6)):
        for split, each in sets.items():
            wanted = [drawn[k].get(key, NEVER) for key in keys_of(each)]
            assert found[seed][split].tolist() == wanted
            firsts += wanted
    assert 0.05 < np.mean(np.array(firsts) < NEVER) < 0.95, "some were seen, and some not"


def test_numbers_of_the_reals_are_not_looked_for() -> None:
    class Sort:
        def training_block(self, seed: int, block: int, batch: int) -> Batch:
            raise AssertionError("drawn")

    task: Any = Sort()
    sets = {"test": batch_of([[[0.5], [1]]], [[True, True]]).torch()}
    found = first_draws(task, sets, (0, 1), 4, 10)
    assert [found[seed]["test"].tolist() for seed in (0, 1)] == [[NEVER] * 2] * 2


def test_an_address_knows_times_places_and_masks() -> None:
    sequences = [
        ([[1, 0], [0, 0]], [True, False]),
        ([[1, 0], [0, 0]], [True, True]),
        ([[0, 1], [0, 0]], [True, False]),
        ([[0, 0], [1, 0]], [True, True]),
        ([[-1, 0], [0, 0]], [True, False]),
        ([[1, 0], [7, 7]], [True, False]),  # as the first: what is masked does not count
    ]
    vectors = [[seq[0][t] for seq in sequences] for t in (0, 1)]
    mask = [[seq[1][t] for seq in sequences] for t in (0, 1)]
    found = addresses(batch_of(vectors, mask))
    assert len(set(found.tolist())) == 5 and found[5] == found[0]
    short = batch_of(vectors[:1], mask[:1])
    longer = batch_of([*vectors, vectors[0]], [*mask, [False] * 6])
    assert np.array_equal(addresses(longer), found)
    assert addresses(short)[0] == found[0]


def test_the_rows_have_the_error_on_either_part(tmp_path: Path) -> None:
    config = tiny.config(tmp_path)
    task = make_task(config.task, "tiny")
    replicas = list(config.replicas("act")[:3])
    status = ["finished", "diverged", "finished"]
    trained = Trained(make_network(config, task, replicas), replicas, status)
    error = np.array([[0, 1, 1, 0, 1]] * 3, dtype=float)
    measured = Measured(error, error, error, error, np.array([1, 1, 1, 2, 2]))
    known = np.array([[1, 1, 0, 0, 0], [1, 0, 0, 1, 1], [0, 0, 0, 1, 1]], dtype=bool)
    rows = measure.table_rows(measured, trained, 1.0, known)
    names = ["difficulty", "seen", "error", "error_seen", "error_unseen"]
    blank = float("nan")
    wanted = [
        [1, 2 / 3, 2 / 3, 0.5, 1], [2, 0, 0.5, blank, 0.5],
        [1, 1 / 3, 1, 1, 1], [2, 1, 1, 1, blank],
        [1, 0, 2 / 3, blank, 2 / 3], [2, 1, 0.5, 0.5, blank],
    ]  # fmt: skip
    np.testing.assert_allclose(pd.DataFrame(rows)[names].to_numpy(), wanted)
