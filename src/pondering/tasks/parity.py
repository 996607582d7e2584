"""Parity: is the number of +1s in a vector of -1, 0 and +1 odd?"""

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
    check_whole,
    unlike_training,
)

if TYPE_CHECKING:
    from torch import Tensor

LAYOUTS = ("leading", "scattered")
SIGNS = {"+": 1, "-": -1, "0": 0}


@dataclass(frozen=True)
class Parity(SyntheticTask):
    """One vector of `bits` elements, some of them +1 or -1 and the rest 0.

    The difficulty is the number of nonzero elements. In training it is uniform over `train_nonzero`
    (both ends included). Each split of `test_nonzero` has every difficulty of its range. The
    `layout` says which elements are nonzero: the first ones (`leading`) or any (`scattered`).

    Source: Graves 2016, section 3.1; Banino et al. 2021, section 4.1. Both texts do not say which
    layout they use.
    """

    name: ClassVar[str] = "parity"
    title: ClassVar[str] = "Parity"
    question: ClassVar[str] = "Is the number of +1s in one vector odd?"
    counts: ClassVar[str] = "nonzero bits"

    bits: int
    layout: str
    train_nonzero: tuple[int, int]
    test_nonzero: dict[str, tuple[int, int]]

    def __post_init__(self) -> None:
        check_whole("task.bits", self.bits, 1, 4096)
        if self.layout not in LAYOUTS:
            allowed = " or ".join(LAYOUTS)
            raise UserError(f"task.layout: {self.layout!r} is not allowed; {allowed} is")
        span = check_span("task.train_nonzero", self.train_nonzero, 1, self.bits)
        object.__setattr__(self, "train_nonzero", span)
        if not isinstance(self.test_nonzero, dict) or not self.test_nonzero:
            raise UserError(
                f"task.test_nonzero: {self.test_nonzero!r} is not allowed; "
                "a range [first, last] by name of split is"
            )
        spans = {
            split: check_span(f"task.test_nonzero.{split}", span, 1, self.bits)
            for split, span in self.test_nonzero.items()
        }
        object.__setattr__(self, "test_nonzero", spans)

    @property
    def summary(self) -> str:
        return f"{self.bits} elements, {self.layout}"

    @property
    def levels(self) -> dict[str, tuple[int, int]]:
        """The numbers of nonzero elements; see `SyntheticTask`."""
        return self.test_nonzero

    @property
    def input_size(self) -> int:
        """D, the bits."""
        return self.bits

    @property
    def output_size(self) -> int:
        """C, one sigmoid."""
        return 1

    def draw(self, rng: np.random.Generator, count: int, difficulty: float | None = None) -> Batch:
        """Draw `count` vectors with `difficulty` nonzero elements, or as in training."""
        if difficulty is None:
            low, high = self.train_nonzero
            nonzero = rng.integers(low, high + 1, count)
        else:
            nonzero = np.full(count, min(int(difficulty), self.bits))
        elements = _signs(rng, (count, self.bits))
        elements *= np.arange(self.bits, dtype=np.int16) < nonzero.astype(np.int16)[:, None]
        if self.layout == "scattered":
            elements = rng.permuted(elements, axis=1)
        return _batch(elements, nonzero)

    def describe(self, outputs: Tensor, batch: Batch, row: int) -> list[dict[str, str]]:
        """One vector as +, - and 0, its parity, and the parity predicted."""
        marks = {value: mark for mark, value in SIGNS.items()}
        words = ("even", "odd")
        return [
            {
                "input": "".join(marks[int(value)] for value in batch.inputs[0, row]),
                "target": words[int(batch.targets[0, row])],
                "prediction": words[int(outputs[0, row, 0] > 0)],
            }
        ]

    def parse(self, text: str) -> Batch:
        """A vector from its signs, as in ``+-0+``, or from bits, as in ``10110``: 1 is +, 0 is -.

        Zeros are added at the end.

        Raises:
            UserError: neither signs nor bits, none, or more than `bits`.
        """
        signs = "".join(text.split())
        if set(signs) <= {"0", "1"}:
            signs = signs.translate(str.maketrans("10", "+-"))
        if not 1 <= len(signs) <= self.bits or not set(signs) <= set(SIGNS):
            raise UserError(
                f"parity: {text!r} is not allowed; 1 to {self.bits} of the signs + - 0 are, or as "
                "many bits (1 is +, 0 is -)"
            )
        elements = np.zeros((1, self.bits), dtype=np.int8)
        elements[0, : len(signs)] = [SIGNS[sign] for sign in signs]
        return _batch(elements, np.count_nonzero(elements, axis=1))

    def unlike(self, batch: Batch) -> list[str]:
        """Their number, or a zero out of place; see `Task`."""
        nonzero = int(batch.difficulty[0])
        unlike = unlike_training(nonzero, "nonzero elements", self.train_nonzero)
        if self.layout == "leading" and not batch.inputs[0, 0, :nonzero].all():
            unlike.append("a 0 before a + or -, in training all 0 come last")
        return unlike


def _signs(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """+1 or -1 by the top bit of a random byte, as NumPy draws 8-bit integers below 2."""
    positive = np.frombuffer(rng.bytes(shape[0] * shape[1]), dtype=np.int8) < 0
    signs: Array = positive.view(np.int8)
    signs *= 2
    signs -= 1
    return signs.reshape(shape)


def _batch(elements: Array, nonzero: Array) -> Batch:
    """Inputs and targets from elements (B, bits), of which `nonzero`, (B,), are not 0."""
    present = np.ones((1, len(elements)), dtype=np.bool_)
    inputs = elements.astype(np.float32)
    excess = inputs @ np.ones(inputs.shape[1], dtype=np.float32)  # faster than a sum, and exact
    return Batch(
        inputs=inputs[None],
        targets=((nonzero + excess.astype(np.int64)) // 2 % 2).astype(np.uint8)[None],
        mask=present,
        scored=present.copy(),
        difficulty=nonzero.astype(np.float32),
    )
