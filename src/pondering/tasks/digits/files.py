"""Reading images: idx files, the prepared arrays, and a picture of the user's own."""

from __future__ import annotations

import gzip
import math
import struct
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

from pondering.project.errors import UserError
from pondering.tasks.base import Array, random_stream

SIDE = 28  # pixels


class Origin(NamedTuple):
    """What a source of digits is, and where it comes from."""

    what: str
    origin: str


SOURCES = {
    "mnist": Origin(
        "MNIST's handwritten digits, 28x28 pixels", "MNIST (LeCun, Cortes, Burges), CC BY-SA 3.0"
    ),
    "sklearn_digits": Origin(
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

    MNIST keeps its own test set; the validation images are drawn from its 60,000 training images.
    "sklearn_digits" is a stand-in that needs no download: scikit-learn's bundled 8x8 digits,
    enlarged to the 20x20 box in a 28x28 frame that MNIST's digits fill.

    Args:
        data: "mnist" or "sklearn_digits".
        raw_folder: the folder of unpacked files, data/raw; not read for the stand-in.
        validation: images set apart for validation.

    Returns:
        {train, validation, test}_images (n, 28, 28) uint8 and {...}_labels (n,) uint8.

    Raises:
        UserError: another source, a file that is missing or damaged, too large a `validation`.
    """
    if data == "mnist":
        folder = Path(raw_folder) / "mnist"
        images, labels = _read_pair(folder, "train")
        test = _read_pair(folder, "t10k")
    elif data == "sklearn_digits":
        images, labels = _stand_in()
        order = random_stream("digits", "test", data).permutation(len(labels))
        first, rest = np.sort(order[:STAND_IN_TEST]), np.sort(order[STAND_IN_TEST:])
        test = images[first], labels[first]
        images, labels = images[rest], labels[rest]
    else:
        raise UserError(f"task.data: {data!r} is unknown; allowed: {', '.join(SOURCES)}")
    if not 1 <= validation < len(labels):
        raise UserError(
            f"task.validation: {validation} is not allowed; 1 to {len(labels) - 1} of {data}"
        )
    order = random_stream("digits", "validation", data).permutation(len(labels))
    first, rest = np.sort(order[:validation]), np.sort(order[validation:])
    arrays = (images[rest], labels[rest], images[first], labels[first], *test)
    return dict(zip(PARTS, arrays, strict=True))


def _read_pair(folder: Path, name: str) -> tuple[Array, Array]:
    """Images and labels of "train" or "t10k", checked against each other."""
    images = read_idx(folder / f"{name}-images-idx3-ubyte")
    labels = read_idx(folder / f"{name}-labels-idx1-ubyte")
    if images.shape[1:] != (SIDE, SIDE) or labels.shape != images.shape[:1]:
        raise UserError(
            f"{folder}: {name} images {images.shape} and labels {labels.shape} do not belong "
            f"together; allowed: (n, {SIDE}, {SIDE}) and (n,)"
        )
    if labels.size == 0 or labels.max() > 9:
        raise UserError(f"{folder}: {name} labels are not digits; allowed: 0 to 9")
    return images, labels


def read_idx(path: str | Path) -> Array:
    """Read an idx file of unsigned bytes, MNIST's format, packed by gzip or not.

    Args:
        path: the file.

    Returns:
        uint8 array of the shape that the file states.

    Raises:
        UserError: missing, unreadable, another format, truncated or too long.
    """
    try:
        content = Path(path).read_bytes()
        if content.startswith(b"\x1f\x8b"):
            content = gzip.decompress(content)
    except (OSError, EOFError) as failure:
        reason = "no such file" if isinstance(failure, FileNotFoundError) else str(failure)
        raise UserError(f"{path}: cannot be read ({reason}); run the download stage") from None
    if len(content) < 4 or content[:3] != b"\0\0\x08":
        raise UserError(f"{path}: not an idx file of bytes; it must begin with 00 00 08")
    start = 4 + 4 * content[3]
    if len(content) < start:
        raise UserError(f"{path}: truncated within its header, {len(content)} bytes")
    shape = struct.unpack(f">{content[3]}I", content[4:start])
    if len(content) - start != math.prod(shape):
        raise UserError(
            f"{path}: {len(content) - start:,} bytes of data where its header {shape} "
            f"says {math.prod(shape):,}"
        )
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape)


def _stand_in() -> tuple[Array, Array]:
    """scikit-learn's digits, (1797, 28, 28) uint8, and their labels."""
    from sklearn.datasets import load_digits  # bundled with scikit-learn: no download

    small, labels = load_digits(return_X_y=True)
    grow = _interpolation(8, 20)
    images = np.zeros((len(labels), SIDE, SIDE), np.uint8)
    grey = grow @ (small.reshape(-1, 8, 8) * (255 / 16)) @ grow.T
    # The last digits of a product differ between machines: a little more than half rounds up.
    images[:, 4:24, 4:24] = np.floor(grey + 0.500001).astype(np.uint8)
    return images, labels.astype(np.uint8)


def _interpolation(before: int, after: int) -> Array:
    """The matrix (after, before) that enlarges a line of pixels bilinearly."""
    place = np.clip((np.arange(after) + 0.5) * before / after - 0.5, 0, before - 1)
    weights: Array = np.maximum(0, 1 - np.abs(place[:, None] - np.arange(before)))
    return weights


def load_arrays(path: str | Path) -> dict[str, Array]:
    """Read the six arrays of `prepare` from an npz; other arrays in it are left alone.

    Args:
        path: an npz, compressed or not.

    Returns:
        as `prepare`.

    Raises:
        UserError: missing, damaged, or other arrays than digits; no pickle is ever loaded.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in PARTS}
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run the datasets stage") from None
    except (OSError, ValueError, KeyError, EOFError, AttributeError, zipfile.BadZipFile):
        raise UserError(f"{path}: not a file of prepared digits; run the datasets stage") from None
    for images, labels in zip(PARTS[::2], PARTS[1::2], strict=True):
        count = len(arrays[labels]) if arrays[labels].ndim else 0
        right = arrays[images].shape == (count, SIDE, SIDE) and count > 0
        if not right or {arrays[images].dtype, arrays[labels].dtype} != {np.dtype(np.uint8)}:
            raise UserError(f"{path}: {images} and {labels} are not digits; run the datasets stage")
    return arrays


def read_picture(path: str | Path) -> Array:
    """Read any picture as one digit: grey, 28x28, a bright digit on a dark background.

    Args:
        path: an image file in a format that Pillow reads.

    Returns:
        (28, 28) uint8; a picture of 28x28 keeps its pixels.

    Raises:
        UserError: missing or no picture.
    """
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as file:
            picture = file.convert("RGBA")
        paper = Image.new("RGBA", picture.size, "white")
        grey = Image.alpha_composite(paper, picture).convert("L")
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; give a picture of one digit") from None
    except (OSError, ValueError, SyntaxError, MemoryError, Image.DecompressionBombError):
        raise UserError(f"{path}: not a picture; give an image file of one digit") from None
    pixels = np.asarray(grey)
    border = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
    background = int(np.median(border))
    if grey.size != (SIDE, SIDE):
        grey = ImageOps.pad(grey, (SIDE, SIDE), Image.Resampling.BOX, color=background)
    pixels = np.asarray(grey)
    return 255 - pixels if background > 127 else pixels.copy()
