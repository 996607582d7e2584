"""Which test inputs training had seen: its batches are drawn again, without training.

Training draws without end, and the test sets are drawn by the same law; where few inputs exist most
of a test asks what was trained. A replica has seen an input if a batch of its planned updates had
the very same one, at all times alike. A core draws about a million examples in a second; where
training draws more for a seed than `MOST_DRAWN`, as in `paper`, nothing is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from pondering.evaluate.measure import Array
from pondering.params.replica import Replica
from pondering.tasks.base import Batch, Task, random_stream

NEVER = np.iinfo(np.int64).max
MOST_DRAWN = 5 * 10**7  # examples of a seed

FirstDraws = Mapping[int, Mapping[str, Array]]  # by seed and split, (B,): an update, or NEVER


def first_draws(
    task: Task, sets: Mapping[str, Batch], seeds: Sequence[int], batch: int, updates: int
) -> FirstDraws:
    """The update of each seed that first drew each test input.

    Inputs that are not whole numbers are not looked for: normals and turned images do not come
    twice, and no image of a test is one of training.

    Args:
        task: what was trained on.
        sets: the evaluation sets by split, tensors (T, B, ...).
        seeds: of the replicas.
        batch: examples of an update.
        updates: the most that any replica was to train.
    """
    arrays = {s: Batch._make(map(np.asarray, each.torch())) for s, each in sets.items()}
    if not all(np.array_equal(each.inputs, np.rint(each.inputs)) for each in arrays.values()):
        never = {split: np.full(each.difficulty.shape, NEVER) for split, each in arrays.items()}
        return dict.fromkeys(seeds, never)
    by_split = {split: addresses(each) for split, each in arrays.items()}
    known = np.unique(np.concatenate(list(by_split.values())))
    found = {}
    for seed in seeds:
        first = np.full(known.shape, NEVER)
        for start in range(0, updates, task.block_updates):
            drawn = addresses(task.training_block(seed, start // task.block_updates, batch))
            at = np.searchsorted(known, drawn).clip(max=len(known) - 1)
            rows = np.flatnonzero(known[at] == drawn)
            np.minimum.at(first, at[rows], start + rows // batch)
        first[first >= updates] = NEVER
        found[seed] = {s: first[np.searchsorted(known, each)] for s, each in by_split.items()}
    return found


def seen(first: FirstDraws, split: str, replicas: Sequence[Replica], updates: int) -> Array:
    """Which examples of a split each of K replicas had seen after so many updates, (K, B) bool."""
    shown: Array = np.stack([first[each.seed][split] < updates for each in replicas])
    return shown


def addresses(batch: Batch) -> Array:
    """A number of 64 bits for the input of each example, (B,), over the times that are not masked.

    Random factors by time and place, multiplied and summed modulo 2^64, tell two inputs of whole
    numbers below 2^16 apart but with probability 2^-48, those of -1, 0, 1 but with 2^-63.

    Args:
        batch: arrays (T, B, ...) without replica axis.
    """
    times, examples = batch.mask.shape
    vectors = batch.inputs.reshape(times, examples, -1).astype(np.int64)
    shape = times, vectors.shape[2] + 1  # one more: that there is a vector at this time
    bits = random_stream("addresses").integers(2**64, size=shape, dtype=np.uint64)
    factors = bits.view(np.int64)
    each = factors[:, :1] + np.matmul(vectors, factors[:, 1:, None])[..., 0]
    total: Array = (each * batch.mask).sum(axis=0)
    return total
