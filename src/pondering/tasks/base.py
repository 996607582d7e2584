"""What a task is: it draws examples, scores outputs and describes them, knowing no training.

A new task is one file beside this one with a class that has the members of `Task`, and one line
in `tasks/__init__.py`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from pondering.project.errors import UserError

Array = NDArray[Any]


class Batch(NamedTuple):
    """Examples of one task, as NumPy arrays when drawn and as tensors when used.

    Time comes first, so that a vector task is a sequence of length one. The axes between time
    and batch (none, or K replicas) are written `...`.
    """

    inputs: Any  # (T, ..., B, D) float32, or (T, ..., B) integers: one-hot vectors by index
    targets: Any  # (T, ..., B) or (T, ..., B, parts)
    mask: Any  # (T, ..., B) bool: an input is there; elsewhere no ponder is counted
    scored: Any  # (T, ..., B) bool: a target is there; elsewhere no loss and no mistake
    difficulty: Any  # (..., B) float32, in the task's own unit

    def torch(self, device: torch.device | str = "cpu") -> Batch:
        """The same batch as tensors on `device`."""
        return Batch._make(torch.as_tensor(part).to(device) for part in self)

    def take(self, rows: Any) -> Batch:
        """Some examples, chosen by a slice or by indices, of a batch without replica axis."""
        return Batch._make([*(part[:, rows] for part in self[:-1]), self.difficulty[rows]])

    def replicate(self, count: int) -> Batch:
        """A batch of tensors (T, B, ...) as `count` replicas see it: views (T, K, B, ...)."""
        parts = [p.unsqueeze(1).expand(p.shape[0], count, *p.shape[1:]) for p in self[:-1]]
        return Batch._make([*parts, self.difficulty.expand(count, -1)])


class Task(Protocol):
    """The members every task has; T, B, D, C as in `Batch`."""

    name: ClassVar[str]
    block_updates: ClassVar[int]
    title: ClassVar[str]  # a heading on the pages
    question: ClassVar[str]  # what it asks, a sentence
    unit: ClassVar[str]  # of an error, the label of an axis
    worst_error: ClassVar[float]  # of a replica that diverged

    def split_name(self, split: str) -> str:
        """What a split tests on, in words."""
        ...

    def difficulty_label(self, split: str) -> str:
        """What the difficulties of a split count, the label of an axis."""
        ...

    @property
    def summary(self) -> str:
        """Its size in a few words, for figure titles and data cards."""
        ...

    @property
    def stand_in(self) -> bool:
        """Whether the data stand in for those of the paper."""
        ...

    @property
    def origin(self) -> str:
        """Where its examples come from, in a few words."""
        ...

    @property
    def input_size(self) -> int:
        """D, the size of one input vector."""
        ...

    @property
    def output_size(self) -> int:
        """C, the size of one output vector."""
        ...

    def training_block(self, seed: int, block: int, batch: int) -> Batch:
        """Training batches of updates block * block_updates ... of one seed.

        Returns:
            a batch of arrays with `block_updates * batch` examples, in the order of the updates.
            It depends on (task, seed, block, batch) alone.
        """
        ...

    def evaluation_sets(self, examples: int, part: str = "test") -> dict[str, Batch]:
        """Sets to evaluate with: by split, `examples` per difficulty, arrays.

        Part "test" has the frozen sets; "validation" has others of the same difficulties, from
        streams and data that neither they nor gradients use: thresholds of exit rules are chosen
        on them. (Of digits a plateau schedule and early stopping use that data, too.)
        """
        ...

    def loss(self, outputs: Tensor, batch: Batch) -> Tensor:
        """The loss of each vector in nats, (T, ..., B); zero where nothing is scored.

        Args:
            outputs: (T, ..., B, C), logits, with any further axes in front, such as the steps.
        """
        ...

    def correct(self, outputs: Tensor, batch: Batch) -> Tensor:
        """Whether each sequence is free of any mistake, (..., B) bool."""
        ...

    def error(self, outputs: Tensor, batch: Batch) -> Tensor:
        """Each sequence's error, (..., B): 1 for any mistake; for text bits per character."""
        ...

    def describe(self, outputs: Tensor, batch: Batch, row: int) -> list[dict[str, str]]:
        """One example in words: for each time {"input", "target", "prediction"}.

        Args:
            outputs: (T, B, C); batch: without replica axis; row: which example of B.
        """
        ...

    def parse(self, text: str) -> Batch:
        """One example of the user's own, arrays with B = 1, from its written form.

        Raises:
            UserError: the text is not an example of this task; says what is.
        """
        ...

    def own_input(self, text: str) -> tuple[Batch, list[str]]:
        """The example that `parse` reads, and in what it is unlike those drawn in training.

        Nothing that trains or evaluates calls it.

        Returns:
            arrays with B = 1; a phrase for each property that no training example has.

        Raises:
            UserError: see `parse`.
        """
        ...


@runtime_checkable
class TextTask(Task, Protocol):
    """A task whose inputs are characters; single windows of the text are traced."""

    def traced(self, count: int) -> tuple[Batch, Array]:
        """`count` windows of a text as arrays, and what each character is, (T, B) words."""
        ...


@runtime_checkable
class ImageTask(Task, Protocol):
    """A task whose inputs are images; those that took the most and the fewest steps are traced."""

    def pixels(self, batch: Batch, row: int) -> Array:
        """One image, (side, side) uint8, bright on dark."""
        ...


def random_stream(*names: str | int) -> np.random.Generator:
    """A counter-based random generator that depends on `names` alone.

    Equal names give equal streams on every machine; any difference gives an independent one, so
    that training batches (`task, "train", seed, block`), evaluation sets (`task, "test", ...`) and
    those on which thresholds are chosen (`task, "validation", ...`) never share numbers.
    """
    digest = hashlib.blake2b(repr(names).encode(), digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=np.frombuffer(digest, dtype=np.uint64)))


@dataclass(frozen=True)
class SyntheticTask:
    """A task whose examples are drawn, not read: it needs its
    name, title, question and what its difficulty counts, and `draw`."""

    name: ClassVar[str]
    title: ClassVar[str]
    question: ClassVar[str]
    counts: ClassVar[str]  # what a difficulty counts, with its unit
    block_updates: ClassVar[int] = 64
    unit: ClassVar[str] = "sequence error rate"
    worst_error: ClassVar[float] = 1.0
    stand_in: ClassVar[bool] = False
    origin: ClassVar[str] = "drawn by this project; training batches online, never stored"

    def split_name(self, split: str) -> str:
        """Its own name; see `Task`."""
        return split

    def difficulty_label(self, split: str) -> str:
        """The same for every split; see `Task`."""
        return self.counts

    def draw(self, rng: np.random.Generator, count: int, difficulty: float | None = None) -> Batch:
        """Draw `count` examples, of one difficulty or, if None, as in training."""
        raise NotImplementedError

    def correct(self, outputs: Tensor, batch: Batch) -> Tensor:
        """Whether each sequence is free of any mistake, (..., B) bool."""
        raise NotImplementedError

    def error(self, outputs: Tensor, batch: Batch) -> Tensor:
        """1.0 for each sequence with any mistake, (..., B): the papers' sequence error."""
        return (~self.correct(outputs, batch)).float()

    def training_block(self, seed: int, block: int, batch: int) -> Batch:
        """Training batches of `block_updates` updates; see `Task`."""
        rng = random_stream(self.name, "train", seed, block)
        return self.draw(rng, self.block_updates * batch)


def concatenate(batches: list[Batch]) -> Batch:
    """Join batches of arrays of equal T along their batch axis."""
    columns = list(zip(*batches, strict=True))
    timed = [np.concatenate(parts, axis=1) for parts in columns[:-1]]
    return Batch._make([*timed, np.concatenate(columns[-1], axis=0)])


def frozen_set(
    task: SyntheticTask, split: str, levels: range, examples: int, part: str = "test"
) -> Batch:
    """`examples` drawn at each difficulty in `levels`, from streams that training never uses.

    Each `part`, "test" or "validation", has streams of its own. The draws are independent; where
    few inputs exist (one nonzero bit of parity), equal ones come up in both.
    """
    streams = {level: random_stream(task.name, part, split, level) for level in levels}
    return concatenate([task.draw(rng, examples, level) for level, rng in streams.items()])


def unlike_training(count: int, what: str, trained: tuple[int, int]) -> list[str]:
    """A phrase where so many of something were never drawn in training; see `Task.own_input`."""
    low, high = trained
    return [] if low <= count <= high else [f"{count} {what}, in training {low} to {high}"]


def sigmoid_loss(logits: Tensor, targets: Tensor) -> Tensor:
    """Binary cross entropy of sigmoid(logits), in nats, exact for confident outputs.

    Args:
        logits: (T, ..., B), with any further axes in front.
        targets: (T, ..., B), 0 or 1.

    Returns:
        shaped as `logits`.
    """
    signs = 2 * targets.to(logits.dtype) - 1
    return -F.logsigmoid(signs * logits)


def softmax_loss(logits: Tensor, classes: Tensor) -> Tensor:
    """Cross entropy of softmax(logits) over the last axis, in nats.

    Args:
        logits: (T, ..., B, C), with any further axes in front; B may be followed by parts.
        classes: (T, ..., B), integers below C; with parts if `logits` has them.

    Returns:
        shaped as `logits` without C.
    """
    index = classes.long().expand(logits.shape[:-1])
    chosen = logits.log_softmax(-1).gather(-1, index.unsqueeze(-1))
    return -chosen.squeeze(-1)


def where_scored(loss: Tensor, scored: Tensor) -> Tensor:
    """`loss`, (T, ..., B), with zeros where nothing is scored."""
    return torch.where(scored, loss, 0.0)


def faultless(right: Tensor, scored: Tensor) -> Tensor:
    """Whether every scored vector of a sequence is right: (T, ..., B) to (..., B), bool.

    `right` may have further axes in front, such as the ponder steps.
    """
    return (right | ~scored).all(dim=right.dim() - scored.dim())


def check_whole(key: str, value: object, low: int, high: int) -> None:
    """Refuse a `value` that is not a whole number in low .. high.

    Raises:
        UserError: names key, value and what is allowed.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise UserError(f"{key}: {value!r} is not allowed; a whole number from {low} to {high} is")


def check_span(key: str, value: object, low: int, high: int) -> tuple[int, int]:
    """A pair [first, last] of whole numbers, low <= first <= last <= high, as a tuple.

    Raises:
        UserError: names key, value and what is allowed.
    """
    numbers = list(value) if isinstance(value, list | tuple) else []
    whole = all(isinstance(each, int) and not isinstance(each, bool) for each in numbers)
    if len(numbers) != 2 or not whole or not low <= numbers[0] <= numbers[1] <= high:
        raise UserError(
            f"{key}: {value!r} is not allowed; two whole numbers [first, last] with "
            f"{low} <= first <= last <= {high} are"
        )
    return numbers[0], numbers[1]
