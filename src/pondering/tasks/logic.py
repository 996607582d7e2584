"""Logic: apply the binary gates of each vector in turn, and carry the last bit to the next."""

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

# The truth of T(P, Q) for (P, Q) = TT, TF, FT, FF, in the order of Graves 2016, Table 1.
GATES = {
    "NOR": "FFFT",
    "Xq": "FFTF",
    "ABJ": "FTFF",
    "XOR": "FTTF",
    "NAND": "FTTT",
    "AND": "TFFF",
    "XNOR": "TFFT",
    "if/then": "TFTT",
    "then/if": "TTFT",
    "OR": "TTTF",
}
NAMES = tuple(GATES)
# By gate and 2 P + Q. The row after the gates is T(P, Q) = P: a place without a gate keeps the bit.
TRUTH = np.array([[mark == "T" for mark in reversed(row)] for row in (*GATES.values(), "TTFF")])
NO_GATE = len(NAMES)


@dataclass(frozen=True)
class Logic(SyntheticTask):
    """A sequence of vectors, each two bits b0, b1 and `gates` chunks of ten.

    The first chunks name gates T_1 .. T_B, the rest are zero. Then b_{i+1} = T_i(b_i, b_{i-1}): P
    is the newer bit, Q the older one. The target is b_{B+1}. After the first vector b0 is the last
    target, and the input has 0 in its place. In training the length is uniform over `length` and B
    uniform over 1 .. `gates` for each vector. In evaluation every sequence has `test_length`
    vectors of equally many gates. That number is the difficulty; in training it is the mean over a
    sequence.

    Source: Graves 2016, section 3.2, Eq. 21 and Table 1.
    """

    name: ClassVar[str] = "logic"
    title: ClassVar[str] = "Logic"
    question: ClassVar[str] = "Applying a chain of binary gates to two bits, along a sequence."
    counts: ClassVar[str] = "gates per vector"

    gates: int = 10
    length: tuple[int, int] = (1, 10)
    test_length: int = 5

    def __post_init__(self) -> None:
        check_whole("task.gates", self.gates, 1, 100)
        object.__setattr__(self, "length", check_span("task.length", self.length, 1, 1000))
        check_whole("task.test_length", self.test_length, 1, 1000)

    @property
    def summary(self) -> str:
        return f"up to {self.gates} gates, sequences of {self.length[0]} to {self.length[1]}"

    @property
    def levels(self) -> dict[str, tuple[int, int]]:
        """The numbers of gates; see `SyntheticTask`."""
        return {"test": (1, self.gates)}

    @property
    def input_size(self) -> int:
        """D, two bits and the one-hot gates."""
        return 2 + len(NAMES) * self.gates

    @property
    def output_size(self) -> int:
        """C, one sigmoid."""
        return 1

    def draw(self, rng: np.random.Generator, count: int, difficulty: float | None = None) -> Batch:
        """Draw `count` sequences with `difficulty` gates in each vector, or as in training."""
        if difficulty is None:
            low, high = self.length
            lengths = rng.integers(low, high + 1, count)
            used = rng.integers(1, self.gates + 1, (high, count))
        else:
            high = self.test_length
            lengths = np.full(count, high)
            used = np.full((high, count), int(difficulty))
        mask = np.arange(high)[:, None] < lengths
        bits = rng.integers(0, 2, (high, count, 2), dtype=np.uint8) * mask[..., None]
        bits[1:, :, 0] = 0
        gates = rng.integers(0, len(NAMES), (high, count, self.gates))
        gates[np.arange(self.gates) >= (used * mask)[..., None]] = NO_GATE
        return _batch(bits, gates, mask)

    def describe(self, outputs: Tensor, batch: Batch, row: int) -> list[dict[str, str]]:
        """One sequence in the notation of `parse`, with the bits wanted and predicted."""
        steps = []
        for time in range(int(batch.mask[:, row].sum())):
            vector = batch.inputs[time, row]
            shown = [str(int(bit)) for bit in vector[:2]]
            chunks = vector[2:].reshape(self.gates, len(NAMES))
            names = [NAMES[int(chunk.argmax())] for chunk in chunks if chunk.any()]
            steps.append(
                {
                    "input": " ".join(["".join(shown if time == 0 else shown[1:]), *names]),
                    "target": str(int(batch.targets[time, row])),
                    "prediction": str(int(outputs[time, row, 0] > 0)),
                }
            )
        return steps

    def parse(self, text: str) -> Batch:
        """A sequence as in ``01 XOR AND; 1 NOR``: bits b0 b1 (later only b1), then the gates.

        Raises:
            UserError: a vector has wrong bits, an unknown gate, none or too many of them.
        """
        vectors = [vector.split() for vector in text.split(";")]
        longest = max(self.length[1], self.test_length)
        if len(vectors) > longest:
            raise UserError(
                f"logic: {len(vectors)} vectors are not allowed; 1 to {longest} are, parted by ;"
            )
        bits = np.zeros((len(vectors), 1, 2), dtype=np.uint8)
        gates = np.full((len(vectors), 1, self.gates), NO_GATE)
        for time, words in enumerate(vectors):
            shown, indices = self._read(time, words)
            bits[time, 0, 2 - len(shown) :] = shown
            gates[time, 0, : len(indices)] = indices
        return _batch(bits, gates, np.ones((len(vectors), 1), dtype=np.bool_))

    def unlike(self, batch: Batch) -> list[str]:
        """The number of vectors; see `Task`."""
        return unlike_training(len(batch.mask), "vectors", self.length)

    def _read(self, time: int, words: list[str]) -> tuple[list[int], list[int]]:
        """The bits and the gate indices of one vector in words."""
        lower = [name.lower() for name in NAMES]
        size = 2 if time == 0 else 1
        bits, names = "".join(words[:1]), [word.lower() for word in words[1:]]
        readable = len(bits) == size and set(bits) <= {"0", "1"} and set(names) <= set(lower)
        if not readable or not 1 <= len(names) <= self.gates:
            raise UserError(
                f"logic: {' '.join(words)!r} is not allowed; {size} of the bits 0 1, then 1 to "
                f"{self.gates} of the gates {' '.join(NAMES)} are (01 XOR AND; 1 NOR)"
            )
        return [int(bit) for bit in bits], [lower.index(name) for name in names]


def _targets(bits: Array, gates: Array) -> Array:
    """The last bit of each vector, (T, B), from shown bits (T, B, 2) and gates (T, B, G)."""
    truth = TRUTH.astype(np.uint8).ravel()
    rows = np.ascontiguousarray(np.moveaxis(gates, 2, 1)) * TRUTH.shape[1]  # (T, G, B)
    targets = np.empty(bits.shape[:2], dtype=np.uint8)
    carried = bits[0, :, 0]
    for time, chunks in enumerate(rows):
        before, newest = carried, bits[time, :, 1]
        for chunk in chunks:
            before, newest = newest, truth[chunk + 2 * newest + before]
        targets[time] = carried = newest
    return targets


def _batch(bits: Array, gates: Array, mask: Array) -> Batch:
    """Inputs and targets from shown bits (T, B, 2), gates (T, B, G) and the mask (T, B)."""
    time, example, place = np.nonzero(gates != NO_GATE)
    inputs = np.zeros((*mask.shape, 2 + len(NAMES) * gates.shape[2]), dtype=np.float32)
    inputs[..., :2] = bits
    inputs[time, example, 2 + len(NAMES) * place + gates[time, example, place]] = 1
    used = (gates != NO_GATE).sum(axis=2)
    return Batch(
        inputs=inputs,
        targets=_targets(bits, gates) * mask,
        mask=mask,
        scored=mask.copy(),
        difficulty=(used.sum(axis=0) / mask.sum(axis=0)).astype(np.float32),
    )
