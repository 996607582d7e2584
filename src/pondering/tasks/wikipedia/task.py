"""Wikipedia: read bytes of text and predict each next one."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from pondering.project.errors import UserError
from pondering.tasks.base import (
    Array,
    Batch,
    TextTask,
    check_whole,
    random_stream,
    read_arrays,
    unlike_training,
)
from pondering.tasks.wikipedia.made_text import KINDS, generate, text_kinds

if TYPE_CHECKING:
    from torch import Tensor

SOURCES = {"enwik8": 100_000_000, "enwik8-4000000": 4_000_000, "generated": 1_000_000}
SUMMARIES = {
    "enwik8": "enwik8",
    "enwik8-4000000": "the first 4,000,000 bytes of enwik8",
    "generated": "a wiki-like text made by this project",
}
PARTS = ("train", "validation", "heldout")
SYMBOLS = 256


def prepare(source: str, raw_folder: str | Path) -> dict[str, Array]:
    """The bytes of a text and their kinds.

    Args:
        source: "enwik8", "enwik8-4000000" (its first 4,000,000 bytes) or "generated".
        raw_folder: where `enwik8/<source>` lies; not read for "generated".

    Returns:
        "text" and "kinds", (n,) uint8; kinds index `made_text.KINDS`.

    Raises:
        UserError: the file is missing or has another size.
    """
    size = SOURCES[source]
    if source == "generated":
        text = generate(size)
        return {"text": text[:size], "kinds": text_kinds(text)[:size]}
    path = Path(raw_folder) / "enwik8" / source
    if not path.is_file() or path.stat().st_size != size:
        raise UserError(f"{path}: a file of {size} bytes is needed; the download stage writes it")
    text = np.fromfile(path, dtype=np.uint8)
    return {"text": text, "kinds": text_kinds(text)}


@functools.lru_cache(maxsize=2)
def _prepared(path: str | None, source: str) -> dict[str, Array]:
    """The arrays of `prepare`, read or generated once per process."""
    if path is not None:
        return read_arrays(path, ("text", "kinds"))
    if source == "generated":
        return prepare(source, "")
    raise UserError(f"task.path: {source!r} needs the file of its bytes; run the datasets stage")


@dataclass(frozen=True)
class Wikipedia(TextTask):
    """Sequences of `sequence` bytes from random places; the target of each byte is the next byte.

    The state starts at zero in every sequence. The text is cut at `splits` percent into training,
    validation and held-out bytes. There is no early stopping, so training does not use validation.
    Evaluation draws fixed windows of the training part, which the paper reports, and of the
    held-out part. Windows of the validation part set the thresholds of exit rules.

    The bytes come from `path`, an npz of the arrays of `prepare`; None only for "generated".

    Source: Graves 2016, section 3.5.
    """

    name: ClassVar[str] = "wikipedia"
    block_updates: ClassVar[int] = 8
    title: ClassVar[str] = "Wikipedia"
    question: ClassVar[str] = "Predicting the next byte of a text."
    unit: ClassVar[str] = "bits per character"
    worst_error: ClassVar[float] = 8.0  # of a uniform guess

    source: str
    sequence: int = 500
    splits: tuple[int, int, int] = (90, 5, 5)
    path: str | None = None

    def __post_init__(self) -> None:
        if self.source not in tuple(SOURCES):  # a dict cannot look a list up
            raise UserError(
                f"task.source: {self.source!r} is not allowed; {' or '.join(SOURCES)} is"
            )
        check_whole("task.sequence", self.sequence, 1, 100_000)
        splits = self.splits if isinstance(self.splits, list | tuple) else []
        whole = all(isinstance(each, int) and each > 0 for each in splits)
        if len(splits) != len(PARTS) or not whole or sum(splits) != 100:
            raise UserError(
                f"task.splits: {self.splits!r} is not allowed; three whole percentages above 0 "
                f"({', '.join(PARTS)}) that sum to 100 are"
            )
        object.__setattr__(self, "splits", tuple(splits))

    def split_name(self, split: str) -> str:
        """The part of the text; see `Task`."""
        return {"train": "training text", "heldout": "held-out text"}[split]

    def difficulty_label(self, split: str) -> str:
        """One value, the whole text; see `Task`."""
        return "the whole text"

    @property
    def summary(self) -> str:
        return f"{SUMMARIES[self.source]}, sequences of {self.sequence} bytes"

    @property
    def stand_in(self) -> bool:
        """True for the generated text."""
        return self.source == "generated"

    @property
    def origin(self) -> str:
        """The text's source."""
        return SUMMARIES[self.source]

    def prepared(self, raw: Path) -> dict[str, Array]:
        """The bytes and their kinds; see `Task` and `prepare`."""
        return prepare(self.source, raw)

    @property
    def input_size(self) -> int:
        """D, one-hot bytes (given by index)."""
        return SYMBOLS

    @property
    def output_size(self) -> int:
        """C, a softmax over bytes."""
        return SYMBOLS

    @property
    def _arrays(self) -> dict[str, Array]:
        """The text and its kinds, read at the first use."""
        return _prepared(self.path, self.source)

    def bounds(self, part: str) -> tuple[int, int]:
        """Begin and end of a part of the text: "train", "validation" or "heldout"."""
        index = PARTS.index(part)
        size = len(self._arrays["text"])
        first, last = (size * sum(self.splits[:cut]) // 100 for cut in (index, index + 1))
        return first, last

    def _windows(self, part: str, rng: np.random.Generator, count: int) -> Array:
        """Random windows of a part, sequence + 1 bytes each: indices into the text, (T + 1, B)."""
        first, last = self.bounds(part)
        if last - first < self.sequence + 1:
            raise UserError(
                f"task.sequence: {self.sequence} is not allowed; the {part} part of the text has "
                f"{last - first} bytes, so up to {last - first - 1} are"
            )
        starts = rng.integers(first, last - self.sequence, count)
        return np.arange(self.sequence + 1)[:, None] + starts

    def _drawn(self, part: str, rng: np.random.Generator, count: int) -> Batch:
        """Random windows of a part as a batch."""
        return _batch(self._arrays["text"][self._windows(part, rng, count)])

    def training_block(self, seed: int, block: int, batch: int) -> Batch:
        rng = random_stream(self.name, "train", seed, block)
        return self._drawn("train", rng, self.block_updates * batch)

    def evaluation_sets(self, examples: int, part: str = "test") -> dict[str, Batch]:
        """`examples` windows of the training text and of the held-out text.

        Part "validation" has "heldout" alone, from the validation part of the text.
        """
        both = {"train": "train", "heldout": "heldout"}
        places = both if part == "test" else {"heldout": "validation"}
        return {
            split: self._drawn(place, random_stream(self.name, part, place, 0), examples)
            for split, place in places.items()
        }

    def traced(self, count: int) -> tuple[Batch, Array]:
        """Held-out windows to trace, and the kind of each input, (T, B) names in `KINDS`.

        Every other window lies around an ID number, which is rare in random windows (claim G10).
        """
        text, kinds = self._arrays["text"], self._arrays["kinds"]
        rng = random_stream(self.name, "test", "trace")
        windows = self._windows("heldout", rng, count)
        first, last = self.bounds("heldout")
        digits = np.flatnonzero(kinds[first:last] == KINDS.index("id")) + first
        begins = digits[np.diff(digits, prepend=-1) > 1]
        if len(begins):
            chosen = begins[np.linspace(0, len(begins) - 1, count // 2).astype(int)]
            before = rng.integers(self.sequence // 4, self.sequence // 2 + 1, count // 2)
            starts = np.clip(chosen - before, first, last - self.sequence - 1)
            windows[:, 1::2] = np.arange(self.sequence + 1)[:, None] + starts
        return _batch(text[windows]), np.array(KINDS)[kinds[windows[:-1]]]

    def error(self, outputs: Tensor, batch: Batch) -> Tensor:
        """Bits per character of each sequence, (..., B)."""
        count: Tensor = batch.scored.sum(dim=0)
        nats = sum(self.loss(outputs, batch).unbind(), outputs.new_zeros(()))
        return nats / (count * math.log(2))

    def entropy(self, outputs: Tensor) -> Tensor:
        """Entropy of each prediction in nats: (T, ..., B, C) to (T, ..., B)."""
        log_p = outputs.log_softmax(dim=-1)
        return -(log_p.exp() * log_p).sum(dim=-1)

    def describe(self, outputs: Tensor, batch: Batch, row: int) -> list[dict[str, str]]:
        """One window, character by character."""
        predicted = outputs[:, row].argmax(dim=-1)
        parts = (batch.inputs[:, row], batch.targets[:, row], predicted)
        return [
            dict(zip(("input", "target", "prediction"), map(_character, values), strict=True))
            for values in zip(*(part.tolist() for part in parts), strict=True)
        ]

    def parse(self, text: str) -> Batch:
        """The bytes of any text in UTF-8, each but the last an input.

        Raises:
            UserError: the text has fewer than two bytes.
        """
        window = np.array(list(text.encode(errors="surrogateescape")), dtype=np.uint8)
        if len(window) < 2:
            raise UserError(f"wikipedia: {text!r} is not allowed; a text of two bytes or more is")
        return _batch(window[:, None])

    def unlike(self, batch: Batch) -> list[str]:
        """Its length; see `Task`."""
        return unlike_training(len(batch.mask), "bytes", (1, self.sequence))


def _character(byte: int) -> str:
    """A byte as one character; a control or a part of a UTF-8 character as U+FFFD."""
    return chr(byte) if 32 <= byte < 127 or byte in b"\n\t" else "\N{REPLACEMENT CHARACTER}"


def _batch(windows: Array) -> Batch:
    """Inputs and targets from windows of bytes, (T + 1, B)."""
    mask = np.ones((len(windows) - 1, windows.shape[1]), dtype=np.bool_)
    return Batch(
        inputs=windows[:-1],
        targets=windows[1:],
        mask=mask,
        scored=mask.copy(),
        difficulty=np.zeros(windows.shape[1], dtype=np.float32),
    )
