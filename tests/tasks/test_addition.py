"""Addition against Python's integers, at every number of digits."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pondering.tasks.addition import Addition


def number_of(vector: list[float], digits: int) -> str:
    """The digits that an input vector shows, the used chunks first."""
    text = ""
    for i in range(digits):
        chunk = vector[10 * i : 10 * i + 10]
        assert sorted(chunk) in ([0.0] * 10, [0.0] * 9 + [1.0])
        if 1.0 in chunk:
            assert len(text) == i
            text += str(chunk.index(1.0))
    return text


def check_against_brute_force(task: Addition, batch: object) -> list[list[str]]:
    times, examples = batch.mask.shape
    assert batch.inputs.shape == (times, examples, 10 * task.digits)
    assert batch.targets.shape == (times, examples, task.digits + 1)
    sequences = []
    for b in range(examples):
        numbers, total = [], 0
        length = int(batch.mask[:, b].sum())
        for t in range(times):
            text = number_of(batch.inputs[t, b].tolist(), task.digits)
            assert bool(batch.mask[t, b]) == (t < length) == bool(text)
            assert bool(batch.scored[t, b]) == (0 < t < length)
            if text:
                numbers.append(text)
                total += int(text)
            wanted = [int(digit) for digit in str(total)]
            wanted += [10] * (task.digits + 1 - len(wanted))
            if batch.scored[t, b]:
                assert batch.targets[t, b].tolist() == wanted
        assert batch.difficulty[b] == pytest.approx(sum(map(len, numbers)) / len(numbers))
        sequences.append(numbers)
    return sequences


def test_sums_at_every_number_of_digits_and_in_training() -> None:
    task = Addition()
    batch = task.evaluation_sets(40)["test"]
    sequences = check_against_brute_force(task, batch)
    assert [[len(text) for text in numbers] for numbers in sequences] == [
        [digits] * 3 for digits in range(1, 6) for _ in range(40)
    ]
    trained = check_against_brute_force(task, task.training_block(0, 0, 32))
    assert any(text.startswith("0") and len(text) > 1 for numbers in trained for text in numbers)


def test_the_loss_of_a_vector_is_the_sum_over_its_places() -> None:
    task = Addition(digits=2, length=(2, 2), test_length=2)
    batch = task.parse("12 3").torch()
    loss = task.loss(torch.zeros(2, 1, task.output_size), batch)
    assert loss[:, 0].tolist() == pytest.approx([0.0, 3 * np.log(11)])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.from_regex(r"[0-9]{1,5}", fullmatch=True), min_size=1, max_size=5))
def test_a_sequence_is_parsed_and_described(numbers: list[str]) -> None:
    task = Addition()
    batch = task.parse(" ".join(numbers))
    assert check_against_brute_force(task, batch) == [numbers]
    outputs = torch.zeros(len(numbers), 1, 66)
    outputs[..., 3] = outputs[..., 21] = outputs[..., 22 + 4] = 1.0  # 3, end, 4, then zeros
    steps = task.describe(outputs, batch, 0)
    assert [step["input"] for step in steps] == numbers
    sums = [str(sum(map(int, numbers[: t + 1]))) for t in range(len(numbers))]
    assert [step["target"] for step in steps] == ["", *sums[1:]]
    assert [step["prediction"] for step in steps] == ["", *["3*4000"] * (len(numbers) - 1)]
