"""Image files: idx, the split, the stand-in, prepared arrays and a user's picture."""

from __future__ import annotations

import math
import os
import struct
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pondering.data.fetch import fetch_all
from pondering.data.frozen import write_arrays
from pondering.params.read import load_params
from pondering.project.errors import UserError
from pondering.tasks.digits.files import prepare, read_idx, read_picture
from pondering.tasks.digits.task import DEVIATION, MEAN, Digits

ROOT = Path(__file__).parents[2]
DIGITS = Digits(
    train_rotation=0, test_rotations=(), test_angles=(), data="sklearn_digits", validation=200
)
PARTS = {"train": 1237, "validation": 200, "test": 360}


def idx(array: np.ndarray) -> bytes:
    """The bytes of an idx file, written from its description."""
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def tiny_mnist(folder: Path, counts: tuple[int, int] = (60, 20)) -> Path:
    rng = np.random.default_rng(1)
    (folder / "mnist").mkdir(parents=True)
    for name, count in zip(("train", "t10k"), counts, strict=True):
        images = rng.integers(0, 256, (count, 28, 28), dtype=np.uint8)
        labels = rng.integers(0, 10, count, dtype=np.uint8)
        (folder / f"mnist/{name}-images-idx3-ubyte").write_bytes(idx(images))
        (folder / f"mnist/{name}-labels-idx1-ubyte").write_bytes(idx(labels))
    return folder


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    """The folder of MNIST's four files, a few images long."""
    return tiny_mnist(tmp_path)


@pytest.fixture
def arrays(raw: Path) -> dict[str, np.ndarray]:
    return prepare("mnist", raw, 10)


def test_idx_is_read(tmp_path: Path) -> None:
    array = np.arange(2 * 3 * 5, dtype=np.uint8).reshape(2, 3, 5)
    (tmp_path / "a").write_bytes(idx(array))
    np.testing.assert_array_equal(read_idx(tmp_path / "a"), array)
    with pytest.raises(UserError, match="no such file; run the download stage"):
        read_idx(tmp_path / "b")


def test_mnist_is_split_without_loss(raw: Path, arrays: dict[str, np.ndarray]) -> None:
    assert {name: array.shape for name, array in arrays.items()} == {
        "train_images": (50, 28, 28), "train_labels": (50,),
        "validation_images": (10, 28, 28), "validation_labels": (10,),
        "test_images": (20, 28, 28), "test_labels": (20,),
    }  # fmt: skip
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.uint8)}
    images = read_idx(raw / "mnist/train-images-idx3-ubyte")
    labels = read_idx(raw / "mnist/train-labels-idx1-ubyte")
    pairs = sorted((i.tobytes(), int(n)) for i, n in zip(images, labels, strict=True))
    split = sorted(
        (image.tobytes(), int(label))
        for part in ("train", "validation")
        for image, label in zip(arrays[f"{part}_images"], arrays[f"{part}_labels"], strict=True)
    )
    assert split == pairs
    test = read_idx(raw / "mnist/t10k-images-idx3-ubyte")
    np.testing.assert_array_equal(arrays["test_images"], test)
    assert not np.array_equal(arrays["validation_images"], images[:10])
    assert not np.array_equal(arrays["validation_images"], images[-10:])


@pytest.mark.parametrize(
    ("data", "validation", "reason"),
    [
        ("mnist", 60, "task.validation: 60 is not allowed; 1 to 59"),
        ("mnist", 0, "task.validation: 0"),
        ("sklearn_digits", 1437, "task.validation: 1437 is not allowed; 1 to 1436"),
    ],
)
def test_wrong_sizes_are_refused(raw: Path, data: str, validation: int, reason: str) -> None:
    with pytest.raises(UserError, match=reason):
        prepare(data, raw, validation)


def test_stand_in_enlarges_bilinearly() -> None:
    """Within the inner 20 x 20 pixels, as MNIST's digits are."""
    from sklearn.datasets import load_digits

    small = load_digits().images[:20] * 255 / 16
    arrays = prepare("sklearn_digits", "never read", 200)
    assert [len(arrays[f"{part}_labels"]) for part in PARTS] == list(PARTS.values())
    everything = np.concatenate([arrays[f"{part}_images"] for part in PARTS])
    known = {image.tobytes() for image in everything}
    for image in small:
        large = np.zeros((28, 28), np.uint8)
        for row in range(20):
            for column in range(20):
                y, x = (min(max((at + 0.5) * 0.4 - 0.5, 0), 7) for at in (row, column))
                top, left = min(int(y), 6), min(int(x), 6)
                value = sum(
                    image[top + down, left + right]
                    * (1 - abs(y - top - down))
                    * (1 - abs(x - left - right))
                    for down in (0, 1)
                    for right in (0, 1)
                )
                large[row + 4, column + 4] = math.floor(value + 0.5 + 1e-6)
        assert large.tobytes() in known


def test_bad_prepared_files_are_refused_by_name(
    tmp_path: Path, arrays: dict[str, np.ndarray]
) -> None:
    path = tmp_path / "mnist.npz"
    task = replace(DIGITS, data="mnist", validation=10)
    with pytest.raises(UserError, match="run the datasets stage"):
        task.training_block(0, 0, 4)
    task = replace(task, path=str(path))
    write_arrays(path, arrays)
    whole = path.read_bytes()
    flipped = [whole[:k] + bytes([whole[k] ^ 255]) + whole[k + 1 :] for k in (34, 60, 400)]
    for content in (b"", b"text", whole[:-100], *flipped):
        path.write_bytes(content)
        with pytest.raises(UserError, match=r"mnist\.npz: truncated or damaged .*; delete it"):
            task.training_block(0, 0, 4)
    path.unlink()
    with pytest.raises(UserError, match=r"mnist\.npz: no such file; run `dvc repro`"):
        task.training_block(0, 0, 4)
    path.write_bytes(whole)
    assert task.training_block(0, 0, 4).inputs.shape == (1, 32, 784)


def picture(path: Path, array: np.ndarray, **how: Any) -> str:
    from PIL import Image

    Image.fromarray(array).save(path, **how)
    return str(path)


def test_picture_keeps_its_pixels_and_bright_paper_is_inverted(tmp_path: Path) -> None:
    image = prepare("sklearn_digits", "", 200)["test_images"][0]
    dark, bright = tmp_path / "dark.png", tmp_path / "bright.png"
    np.testing.assert_array_equal(read_picture(picture(dark, image)), image)
    np.testing.assert_array_equal(read_picture(picture(bright, 255 - image)), image)
    batch = DIGITS.parse(str(bright))
    np.testing.assert_array_equal(DIGITS.pixels(batch.torch(), 0), image)
    assert batch.inputs.shape == (1, 1, 784) and batch.mask.all() and not batch.scored.any()
    assert batch.targets.shape == batch.scored.shape == (1, 1) and batch.difficulty.shape == (1,)
    assert batch.inputs.dtype == np.float32 and batch.targets.dtype == np.int64


def test_large_pictures_in_colour_and_with_transparency(tmp_path: Path) -> None:
    ink = np.full((140, 280, 4), (255, 0, 0, 0), np.uint8)  # transparent: white paper shows
    ink[20:120, 130:150] = (0, 0, 128, 255)
    found = read_picture(picture(tmp_path / "one.png", ink))
    assert found.shape == (28, 28)
    assert found[9:19, 13:15].min() > 200  # the stroke, bright now
    assert found[:9].max() == 0 and found[:, :12].max() == 0  # paper, and the margin to a square


@pytest.mark.parametrize("content", [None, b"", b"no picture", b"\x89PNG\r\n\x1a\n" + bytes(30)])
def test_unreadable_pictures_are_refused_by_name(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "digit.png"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UserError, match=r"digit\.png: (no such file|not a picture)"):
        DIGITS.parse(str(path))
    with pytest.raises(UserError, match="not a picture"):
        DIGITS.parse(str(tmp_path))


@pytest.mark.skipif(
    "PONDERING_MIRROR" not in os.environ,
    reason="real MNIST (50 MB) is not in git; with PONDERING_MIRROR, a folder that has it, it runs",
)
def test_real_mnist(tmp_path: Path) -> None:
    download = load_params(ROOT / "params.yaml", "reduced").download
    fetch_all(download.needed("reduced", "mnist"), tmp_path / "raw", download.mirror)
    arrays = prepare("mnist", tmp_path / "raw", 5000)
    assert [len(arrays[f"{part}_labels"]) for part in PARTS] == [55_000, 5_000, 10_000]
    train = np.concatenate([arrays["train_images"], arrays["validation_images"]]) / np.float32(255)
    assert float(train.mean(dtype=np.float64)) == pytest.approx(MEAN, abs=5e-5)
    assert float(train.std(dtype=np.float64)) == pytest.approx(DEVIATION, abs=5e-5)
