"""What a task is: it draws examples, scores outputs and describes both; it knows no training.

A new task is one file beside this one, with a subclass of `SyntheticTask` or `Task`, and one line
in `tasks/__init__.py`. Only the members that score outputs import torch.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pondering.project.errors import UserError

if TYPE_CHECKING:
    import torch
    from torch import Tensor

Array = NDArray[Any]


class Batch(NamedTuple):
    """Examples of one task, as NumPy arrays when drawn and as tensors when used.

    Time is the first axis; a vector task is a sequence of length one. The axes between time and
    batch (none, or K replicas) are written `...`.
    """

    inputs: Any  # (T, ..., B, D) float32, or (T, ..., B) integers: one-hot vectors by index
    targets: Any  # (T, ..., B) or (T, ..., B, parts)
    mask: Any  # (T, ..., B) bool: whether there is an input; elsewhere no ponder is counted
    scored: Any  # (T, ..., B) bool: whether there is a target; elsewhere no loss and no mistake
    difficulty: Any  # (..., B) float32, in the task's unit

    def torch(self, device: torch.device | str = "cpu") -> Batch:
        """The same batch as tensors on `device`."""
        import torch

        return Batch._make(torch.as_tensor(part).to(device) for part in self)

    def take(self, rows: Any) -> Batch:
        """Some examples, by a slice or by indices, of a batch without replica axis."""
        return Batch._make([*(part[:, rows] for part in self[:-1]), self.difficulty[rows]])

    def replicate(self, count: int) -> Batch:
        """A batch of tensors (T, B, ...) for `count` replicas: views (T, K, B, ...)."""
        parts = [p.unsqueeze(1).expand(p.shape[0], count, *p.shape[1:]) for p in self[:-1]]
        return Batch._make([*parts, self.difficulty.expand(count, -1)])


class Task(ABC):
    """The base of the tasks; T, B, D, C as in `Batch`.

    By default the output is one sigmoid where C is 1, else one softmax.
    """

    name: ClassVar[str]
    title: ClassVar[str]  # a heading on the pages
    question: ClassVar[str]  # a sentence
    unit: ClassVar[str]  # of an error, the label of an axis
    block_updates: ClassVar[int]  # updates that are drawn together
    worst_error: ClassVar[float] = 1.0  # of a replica that diverged

    def split_name(self, split: str) -> str:
        """The name of a split on the pages."""
        return split

    @abstractmethod
    def difficulty_label(self, split: str) -> str:
        """The unit of the difficulties of a split, the label of an axis."""

    @property
    @abstractmethod
    def summary(self) -> str:
        """The size of the task in a few words, for figure titles and data cards."""

    @property
    def stand_in(self) -> bool:
        """Whether the data replace those of the paper."""
        return False

    @property
    @abstractmethod
    def origin(self) -> str:
        """The source of the examples, in a few words."""

    @property
    @abstractmethod
    def input_size(self) -> int:
        """D, the size of one input vector."""

    @property
    @abstractmethod
    def output_size(self) -> int:
        """C, the size of one output vector."""

    @abstractmethod
    def training_block(self, seed: int, block: int, batch: int) -> Batch:
        """Training batches of updates block * block_updates ... of one seed.

        Returns:
            arrays with `block_updates * batch` examples, in the order of the updates. They depend
            on (task, seed, block, batch) alone.
        """

    def prepared(self, raw: Path) -> dict[str, Array]:
        """What the task reads from its `path`, from the downloaded files below `raw`.

        Empty for a task that draws its examples.
        """
        return {}

    @abstractmethod
    def evaluation_sets(self, examples: int, part: str = "test") -> dict[str, Batch]:
        """Evaluation sets by split, arrays with `examples` per difficulty.

        Part "test" has the frozen sets. Part "validation" has other examples of the same
        difficulties, for the thresholds of exit rules; neither the test sets nor gradients use
        them. (Plateau schedule and early stopping use those of digits too.)
        """

    def loss(self, outputs: Tensor, batch: Batch) -> Tensor:
        """The cross entropy of each vector in nats, (T, ..., B); zero where nothing is scored.

        Args:
            outputs: (T, ..., B, C), logits, with any further axes in front, such as the steps.
        """
        if self.output_size == 1:
            loss = sigmoid_loss(outputs[..., 0], batch.targets)
        else:
            loss = softmax_loss(outputs, batch.targets)
        return loss.where(batch.scored, 0.0)

    def correct(self, outputs: Tensor, batch: Batch) -> Tensor:
        """Whether each sequence is free of mistakes, (..., B) bool."""
        answers = outputs[..., 0] > 0 if self.output_size == 1 else outputs.argmax(dim=-1)
        return all_right(answers == batch.targets, batch.scored)

    def error(self, outputs: Tensor, batch: Batch) -> Tensor:
        """Each sequence's error, (..., B): 1.0 for any mistake; bits per character for text."""
        return (~self.correct(outputs, batch)).float()

    @abstractmethod
    def describe(self, outputs: Tensor, batch: Batch, row: int) -> list[dict[str, str]]:
        """One example in words: for each time {"input", "target", "prediction"}.

        Args:
            outputs: (T, B, C).
            batch: without replica axis.
            row: index of the example in B.
        """

    @abstractmethod
    def parse(self, text: str) -> Batch:
        """One example from the user's text, arrays with B = 1.

        Raises:
            UserError: the text is not an example of this task; the message says what is.
        """

    def unlike(self, batch: Batch) -> list[str]:
        """A phrase for each property of one example, B = 1, that no training example has."""
        return []


class TextTask(Task):
    """A task whose inputs are characters; single windows of the text are traced."""

    @abstractmethod
    def traced(self, count: int) -> tuple[Batch, Array]:
        """`count` windows of a text as arrays, and the kind of each character, (T, B) words."""


class ImageTask(Task):
    """A task whose inputs are images; the images with the most and fewest steps are traced."""

    @abstractmethod
    def pixels(self, batch: Batch, row: int) -> Array:
        """One image, (side, side) uint8, bright on dark."""


class SyntheticTask(Task):
    """A task whose examples are drawn by `draw`, not read from files."""

    counts: ClassVar[str]  # the unit of the difficulty
    block_updates: ClassVar[int] = 64
    unit: ClassVar[str] = "sequence error rate"

    @property
    def origin(self) -> str:
        """The source of the examples; see `Task`."""
        return "drawn by this project; training batches online, never stored"

    def difficulty_label(self, split: str) -> str:
        """The same for every split; see `Task`."""
        return self.counts

    @property
    @abstractmethod
    def levels(self) -> dict[str, tuple[int, int]]:
        """By split, the first and the last difficulty of its evaluation set."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, count: int, difficulty: float | None = None) -> Batch:
        """Draw `count` examples of one difficulty; None: as in training."""

    def training_block(self, seed: int, block: int, batch: int) -> Batch:
        rng = random_stream(self.name, "train", seed, block)
        return self.draw(rng, self.block_updates * batch)

    def evaluation_sets(self, examples: int, part: str = "test") -> dict[str, Batch]:
        """`examples` drawn at each difficulty of `levels`; see `Task`.

        The draws are independent. With few possible inputs (one nonzero bit of parity), the same
        input can be in both parts.
        """
        return {
            split: concatenate(
                [
                    self.draw(random_stream(self.name, part, split, level), examples, level)
                    for level in range(low, high + 1)
                ]
            )
            for split, (low, high) in self.levels.items()
        }


def random_stream(*names: str | int) -> np.random.Generator:
    """A counter-based random generator that depends on `names` alone.

    Equal names give equal streams on every machine; different names give independent streams. So
    training batches (`task, "train", seed, block`), evaluation sets (`task, "test", ...`) and the
    sets for thresholds (`task, "validation", ...`) never share numbers.
    """
    digest = hashlib.blake2b(repr(names).encode(), digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=np.frombuffer(digest, dtype=np.uint64)))


def concatenate(batches: list[Batch]) -> Batch:
    """Join batches of arrays of equal T along their batch axis."""
    columns = list(zip(*batches, strict=True))
    timed = [np.concatenate(parts, axis=1) for parts in columns[:-1]]
    return Batch._make([*timed, np.concatenate(columns[-1], axis=0)])


def read_arrays(path: str | Path, names: Iterable[str] | None = None) -> dict[str, Array]:
    """Arrays of an .npz of the datasets stage, by name; None: all. Nothing is unpickled.

    Raises:
        UserError: the file is missing or damaged, or lacks an array.
    """
    try:
        with np.load(path, allow_pickle=False) as archive:
            return {name: archive[name] for name in names or archive.files}
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run `dvc repro` first") from None
    except Exception as error:  # zipfile, zlib and numpy each raise their own on damaged bytes
        raise UserError(f"{path}: truncated or damaged ({error}); delete it and repro") from None


def unlike_training(count: int, what: str, trained: tuple[int, int]) -> list[str]:
    """A phrase if training never has this count of something; see `Task.unlike`."""
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
    from torch.nn.functional import logsigmoid

    signs = 2 * targets.to(logits.dtype) - 1
    return -logsigmoid(signs * logits)


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


def all_right(right: Tensor, scored: Tensor) -> Tensor:
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
