"""Digits: rotation, batches, evaluation sets, scores and words."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pondering.project.errors import UserError
from pondering.tasks.base import Batch
from pondering.tasks.digits.files import prepare
from pondering.tasks.digits.task import DEVIATION, MEAN, Digits, _as_batch, rotate

UPRIGHT = Digits(
    train_rotation=0, test_rotations=(), test_angles=(), data="sklearn_digits", validation=200
)
ROTATED = replace(UPRIGHT, train_rotation=22.5, test_rotations=(22.5, 90), test_angles=(-30, 0, 45))


def slow_rotation(image: np.ndarray, degrees: float) -> np.ndarray:
    """Pixel by pixel: turn back about the centre, weigh the four neighbours, 0 outside."""
    height, width = image.shape
    turn = math.radians(degrees)
    result = np.zeros((height, width))
    for row in range(height):
        for column in range(width):
            x, up = column - (width - 1) / 2, (height - 1) / 2 - row
            from_x = x * math.cos(turn) + up * math.sin(turn) + (width - 1) / 2
            from_y = (height - 1) / 2 - (-x * math.sin(turn) + up * math.cos(turn))
            left, top = math.floor(from_x), math.floor(from_y)
            for r in (top, top + 1):
                for c in (left, left + 1):
                    if 0 <= r < height and 0 <= c < width:
                        weight = (1 - abs(from_y - r)) * (1 - abs(from_x - c))
                        result[row, column] += weight * image[r, c]
    return result


@settings(max_examples=20, deadline=None)
@given(st.lists(st.floats(-180, 180), min_size=1, max_size=3), st.integers(0, 2**32 - 1))
def test_rotation_equals_a_slow_rotation(angles: list[float], seed: int) -> None:
    images = np.random.default_rng(seed).random((len(angles), 28, 28)).astype(np.float32)
    turned = rotate(images, np.array(angles))
    assert turned.dtype == np.float32 and turned.shape == images.shape
    for image, angle, result in zip(images, angles, turned, strict=True):
        np.testing.assert_allclose(result, slow_rotation(image, angle), atol=1e-4)


def check_shapes(batch: Batch, count: int) -> None:
    assert batch.inputs.shape == (1, count, 784) and batch.inputs.dtype == np.float32
    assert batch.targets.shape == (1, count) and batch.targets.dtype == np.int64
    for part in (batch.mask, batch.scored):
        assert part.shape == (1, count) and part.dtype == np.bool_ and part.all()
    assert batch.difficulty.shape == (count,) and batch.difficulty.dtype == np.float32


def test_pixels_are_normalised_as_mnist() -> None:
    images = prepare("sklearn_digits", "", 200)["validation_images"]
    batch = UPRIGHT.validation_batch()
    check_shapes(batch, 200)
    expected = (images.reshape(200, 784) / 255 - MEAN) / DEVIATION
    np.testing.assert_allclose(batch.inputs[0], expected, atol=1e-5)
    np.testing.assert_array_equal(UPRIGHT.pixels(batch.torch(), 7), images[7])


def rows_of(task: Digits, batch: Batch) -> list[int]:
    """The number of the training image in each row."""
    images = prepare(task.data, "", task.validation)["train_images"]
    index = {image.tobytes(): row for row, image in enumerate(images)}
    return [
        index[UPRIGHT.pixels(batch.torch(), row).tobytes()] for row in range(batch.inputs.shape[1])
    ]


def test_an_epoch_shows_every_image_at_most_once() -> None:
    assert UPRIGHT.updates_per_epoch(100) == 12
    blocks = [UPRIGHT.training_block(3, block, 100) for block in range(3)]
    for block in blocks:
        check_shapes(block, 800)
    rows = [row for block in blocks for row in rows_of(UPRIGHT, block)]
    assert len(set(rows[:1200])) == 1200  # 12 updates: one epoch, its rest of 37 dropped
    assert len(set(rows[1200:])) == 1200
    assert rows[:1200] != rows[1200:]
    labels = prepare("sklearn_digits", "", 200)["train_labels"]
    np.testing.assert_array_equal(blocks[0].targets[0], labels[rows[:800]])


def test_training_angles_are_uniform_within_the_limit() -> None:
    blocks = [ROTATED.training_block(0, block, 128) for block in range(4)]
    sizes = np.sort(np.concatenate([block.difficulty for block in blocks]))
    assert sizes[-1] <= 22.5
    ranks = (np.arange(len(sizes)) + 0.5) / len(sizes)
    assert np.abs(sizes / 22.5 - ranks).max() < 1.63 / math.sqrt(len(sizes))  # Kolmogorov, 1%
    upright = replace(ROTATED, train_rotation=0).training_block(0, 0, 128)
    straight = rotate(upright.inputs.reshape(-1, 28, 28) * DEVIATION + MEAN, np.zeros(1024))
    turned = blocks[0].inputs.reshape(-1, 28, 28) * DEVIATION + MEAN
    # Each image has another angle, of either sign.
    either = [rotate(straight, sign * blocks[0].difficulty) for sign in (1, -1)]
    errors = np.stack([np.abs(image - turned).max(axis=(1, 2)) for image in either])
    assert errors.min(axis=0).max() < 1e-4
    assert 0.4 < (errors[0] < errors[1]).mean() < 0.6


def test_validation_follows_the_training_law_and_is_frozen() -> None:
    first, second = ROTATED.validation_batch(), replace(ROTATED).validation_batch()
    np.testing.assert_array_equal(first.inputs, second.inputs)
    assert 20 < first.difficulty.max() <= 22.5
    assert UPRIGHT.validation_batch().difficulty.max() == 9  # the class


def test_upright_evaluation_is_the_whole_test_set_by_class() -> None:
    sets = UPRIGHT.evaluation_sets(10)
    assert list(sets) == ["test"]
    check_shapes(sets["test"], 360)
    np.testing.assert_array_equal(sets["test"].difficulty, sets["test"].targets[0])
    labels = prepare("sklearn_digits", "", 200)["test_labels"]
    np.testing.assert_array_equal(sets["test"].targets[0], labels)


def test_rotated_evaluation_has_its_examples_at_every_angle() -> None:
    sets = ROTATED.evaluation_sets(50)
    assert list(sets) == ["range", "angle"]
    check_shapes(sets["range"], 100)
    check_shapes(sets["angle"], 150)
    assert sets["range"].difficulty.tolist() == [22.5] * 50 + [90] * 50
    assert sets["angle"].difficulty.tolist() == [-30] * 50 + [0] * 50 + [45] * 50
    images = sets["angle"].inputs.reshape(3, 50, 28, 28) * DEVIATION + MEAN
    for place, angle in ((0, -30), (2, 45)):
        expected = rotate(images[1], np.full(50, angle))
        np.testing.assert_allclose(images[place], expected, atol=1e-4)
    targets = sets["range"].targets[0].reshape(2, 50)
    np.testing.assert_array_equal(targets[0], targets[1])  # the same images everywhere
    everything = ROTATED.evaluation_sets(10_000)["angle"]
    check_shapes(everything, 3 * 360)


def test_validation_images_are_no_training_or_test_images() -> None:
    def images(batch: Batch) -> set[bytes]:
        return {batch.inputs[0, b].tobytes() for b in range(batch.inputs.shape[1])}

    validation = UPRIGHT.evaluation_sets(10, "validation")["test"]
    check_shapes(validation, 200)
    upright = replace(ROTATED, train_rotation=0.0)
    turned = upright.evaluation_sets(10_000, "validation")["angle"]
    rows = turned.difficulty == 0
    assert {turned.inputs[0, b].tobytes() for b in np.flatnonzero(rows)} == images(validation)
    training = [UPRIGHT.training_block(0, block, 157) for block in range(2)]
    assert len(images(validation)) == 200 and len(set.union(*map(images, training))) > 1200
    for other in (*training, UPRIGHT.evaluation_sets(1)["test"]):
        assert not images(validation) & images(other)


def test_angles_of_a_range_are_uniform_within_it() -> None:
    """The test finds each angle by trying every whole degree."""
    ranges = replace(ROTATED, test_rotations=(0, 90), test_angles=())
    sets = ranges.evaluation_sets(100)
    assert list(sets) == ["range"]
    upright, turned = sets["range"].inputs.reshape(2, 100, 28, 28) * DEVIATION + MEAN
    degrees = np.arange(-90, 91)
    errors = [np.abs(rotate(upright, np.full(100, a)) - turned).sum(axis=(1, 2)) for a in degrees]
    angles = np.sort(degrees[np.argmin(errors, axis=0)])
    ranks = (np.arange(100) + 0.5) / 100
    assert np.abs(angles / 180 + 0.5 - ranks).max() < 1.63 / math.sqrt(100)  # Kolmogorov, 1%
    assert list(replace(ROTATED, test_rotations=()).evaluation_sets(1)) == ["angle"]


def test_a_batch_may_have_one_image_to_all_images() -> None:
    assert [UPRIGHT.updates_per_epoch(batch) for batch in (1, 1237)] == [1237, 1]
    for batch in (0, 1238):
        refusal = rf"training\.batch: {batch} is not allowed; 1 to 1237"
        with pytest.raises(UserError, match=refusal):
            UPRIGHT.training_block(0, 0, batch)


def test_the_prepared_arrays_follow_the_tasks_values() -> None:
    found = replace(UPRIGHT, validation=150).prepared(Path("read by no stand-in"))
    wanted = prepare("sklearn_digits", "", 150)
    assert found.keys() == wanted.keys()
    for name, array in wanted.items():
        np.testing.assert_array_equal(found[name], array)


def test_describe_draws_the_image() -> None:
    image = np.zeros((28, 28), np.uint8)
    image[4:24, 13:15] = 255
    image[26:, 3] = 128  # the darkest of its shade
    batch = _as_batch(image[None] / 255, None, np.zeros(1))
    outputs = torch.zeros(1, 1, 10)
    outputs[0, 0, 7] = 1
    (step,) = UPRIGHT.describe(outputs, batch.torch(), 0)
    lines = step["input"].split("\n")
    assert [len(line) for line in lines] == [28] * 14
    assert lines[2:12] == [" " * 13 + "@@" + " " * 13] * 10 and lines[0].strip() == ""
    assert lines[13] == "   +" + " " * 24
    assert (step["target"], step["prediction"]) == ("?", "7")
    known = UPRIGHT.validation_batch()
    steps = UPRIGHT.describe(outputs.expand(1, 200, 10), known.torch(), 5)
    assert steps[0]["target"] == str(known.targets[0, 5])
