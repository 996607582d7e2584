"""Digits: name the digit of an image, upright or rotated."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from pondering.project.errors import UserError
from pondering.tasks.base import (
    Array,
    Batch,
    ImageTask,
    check_whole,
    concatenate,
    random_stream,
    read_arrays,
)
from pondering.tasks.digits.files import PARTS, SIDE, SOURCES, prepare, read_picture

if TYPE_CHECKING:
    from torch import Tensor

MEAN, DEVIATION = 0.1307, 0.3081  # of MNIST's training pixels, 0 to 1
CLASSES = 10
SHADES = " .:-=+*#%@"


def rotate(images: Array, angles: Array) -> Array:
    """Rotate each image about its centre, bilinearly; pixels from outside are 0.

    Args:
        images: (B, H, W) floats.
        angles: (B,) degrees, positive counter-clockwise as the image is seen.

    Returns:
        (B, H, W) float32.
    """
    import torch
    from torch.nn.functional import grid_sample

    count, height, width = images.shape
    radians = torch.deg2rad(torch.as_tensor(angles, dtype=torch.float32))[:, None, None]
    cos, sin = torch.cos(radians), torch.sin(radians)
    right = torch.arange(width) - (width - 1) / 2  # pixels from the centre
    down = torch.arange(height)[:, None] - (height - 1) / 2
    # The source of each pixel of the result, (B, H, W), in grid_sample's -1 to 1.
    from_right = (cos * right - sin * down) / ((width - 1) / 2)
    from_down = (sin * right + cos * down) / ((height - 1) / 2)
    rotated = grid_sample(
        torch.as_tensor(images, dtype=torch.float32)[:, None],
        torch.stack((from_right, from_down), dim=-1),
        mode="bilinear",
        padding_mode="zeros",
        align_corners=True,
    )
    return rotated.reshape(count, height, width).numpy()


@functools.lru_cache(maxsize=2)
def _prepared(path: str | None, data: str, validation: int) -> dict[str, Array]:
    """The arrays of `prepare`, read once per process."""
    if path is not None:
        return read_arrays(path, PARTS)
    if data == "sklearn_digits":
        return prepare(data, "", validation)
    raise UserError(
        f"task.path: {data!r} needs the file of prepared digits; run the datasets stage"
    )


@dataclass(frozen=True)
class Digits(ImageTask):
    """Images of digits in one of ten classes, upright or rotated by random angles.

    Source: the public notebook of PonderNet on MNIST, upright and rotated.

    Args:
        train_rotation: the largest angle of training and validation images, in degrees; angles are
            uniform between plus and minus this. 0: all are upright.
        test_rotations: for split "range": limits of uniform angles, in degrees.
        test_angles: for split "angle": fixed angles, in degrees.
        data: "mnist", or "sklearn_digits" for the stand-in that needs no download.
        validation: images set apart for validation.
        path: an npz of the arrays of `files.prepare`; None only for the stand-in.
    """

    name: ClassVar[str] = "digits"
    block_updates: ClassVar[int] = 8
    title: ClassVar[str] = "MNIST"
    question: ClassVar[str] = "Classifying handwritten digits."
    unit: ClassVar[str] = "error rate"

    train_rotation: float
    test_rotations: tuple[float, ...]
    test_angles: tuple[float, ...]
    data: str
    validation: int
    path: str | None = None

    def __post_init__(self) -> None:
        if self.data not in tuple(SOURCES):  # a dict cannot look a list up
            raise UserError(f"task.data: {self.data!r} is not allowed; {' or '.join(SOURCES)} is")
        check_whole("task.validation", self.validation, 1, 59_999)
        _check_angles("task.train_rotation", (self.train_rotation,), 0.0)
        for key, least in (("test_rotations", 0.0), ("test_angles", -180.0)):
            angles = _check_angles(f"task.{key}", getattr(self, key), least)
            object.__setattr__(self, key, angles)

    @property
    def input_size(self) -> int:
        """D = 784 pixels, row by row."""
        return SIDE * SIDE

    @property
    def output_size(self) -> int:
        """C = 10 classes."""
        return CLASSES

    @property
    def stand_in(self) -> bool:
        """Whether the digits replace MNIST."""
        return self.data != "mnist"

    def difficulty_label(self, split: str) -> str:
        """Angles or classes; see `Task`."""
        rotated = {"range": "rotated by up to (degrees)", "angle": "rotated by exactly (degrees)"}
        return rotated.get(split, "class of the digit")

    @property
    def summary(self) -> str:
        """The data and the task in a few words."""
        angle = f"turned by up to {self.train_rotation:g} degrees" if self.train_rotation else ""
        return f"{SOURCES[self.data].what}, {angle or 'upright'}"

    @property
    def origin(self) -> str:
        """Where the images come from."""
        return SOURCES[self.data].origin

    def prepared(self, raw: Path) -> dict[str, Array]:
        """Images and labels; see `Task` and `prepare`."""
        return prepare(self.data, raw, self.validation)

    def updates_per_epoch(self, batch: int) -> int:
        """Whole batches in one pass over the training images; a rest is dropped.

        Raises:
            UserError: the batch is larger than the training set.
        """
        count = len(self._arrays["train_labels"])
        if not 1 <= batch <= count:
            raise UserError(f"training.batch: {batch} is not allowed; 1 to {count} training images")
        return count // batch

    def training_block(self, seed: int, block: int, batch: int) -> Batch:
        """Training batches of 8 updates; each epoch is a new order of the images. See `Task`."""
        per_epoch = self.updates_per_epoch(batch)
        rows: list[Array] = []
        for update in range(block * self.block_updates, (block + 1) * self.block_updates):
            epoch, place = divmod(update, per_epoch)
            rows.append(self._order(seed, epoch)[place * batch : (place + 1) * batch])
        rng = random_stream(self.name, "train", seed, block)
        return self._drawn("train", np.concatenate(rows), rng)

    def validation_batch(self) -> Batch:
        """All validation images, with random angles as in training; always the same."""
        rows = np.arange(len(self._arrays["validation_labels"]))
        return self._drawn("validation", rows, random_stream(self.name, "validation", "angles"))

    def evaluation_sets(self, examples: int, part: str = "test") -> dict[str, Batch]:
        """Sets to evaluate with, arrays; `part` as in `Task`.

        Part "validation" has the validation images, with other angles: no other images are left.
        They give no gradient, but the plateau schedule uses them.

        Args:
            examples: images per angle or range of angles, the same for each; at most all.

        Returns:
            "range" (difficulty: largest angle) and "angle" (difficulty: the angle) if the fields
            name any; otherwise "test", all images of the part (difficulty: the class).
        """
        labels = self._arrays[f"{part}_labels"]
        if not self.test_rotations and not self.test_angles:
            upright = np.zeros(len(labels), np.float32)
            return {"test": self._batch(part, np.arange(len(labels)), upright, labels)}
        order = random_stream(self.name, part, "images").permutation(len(labels))
        rows = np.sort(order[:examples])
        sets: dict[str, list[Batch]] = {"range": [], "angle": []}
        for limit in self.test_rotations:
            rng = random_stream(self.name, part, "range", repr(limit))
            angles = rng.uniform(-limit, limit, len(rows)).astype(np.float32)
            sets["range"].append(self._batch(part, rows, angles, np.full(len(rows), limit)))
        for angle in self.test_angles:
            angles = np.full(len(rows), angle, np.float32)
            sets["angle"].append(self._batch(part, rows, angles, angles))
        return {split: concatenate(batches) for split, batches in sets.items() if batches}

    def pixels(self, batch: Batch, row: int) -> Array:
        """One image of a batch of tensors without replica axis, (28, 28) uint8, bright on dark."""
        image: Array = batch.inputs[0, row].cpu().numpy()
        grey: Array = np.rint((image * DEVIATION + MEAN) * 255).clip(0, 255)
        return grey.astype(np.uint8).reshape(SIDE, SIDE)

    def describe(self, outputs: Tensor, batch: Batch, row: int) -> list[dict[str, str]]:
        """One image drawn in characters, its class and the likeliest one; see `Task`."""
        grey = self.pixels(batch, row).astype(np.float64)
        lines = grey.reshape(SIDE // 2, 2, SIDE).mean(axis=1)  # characters are twice as high
        drawn = ["".join(SHADES[int(v * len(SHADES) / 256)] for v in line) for line in lines]
        known = bool(batch.scored[0, row])
        return [
            {
                "input": "\n".join(drawn),
                "target": str(int(batch.targets[0, row])) if known else "?",
                "prediction": str(int(outputs[0, row].argmax())),
            }
        ]

    def parse(self, text: str) -> Batch:
        """One image from the path of the user's picture; its class is not known.

        Raises:
            UserError: there is no picture at this path.
        """
        return _as_batch(read_picture(text)[None].astype(np.float32) / 255, None, np.zeros(1))

    @property
    def _arrays(self) -> dict[str, Array]:
        """The prepared arrays, read at the first use."""
        return _prepared(self.path, self.data, self.validation)

    def _order(self, seed: int, epoch: int) -> Array:
        """The order of the training images in one epoch."""
        rng = random_stream(self.name, "epoch", seed, epoch)
        return rng.permutation(len(self._arrays["train_labels"]))

    def _drawn(self, part: str, rows: Array, rng: np.random.Generator) -> Batch:
        """Images rotated as in training; difficulty: the size of the angle, or the class."""
        limit = self.train_rotation
        angles = rng.uniform(-limit, limit, len(rows)).astype(np.float32)
        labels = self._arrays[f"{part}_labels"][rows]
        return self._batch(part, rows, angles, np.abs(angles) if limit else labels)

    def _batch(self, part: str, rows: Array, angles: Array, difficulty: Array) -> Batch:
        """Some images, rotated, as a batch."""
        images = self._arrays[f"{part}_images"][rows].astype(np.float32)
        images /= 255
        if angles.any():
            images = rotate(images, angles)
        return _as_batch(images, self._arrays[f"{part}_labels"][rows], difficulty)


def _check_angles(key: str, values: Any, least: float) -> tuple[float, ...]:
    """A list of angles from `least` to 180 degrees, as a tuple of floats."""
    angles = values if isinstance(values, list | tuple) else None
    for angle in [values] if angles is None else angles:
        number = isinstance(angle, int | float) and not isinstance(angle, bool)
        if angles is None or not number or not least <= angle <= 180:
            raise UserError(f"{key}: {angle!r} is not allowed; degrees from {least:g} to 180 are")
    return tuple(float(angle) for angle in angles or ())


def _as_batch(images: Array, labels: Array | None, difficulty: Array) -> Batch:
    """Normalised vectors of length one in time, from (B, 28, 28) float32 of 0 to 1."""
    count = len(images)
    inputs = images - np.float32(MEAN)
    inputs /= np.float32(DEVIATION)
    targets = np.zeros((1, count), np.int64) if labels is None else labels.astype(np.int64)[None]
    scored = np.full((1, count), labels is not None)
    return Batch(
        inputs.reshape(1, count, SIDE * SIDE),
        targets,
        np.ones((1, count), bool),
        scored,
        difficulty.astype(np.float32),
    )
