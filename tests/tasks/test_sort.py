"""Sort against repeated search for the smallest value, at every length."""

from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pondering.tasks.sort import Sort


def positions_in_order(values: list[float]) -> list[int]:
    """Positions from the smallest to the largest value, found one at a time."""
    left = list(range(len(values)))
    order = []
    while left:
        best = left[0]
        for position in left[1:]:
            if values[position] < values[best]:
                best = position
        order.append(best)
        left.remove(best)
    return order


def check_against_brute_force(task: Sort, batch: object) -> list[int]:
    times, examples = batch.mask.shape
    assert batch.inputs.shape == (2 * task.length[1], examples, 2)
    lengths = []
    for b in range(examples):
        flags = batch.inputs[:, b, 1].tolist()
        assert sorted(flags) == [0.0] * (times - 1) + [1.0]
        length = flags.index(1.0) + 1
        values = batch.inputs[:length, b, 0].tolist()
        order = positions_in_order(values)
        for t in range(times):
            assert bool(batch.mask[t, b]) == (t < 2 * length)
            assert bool(batch.scored[t, b]) == (length <= t < 2 * length)
            if batch.scored[t, b]:
                assert batch.targets[t, b] == order[t - length]
        assert not batch.inputs[length:, b].any()
        assert batch.difficulty[b] == length
        lengths.append(length)
    return lengths


def test_order_at_every_length_and_in_training() -> None:
    task = Sort()
    check_against_brute_force(task, task.training_block(0, 0, 32))
    batch = task.evaluation_sets(30)["test"]
    assert batch.mask.shape == (30, 14 * 30)
    lengths = check_against_brute_force(task, batch)
    assert lengths == [length for length in range(2, 16) for _ in range(30)]


numbers = st.floats(-1000, 1000, width=32)


@settings(max_examples=40, deadline=None)
@given(st.lists(numbers, min_size=2, max_size=15))
def test_a_sequence_is_parsed(values: list[float]) -> None:
    task = Sort()
    batch = task.parse(", ".join(map(repr, values)))
    order = positions_in_order(values)
    assert batch.targets[len(values) : 2 * len(values), 0].tolist() == order
    assert batch.inputs[: len(values), 0, 0].tolist() == values
    assert batch.mask.sum() == 2 * len(values) and batch.scored.sum() == len(values)


def test_a_sequence_is_described() -> None:
    task = Sort(length=(2, 4))
    outputs = torch.zeros(8, 1, 4)
    outputs[:, :, 2] = 1.0
    steps = task.describe(outputs, task.parse("0.5 -1.25 3"), 0)
    assert [step["input"] for step in steps] == ["0.50", "-1.25", "3.00", "", "", ""]
    assert [step["target"] for step in steps] == ["", "", "", "1", "0", "2"]
    assert [step["prediction"] for step in steps] == ["", "", "", "2", "2", "2"]
