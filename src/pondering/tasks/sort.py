"""Sort: read numbers one at a time, then give their positions in ascending order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pondering.project.errors import UserError
from pondering.tasks.base import (
    Array,
    Batch,
    SyntheticTask,
    check_span,
    unlike_training,
)

if TYPE_CHECKING:
    from torch import Tensor

BOUND = 1000.0  # of a value that the user gives; drawn values stay below 7
FAR = 5.0  # one of two million draws is farther from 0


@dataclass(frozen=True)
class Sort(SyntheticTask):
    """A sequence of L standard normals, then L zero vectors for the answer.

    A vector is (value, 1 at the last value else 0). The targets, one per zero vector, are the
    positions 0 .. L - 1 of the values from the smallest to the largest. L is the difficulty. In
    training it is uniform over `length`; evaluation has every L of `length`. All 2 L vectors are
    pondered, the last L are scored.

    Source: Graves 2016, section 3.4.
    """

    name: ClassVar[str] = "sort"
    title: ClassVar[str] = "Sort"
    question: ClassVar[str] = "Putting a sequence of numbers in ascending order."
    counts: ClassVar[str] = "numbers to sort"

    length: tuple[int, int] = (2, 15)

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", check_span("task.length", self.length, 2, 255))

    @property
    def summary(self) -> str:
        return f"{self.length[0]} to {self.length[1]} numbers"

    @property
    def levels(self) -> dict[str, tuple[int, int]]:
        """The lengths; see `SyntheticTask`."""
        return {"test": self.length}

    @property
    def input_size(self) -> int:
        """D, the value and the flag."""
        return 2

    @property
    def output_size(self) -> int:
        """C, a softmax over positions."""
        return self.length[1]

    def draw(self, rng: np.random.Generator, count: int, difficulty: float | None = None) -> Batch:
        """Draw `count` sequences of `difficulty` values, or of lengths as in training."""
        low, high = self.length
        if difficulty is None:
            lengths = rng.integers(low, high + 1, count)
        else:
            lengths = np.full(count, int(difficulty))
        return _batch(rng.standard_normal((high, count), dtype=np.float32), lengths)

    def describe(self, outputs: Tensor, batch: Batch, row: int) -> list[dict[str, str]]:
        """The values, then the right and the predicted positions, counted from 0."""
        steps = []
        for time in range(int(batch.mask[:, row].sum())):
            scored = bool(batch.scored[time, row])
            steps.append(
                {
                    "input": "" if scored else f"{float(batch.inputs[time, row, 0]):.2f}",
                    "target": str(int(batch.targets[time, row])) if scored else "",
                    "prediction": str(int(outputs[time, row].argmax())) if scored else "",
                }
            )
        return steps

    def parse(self, text: str) -> Batch:
        """A sequence from its numbers, as in ``0.3 -1.2 2``; equal ones keep their order.

        Raises:
            UserError: a word is no finite number, or there are too few or too many.
        """
        words = text.replace(",", " ").split()
        high = self.length[1]
        try:
            values = np.array([float(word) for word in words])
        except ValueError:
            values = np.empty(0)
        if not 2 <= len(values) <= high or not (abs(values) <= BOUND).all():
            raise UserError(
                f"sort: {text!r} is not allowed; 2 to {high} numbers between -{BOUND:.0f} and "
                f"{BOUND:.0f} are (0.3 -1.2 2)"
            )
        return _batch(values.astype(np.float32)[:, None], np.array([len(values)]))

    def unlike(self, batch: Batch) -> list[str]:
        """The count or a value; see `Task`."""
        unlike = unlike_training(int(batch.difficulty[0]), "numbers", self.length)
        if (abs(batch.inputs[..., 0]) > FAR).any():
            unlike.append(f"a number beyond {FAR:g}, in training all are standard normal")
        return unlike


def _batch(values: Array, lengths: Array) -> Batch:
    """Inputs and targets from values (L, B), of which the first `lengths`, (B,), count."""
    longest = len(values)
    given = np.arange(longest)[:, None] < lengths
    order = np.where(given, values, np.inf).argsort(axis=0, kind="stable")
    time = np.arange(2 * longest)[:, None]
    mask = time < 2 * lengths
    scored = mask & (time >= lengths)
    inputs = np.zeros((*mask.shape, 2), dtype=np.float32)
    inputs[:longest, :, 0] = values * given
    inputs[..., 1] = time == lengths - 1
    place = np.clip(time - lengths, 0, longest - 1)
    return Batch(
        inputs=inputs,
        targets=(np.take_along_axis(order, place, axis=0) * scored).astype(np.uint8),
        mask=mask,
        scored=scored,
        difficulty=lengths.astype(np.float32),
    )
