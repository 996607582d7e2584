"""Behaviour of all tasks: losses against plain loops, masks, streams, refused values."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch

from pondering.project.errors import UserError
from pondering.tasks import TASKS, base
from pondering.tasks.addition import MOST_NUMBERS, Addition
from pondering.tasks.base import (
    Batch,
    check_span,
    check_whole,
    random_stream,
    sigmoid_loss,
)
from pondering.tasks.digits.task import Digits
from pondering.tasks.logic import Logic
from pondering.tasks.parity import Parity
from pondering.tasks.sort import Sort
from pondering.tasks.wikipedia.task import Wikipedia

EACH = [
    Parity(bits=6, layout="scattered", train_nonzero=(1, 6), test_nonzero={"test": (1, 6)}),
    Logic(gates=3, length=(1, 4), test_length=3),
    Addition(digits=2, length=(2, 4), test_length=3),
    Sort(length=(2, 5)),
    Wikipedia("generated", sequence=12),
    Digits(20.0, (10.0,), (30.0,), "sklearn_digits", 200),
]
every_task = pytest.mark.parametrize("task", EACH, ids=lambda task: task.name)


def perfect_outputs(task: object, batch: Batch) -> torch.Tensor:
    """Logits that say the target everywhere, built with loops: (T, B, C)."""
    times, examples = batch.targets.shape[:2]
    outputs = torch.zeros(times, examples, task.output_size)
    for t in range(times):
        for b in range(examples):
            if batch.targets.ndim == 3:
                for place, digit in enumerate(batch.targets[t, b]):
                    outputs[t, b, 11 * place + int(digit)] = 9.0
            elif task.output_size == 1:
                outputs[t, b, 0] = 9.0 if batch.targets[t, b] == 1 else -9.0
            else:
                outputs[t, b, int(batch.targets[t, b])] = 9.0
    return outputs


def test_sigmoid_loss_of_sure_outputs_neither_overflows_nor_vanishes() -> None:
    loss = sigmoid_loss(torch.tensor([[20.0, -300.0]]), torch.tensor([[1, 1]]))
    assert float(loss[0, 0]) == pytest.approx(math.exp(-20), rel=1e-5)
    assert float(loss[0, 1]) == pytest.approx(300.0)


@every_task
def test_one_mistake_makes_its_sequence_wrong_and_no_other(task: object) -> None:
    batch = task.training_block(3, 0, 1).torch()
    outputs = perfect_outputs(task, batch)
    assert task.correct(outputs, batch).all() and (task.error(outputs, batch) < 0.1).all()
    for t, b in torch.nonzero(batch.scored).tolist():
        flawed = outputs.clone()
        flawed[t, b] = -flawed[t, b] - 1e-3 * torch.arange(task.output_size)
        right = task.correct(flawed, batch)
        assert not right[b]
        assert int(right.sum()) == len(right) - 1
        if task.worst_error == 1:
            assert torch.equal(task.error(flawed, batch), 1.0 - right.float())


@every_task
def test_an_unscored_vector_gives_no_loss_no_gradient_and_no_mistake(task: object) -> None:
    batch = task.training_block(4, 0, 1).torch()
    outputs = perfect_outputs(task, batch)
    outputs[~batch.scored] = torch.randn(
        int((~batch.scored).sum()), task.output_size, generator=torch.Generator().manual_seed(0)
    )
    outputs.requires_grad_()
    loss = task.loss(outputs, batch)
    loss.sum().backward()
    assert loss.shape == batch.scored.shape
    assert (loss[~batch.scored] == 0).all()
    assert (loss[batch.scored] > 0).all()
    assert (outputs.grad[~batch.scored] == 0).all()
    assert (outputs.grad[batch.scored] != 0).any(dim=-1).all()
    assert task.correct(outputs, batch).all()
    assert bool((batch.scored <= batch.mask).all())


@every_task
def test_steps_and_replicas_have_the_losses_of_each_alone(task: object) -> None:
    """There are as many steps as inputs, so no shape error would hide a mix-up of the two."""
    first, second = (task.training_block(seed, 0, 1).torch() for seed in (0, 1))
    both = Batch(
        *(torch.stack([a, b], dim=1) for a, b in zip(first[:4], second[:4], strict=True)),
        torch.stack([first.difficulty, second.difficulty]),
    )
    times, rows = first.mask.shape
    shape = (times, times, 2, rows, task.output_size)  # N, T, K, B, C
    outputs = torch.randn(shape, generator=torch.Generator().manual_seed(5))
    loss = task.loss(outputs, both)
    correct = task.correct(outputs, both)
    assert loss.shape == shape[:-1] and correct.shape == (times, *shape[2:-1])
    for n in range(times):
        for k, alone in enumerate((first, second)):
            assert torch.equal(loss[n, :, k], task.loss(outputs[n, :, k], alone))
            assert torch.equal(correct[n, k], task.correct(outputs[n, :, k], alone))


@every_task
def test_a_block_depends_on_its_seed_and_number_alone(task: object) -> None:
    block = task.training_block(0, 3, 2)
    task.training_block(0, 1, 2)
    task.evaluation_sets(2)
    for mine, again in zip(block, task.training_block(0, 3, 2), strict=True):
        np.testing.assert_array_equal(mine, again)
    assert block.inputs.shape[1] == 2 * task.block_updates
    for other in (task.training_block(0, 4, 2), task.training_block(1, 3, 2)):
        assert not np.array_equal(block.inputs, other.inputs)


@every_task
def test_training_and_evaluation_draw_from_different_streams(
    task: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Test sets and validation sets have different streams, too."""
    streams: list[tuple[str | int, ...]] = []

    def record(*names: str | int) -> np.random.Generator:
        streams.append(names)
        return random_stream(*names)

    monkeypatch.setattr(base, "random_stream", record)
    monkeypatch.setattr(f"{type(task).__module__}.random_stream", record, raising=False)
    for seed, block in itertools.product(range(3), range(3)):
        task.training_block(seed, block, 2)
    training = set(streams)
    parts = []
    for part in ("test", "validation"):
        streams.clear()
        task.evaluation_sets(3, part)
        parts.append(set(streams))
    assert len(training) >= 9 and parts[0]
    assert bool(parts[0]) == bool(parts[1])
    assert not training & parts[0] and not training & parts[1] and not parts[0] & parts[1]


@every_task
def test_validation_sets_have_other_examples_of_the_same_difficulties(task: object) -> None:
    frozen, validation = task.evaluation_sets(6), task.evaluation_sets(6, "validation")
    again = task.evaluation_sets(6, "validation")
    assert validation and set(validation) <= set(frozen)
    for split, batch in validation.items():
        np.testing.assert_array_equal(batch.inputs, again[split].inputs)
        assert set(batch.difficulty.tolist()) == set(frozen[split].difficulty.tolist())
        assert batch.inputs.shape[0] == frozen[split].inputs.shape[0]
        assert not np.array_equal(batch.inputs, frozen[split].inputs)


def test_streams_are_independent_and_repeatable() -> None:
    names = [("parity", "train", 0, 1), ("parity", "train", 1, 0), ("parity", "test", "test", 1)]
    draws = [random_stream(*name).random(1000) for name in names]
    np.testing.assert_array_equal(draws[0], random_stream(*names[0]).random(1000))
    correlation = np.corrcoef(draws) - np.eye(3)
    assert np.abs(correlation).max() < 0.15  # 4.7 standard errors


def test_every_task_is_listed_under_its_name() -> None:
    assert set(TASKS) == {"parity", "logic", "addition", "sort", "wikipedia", "digits"}
    assert all(kind.name == name for name, kind in TASKS.items())


@pytest.mark.parametrize("value", [0, 11, 2.0, True, "3", None])
def test_whole_numbers_are_checked(value: object) -> None:
    with pytest.raises(UserError, match=r"^task\.bits: .* is not allowed; .*1 to 10 is$"):
        check_whole("task.bits", value, 1, 10)


@pytest.mark.parametrize(
    "value", [[0, 3], [3, 2], [1, 11], [1], [1, 2, 3], 4, "12", [1.0, 2], None]
)
def test_spans_are_checked(value: object) -> None:
    with pytest.raises(UserError, match=r"^task\.length: .* is not allowed; .* <= 10 are$"):
        check_span("task.length", value, 1, 10)
    assert check_span("task.length", [2, 2], 1, 10) == (2, 2)


VALID: dict[str, dict[str, Any]] = {
    "parity": {
        "bits": 3, "layout": "leading", "train_nonzero": [1, 1], "test_nonzero": {"test": [1, 1]},
    },
    "logic": {"gates": 2, "length": [1, 2], "test_length": 2},
    "addition": {"digits": 2, "length": [1, 2], "test_length": 2},
    "sort": {"length": [2, 3]},
    "digits": {
        "train_rotation": 0.0, "test_rotations": [], "test_angles": [], "data": "mnist",
        "validation": 1,
    },
    "wikipedia": {"source": "generated"},
}  # fmt: skip
LIMITS = [
    ("parity", "bits", 1, 4096),
    ("parity", "train_nonzero", [1, 1], [3, 3]),
    ("logic", "gates", 1, 100),
    ("logic", "length", [1, 1], [1000, 1000]),
    ("logic", "test_length", 1, 1000),
    ("addition", "digits", 1, 15),
    ("addition", "length", [1, 1], [MOST_NUMBERS, MOST_NUMBERS]),
    ("sort", "length", [2, 2], [255, 255]),
    ("wikipedia", "sequence", 1, 100_000),
    ("digits", "validation", 1, 59_999),
    ("digits", "train_rotation", 0.0, 180.0),
    ("digits", "test_rotations", [0.0], [180.0]),
    ("digits", "test_angles", [-180.0], [180.0]),
]


@pytest.mark.parametrize(("task", "key", "least", "most"), LIMITS)
def test_limits_are_allowed_and_values_beyond_are_refused(
    task: str, key: str, least: Any, most: Any
) -> None:
    kind: Any = TASKS[task]
    for value in (least, most):
        found = getattr(kind(**VALID[task] | {key: value}), key)
        assert found == (tuple(value) if isinstance(value, list) else value)
    for value, step in ((least, -1), (most, 1)):
        beyond = [each + step for each in value] if isinstance(value, list) else value + step
        with pytest.raises(UserError, match=rf"^task\.{key}: "):
            kind(**VALID[task] | {key: beyond})


@pytest.mark.parametrize(
    ("task", "key", "value"),
    [
        ("parity", "layout", "any"),
        ("parity", "test_nonzero", {}),
        ("parity", "test_nonzero.test", {"test": (2, 1)}),
        ("digits", "data", "cifar"),
        ("digits", "data", ["mnist"]),
        ("digits", "train_rotation", True),
        ("digits", "train_rotation", math.nan),
        ("digits", "test_rotations", 22.5),
        ("digits", "test_angles", ["10"]),
        ("digits", "test_angles", None),
        ("wikipedia", "source", "enwik9"),
        ("wikipedia", "source", ["enwik8"]),
        ("wikipedia", "splits", (90, 5, 6)),
        ("wikipedia", "splits", (95, 5)),
        ("wikipedia", "splits", "905"),
    ],
)
def test_impossible_values_are_refused_by_name(task: str, key: str, value: Any) -> None:
    with pytest.raises(UserError, match=rf"^task\.{key}: .* is not allowed; .*$"):
        TASKS[task](**VALID[task] | {key.partition(".")[0]: value})


WRONG_INPUTS = {
    "parity": (
        r"1 to 6 of the signs \+ - 0 are, or as many bits",
        ["", "   ", "+-x", "+" * 7, "1 0 2"],
    ),
    "logic": (
        r"(1 to 4 are, parted by ;|.*\(01 XOR AND; 1 NOR\))$",
        ["", "01", "1 AND", "01 AND; 01 OR", "01 BUT", "02 AND", "01 AND OR XOR NOR", "0 1 OR",
         "01 OR" + "; 1 OR" * 4],
    ),
    "addition": (
        "1 to 4 numbers of 1 to 2", ["", "12 x", "123 1", "1 2 3 4 5", "-1 2", "1.5", "\u00b2"],
    ),
    "sort": (
        "2 to 5 numbers between", ["", "1", "1 two", "nan 1", "inf 1", "1e40 1", "1 2 3 4 5 6"],
    ),
    "wikipedia": ("a text of two bytes", ["a"]),
}  # fmt: skip


@pytest.mark.parametrize("task", EACH[:-1], ids=lambda task: task.name)
def test_a_text_that_is_no_input_is_refused(task: Any) -> None:
    allowed, texts = WRONG_INPUTS[task.name]
    for text in texts:
        with pytest.raises(UserError, match=rf"^{task.name}: .* (is|are) not allowed; {allowed}"):
            task.parse(text)


@pytest.mark.parametrize("task", [Parity(4, "leading", (1, 4), {"test": (1, 4)}), Logic(2, (1, 1))])
@pytest.mark.parametrize("logit", [-0.5, 0.5])
def test_a_logit_above_zero_is_a_yes(task: Parity | Logic, logit: float) -> None:
    batch = next(iter(task.evaluation_sets(20).values())).torch()
    outputs = torch.full((*batch.targets.shape[:2], 1), logit)
    right = task.correct(outputs, batch)
    wanted = (batch.targets == (logit > 0)) | ~batch.scored
    assert torch.equal(right, wanted.all(0))
    assert right.any() and not right.all()
    answers = {step["prediction"] for step in task.describe(outputs, batch, 0)}
    assert answers <= ({"odd", "1"} if logit > 0 else {"even", "0"})
