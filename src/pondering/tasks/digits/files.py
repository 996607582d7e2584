"""Reading images: idx files, scikit-learn's digits, and a picture of the user."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pondering.project.errors import UserError
from pondering.tasks.base import Array, random_stream

SIDE = 28  # pixels


class Source(NamedTuple):
    """A source of digits, for data cards."""

    what: str
    origin: str


SOURCES = {
    "mnist": Source(
        "MNIST's handwritten digits, 28x28 pixels", "MNIST (LeCun, Cortes, Burges), CC BY-SA 3.0"
    ),
    "sklearn_digits": Source(
        "a stand-in for MNIST: scikit-learn's 8x8 digits enlarged to 28x28 pixels",
        "Optical Recognition of Handwritten Digits (Alpaydin, Kaynak; UCI), with scikit-learn",
    ),
}
STAND_IN_TEST = 360  # of scikit-learn's 1,797 digits, a fifth
PARTS = tuple(
    f"{s}_{kind}" for s in ("train", "validation", "test") for kind in ("images", "labels")
)


def prepare(data: str, raw_folder: str | Path, validation: int) -> dict[str, Array]:
    """Read one source of digits and split it.

    MNIST keeps its test set; the validation images come from its 60,000 training images.
    "sklearn_digits" needs no download: scikit-learn's bundled 8x8 digits, enlarged to 20x20 pixels
    in a 28x28 frame, as MNIST's digits are.

    Args:
        data: "mnist" or "sklearn_digits".
        raw_folder: the folder of unpacked files, data/raw; not read for "sklearn_digits".
        validation: number of validation images.

    Returns:
        {train, validation, test}_images (n, 28, 28) uint8 and {...}_labels (n,) uint8.

    Raises:
        UserError: a missing file, too large a `validation`.
    """
    if data == "mnist":
        folder = Path(raw_folder) / "mnist"
        images, labels = _read_pair(folder, "train")
        test = _read_pair(folder, "t10k")
    else:
        images, labels = _stand_in()
        order = random_stream("digits", "test", data).permutation(len(labels))
        first, rest = np.sort(order[:STAND_IN_TEST]), np.sort(order[STAND_IN_TEST:])
        test = images[first], labels[first]
        images, labels = images[rest], labels[rest]
    if not 1 <= validation < len(labels):
        raise UserError(
            f"task.validation: {validation} is not allowed; 1 to {len(labels) - 1} of {data}"
        )
    order = random_stream("digits", "validation", data).permutation(len(labels))
    first, rest = np.sort(order[:validation]), np.sort(order[validation:])
    arrays = (images[rest], labels[rest], images[first], labels[first], *test)
    return dict(zip(PARTS, arrays, strict=True))


def _read_pair(folder: Path, name: str) -> tuple[Array, Array]:
    """Images and labels of "train" or "t10k"."""
    images = read_idx(folder / f"{name}-images-idx3-ubyte")
    return images, read_idx(folder / f"{name}-labels-idx1-ubyte")


def read_idx(path: Path) -> Array:
    """Read an idx file of unsigned bytes, MNIST's format. The download checks its sha256.

    Returns:
        uint8 array of the shape in the file's header.

    Raises:
        UserError: there is no such file.
    """
    if not path.is_file():
        raise UserError(f"{path}: no such file; run the download stage")
    content = path.read_bytes()
    axes = content[3]
    shape = struct.unpack(f">{axes}I", content[4 : 4 + 4 * axes])
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape)


def _stand_in() -> tuple[Array, Array]:
    """scikit-learn's digits, enlarged bilinearly, (1797, 28, 28) uint8, and their labels."""
    from sklearn.datasets import load_digits  # bundled with scikit-learn: no download

    small, labels = load_digits(return_X_y=True)
    place = np.clip((np.arange(20) + 0.5) * 8 / 20 - 0.5, 0, 7)
    grow = np.maximum(0, 1 - np.abs(place[:, None] - np.arange(8)))  # a line of 8 pixels to 20
    images = np.zeros((len(labels), SIDE, SIDE), np.uint8)
    grey = grow @ (small.reshape(-1, 8, 8) * (255 / 16)) @ grow.T
    # A product's last digits differ between machines, so the rounding adds a little over one half.
    images[:, 4:24, 4:24] = np.floor(grey + 0.500001).astype(np.uint8)
    return images, labels.astype(np.uint8)


def read_picture(path: str | Path) -> Array:
    """Read a picture, in a format of Pillow, as one bright digit on a dark background.

    Returns:
        (28, 28) uint8; a picture of 28x28 keeps its pixels.

    Raises:
        UserError: there is no file, or it is not a picture.
    """
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as file:
            picture = file.convert("RGBA")
        paper = Image.new("RGBA", picture.size, "white")
        grey = Image.alpha_composite(paper, picture).convert("L")
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        raise UserError(f"{path}: not a picture; give an image file of one digit") from None
    pixels = np.asarray(grey)
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    background = int(np.median(border))
    if grey.size != (SIDE, SIDE):
        grey = ImageOps.pad(grey, (SIDE, SIDE), Image.Resampling.BOX, color=background)
    pixels = np.asarray(grey)
    return 255 - pixels if background > 127 else pixels.copy()
