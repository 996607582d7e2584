"""Addition: read numbers digit by digit in one vector each, and keep their running sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pondering.project.errors import UserError
from pondering.tasks.base import (
    Array,
    Batch,
    SyntheticTask,
    all_right,
    check_span,
    check_whole,
    softmax_loss,
    unlike_training,
)

if TYPE_CHECKING:
    from torch import Tensor

END = 10  # the class of a place after the end of the sum
CLASSES = 11
MOST_NUMBERS = 10  # ten numbers of D digits sum to at most D + 1 digits


@dataclass(frozen=True)
class Addition(SyntheticTask):
    """A sequence of numbers of up to `digits` digits; the target is the sum so far.

    Inputs and targets have their most significant digit first. A number may begin with zeros, a
    sum does not. All `digits` + 1 places of the target are scored; a place after the sum's end has
    class 10. The first vector has no target. In training the length is uniform over `length`, the
    digits of each number over 1 .. `digits`. In evaluation every sequence has `test_length` numbers
    of equally many digits. That number is the difficulty; in training it is the mean over a
    sequence.

    Source: Graves 2016, section 3.3.
    """

    name: ClassVar[str] = "addition"
    title: ClassVar[str] = "Addition"
    question: ClassVar[str] = "The running sum of a sequence of decimal numbers."
    counts: ClassVar[str] = "digits per number"

    digits: int = 5
    length: tuple[int, int] = (1, 5)
    test_length: int = 3

    def __post_init__(self) -> None:
        check_whole("task.digits", self.digits, 1, 15)
        object.__setattr__(self, "length", check_span("task.length", self.length, 1, MOST_NUMBERS))
        check_whole("task.test_length", self.test_length, 2, MOST_NUMBERS)

    @property
    def summary(self) -> str:
        return f"up to {self.digits} digits, sequences of {self.length[0]} to {self.length[1]}"

    @property
    def levels(self) -> dict[str, tuple[int, int]]:
        """The numbers of digits; see `SyntheticTask`."""
        return {"test": (1, self.digits)}

    @property
    def input_size(self) -> int:
        """D, one-hot digits."""
        return 10 * self.digits

    @property
    def output_size(self) -> int:
        """C, a softmax of eleven for each place of the sum."""
        return CLASSES * (self.digits + 1)

    def draw(self, rng: np.random.Generator, count: int, difficulty: float | None = None) -> Batch:
        """Draw `count` sequences of numbers of `difficulty` digits, or as in training."""
        if difficulty is None:
            low, high = self.length
            lengths = rng.integers(low, high + 1, count)
            used = rng.integers(1, self.digits + 1, (high, count))
        else:
            high = self.test_length
            lengths = np.full(count, high)
            used = np.full((high, count), int(difficulty))
        used = used * (np.arange(high)[:, None] < lengths)
        return _batch(rng.integers(0, 10, (high, count, self.digits)), used)

    def _places(self, outputs: Tensor) -> Tensor:
        """The logits by place, (T, ..., B, places, 11)."""
        return outputs.reshape(*outputs.shape[:-1], self.digits + 1, CLASSES)

    def loss(self, outputs: Tensor, batch: Batch) -> Tensor:
        """Cross entropy summed over the places, in nats, (T, ..., B); see `Task`."""
        places = softmax_loss(self._places(outputs), batch.targets)
        return places.sum(dim=-1).where(batch.scored, 0.0)

    def correct(self, outputs: Tensor, batch: Batch) -> Tensor:
        """Whether all places of all sums are right, (..., B) bool; see `Task`."""
        right = self._places(outputs).argmax(dim=-1) == batch.targets
        return all_right(right.all(dim=-1), batch.scored)

    def describe(self, outputs: Tensor, batch: Batch, row: int) -> list[dict[str, str]]:
        """The numbers, the right and the predicted sums; * is class 10 before a digit."""
        predicted = self._places(outputs).argmax(dim=-1)
        steps = []
        for time in range(int(batch.mask[:, row].sum())):
            chunks = batch.inputs[time, row].reshape(self.digits, 10)
            scored = bool(batch.scored[time, row])
            steps.append(
                {
                    "input": "".join(str(int(chunk.argmax())) for chunk in chunks if chunk.any()),
                    "target": _written(batch.targets[time, row]) if scored else "",
                    "prediction": _written(predicted[time, row]) if scored else "",
                }
            )
        return steps

    def parse(self, text: str) -> Batch:
        """A sequence from its numbers, as in ``12 345 6``.

        Raises:
            UserError: a number is not all digits or has too many, or there are too many numbers.
        """
        words = text.replace("+", " ").split()
        longest = max(self.length[1], self.test_length)
        readable = all(word.isascii() and word.isdigit() for word in words)
        fits = all(len(word) <= self.digits for word in words)
        if not 1 <= len(words) <= longest or not readable or not fits:
            raise UserError(
                f"addition: {text!r} is not allowed; 1 to {longest} numbers of 1 to "
                f"{self.digits} digits are (12 345 6)"
            )
        digits = np.zeros((len(words), 1, self.digits), dtype=np.int64)
        for time, word in enumerate(words):
            digits[time, 0, : len(word)] = [int(digit) for digit in word]
        return _batch(digits, np.array([[len(word)] for word in words]))

    def unlike(self, batch: Batch) -> list[str]:
        """The number of numbers; see `Task`."""
        return unlike_training(len(batch.mask), "numbers", self.length)


def _written(classes: Array | Tensor) -> str:
    """The digits of a sum, without class 10 at its end."""
    return "".join("0123456789*"[int(each)] for each in classes).rstrip("*")


def _batch(digits: Array, used: Array) -> Batch:
    """Inputs and targets from digits (T, B, D), of which the first `used`, (T, B), count."""
    places = digits.shape[2]
    time, example, place = np.nonzero(np.arange(places) < used[..., None])
    inputs = np.zeros((*used.shape, 10 * places), dtype=np.float32)
    inputs[time, example, 10 * place + digits[time, example, place]] = 1
    mask = used > 0
    scored = mask.copy()
    scored[0] = False
    return Batch(
        inputs=inputs,
        targets=_sum_digits(_values(digits, used).cumsum(axis=0), places + 1),
        mask=mask,
        scored=scored,
        difficulty=(used.sum(axis=0) / mask.sum(axis=0)).astype(np.float32),
    )


def _values(digits: Array, used: Array) -> Array:
    """The numbers, (T, B), that the first `used` digits write; 0 for none."""
    values = np.zeros(used.shape, dtype=np.int64)
    for place in range(digits.shape[2]):
        values = np.where(place < used, 10 * values + digits[..., place], values)
    return values


def _sum_digits(sums: Array, places: int) -> Array:
    """The digits of each sum, most significant first, then END: (T, B) to (T, B, places)."""
    powers = 10 ** np.arange(1, places, dtype=np.int64)
    size = 1 + (sums[..., None] >= powers).sum(axis=-1)
    exponent = size[..., None] - 1 - np.arange(places)
    digit = sums[..., None] // 10 ** np.maximum(exponent, 0) % 10
    return np.where(exponent >= 0, digit, END).astype(np.uint8)
