"""A user's input: which of its properties no training example has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from pondering.project.errors import UserError
from pondering.tasks.addition import Addition
from pondering.tasks.base import Task
from pondering.tasks.digits.task import Digits
from pondering.tasks.logic import Logic
from pondering.tasks.parity import Parity
from pondering.tasks.sort import Sort
from pondering.tasks.wikipedia.task import Wikipedia

LEADING = Parity(8, "leading", (2, 6), {"test": (1, 8)})
SCATTERED = Parity(8, "scattered", (2, 6), {"test": (1, 8)})
LOGIC = Logic(gates=2, length=(2, 3), test_length=4)
ADDITION = Addition(digits=3, length=(2, 3), test_length=4)
SORT = Sort(length=(3, 5))
TEXT = Wikipedia("generated", sequence=5)


@pytest.mark.parametrize(
    ("task", "text", "unlike"),
    [
        (LEADING, "+-+", []),
        (LEADING, "+-+00", []),
        (LEADING, "10110", []),
        (LEADING, "+-+0+", ["a 0 before a + or -, in training all 0 come last"]),
        (LEADING, "+-+-+-+", ["7 nonzero elements, in training 2 to 6"]),
        (LEADING, "0+", ["1 nonzero elements, in training 2 to 6", "a 0 before a + or -, in"]),
        (SCATTERED, "+-+0+", []),
        (SCATTERED, "0", ["1 nonzero elements, in training 2 to 6"]),
        (LOGIC, "01 XOR; 1 AND OR", []),
        (LOGIC, "01 XOR", ["1 vectors, in training 2 to 3"]),
        (LOGIC, "01 XOR; 1 OR; 0 OR; 1 OR", ["4 vectors, in training 2 to 3"]),
        (ADDITION, "123 4", []),
        (ADDITION, "1 2 3 4", ["4 numbers, in training 2 to 3"]),
        (SORT, "3 -4.5 0", []),
        (SORT, "1 -5.5", ["2 numbers, in training 3 to 5", "a number beyond 5, in training all"]),
        (TEXT, "abcdef", []),
        (TEXT, "abcdefg", ["6 bytes, in training 1 to 5"]),
    ],
)
def test_properties_that_no_training_example_has_are_listed(
    task: Task, text: str, unlike: list[str]
) -> None:
    found = task.unlike(task.parse(text))
    assert len(found) == len(unlike)
    assert all(phrase.startswith(wanted) for phrase, wanted in zip(found, unlike, strict=True))


@pytest.mark.parametrize("task", [LEADING, SCATTERED, LOGIC, ADDITION, SORT, TEXT])
def test_for_training_examples_nothing_is_listed(task: Task) -> None:
    batch = task.training_block(0, 0, 2).torch()
    outputs = torch.zeros((*batch.mask.shape, task.output_size))
    for row in range(len(batch.difficulty)):
        words = [each["input"] for each in task.describe(outputs, batch, row)]
        text = ("; " if task is LOGIC else "" if task is TEXT else " ").join(words).strip()
        # the last byte of a text is no input
        written = text.replace("\N{REPLACEMENT CHARACTER}", "?") + "." * (task is TEXT)
        assert task.unlike(task.parse(written)) == []


def test_bits_are_signs() -> None:
    bits, signs = LEADING.parse("1 0110"), LEADING.parse("+-++-")
    assert all(np.array_equal(a, b) for a, b in zip(bits, signs, strict=True))
    for text in ("102", "1+0x", "1" * 9, ""):
        with pytest.raises(UserError, match=rf"^parity: '{text}' is".replace("+", r"\+")):
            LEADING.parse(text)


def test_for_a_picture_nothing_is_listed(tmp_path: Path) -> None:
    Image.new("L", (28, 28), 9).save(tmp_path / "nine.png")
    task = Digits(0.0, (), (), "sklearn_digits", 200)
    batch = task.parse(str(tmp_path / "nine.png"))
    assert batch.inputs.shape == (1, 1, 784) and task.unlike(batch) == []
