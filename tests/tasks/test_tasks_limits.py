"""The smallest and the largest that each task takes, and where a logit becomes a yes."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from pondering.project.errors import UserError
from pondering.tasks import TASKS
from pondering.tasks.addition import MOST_NUMBERS
from pondering.tasks.logic import Logic
from pondering.tasks.parity import Parity

FITS: dict[str, dict[str, Any]] = {
    "parity": {
        "bits": 3,
        "layout": "leading",
        "train_nonzero": [1, 1],
        "test_nonzero": {"test": [1, 1]},
    },
    "logic": {"gates": 2, "length": [1, 2], "test_length": 2},
    "addition": {"digits": 2, "length": [1, 2], "test_length": 2},
    "sort": {"length": [2, 3]},
    "digits": {
        "train_rotation": 0.0,
        "test_rotations": [],
        "test_angles": [],
        "data": "mnist",
        "validation": 1,
    },
}
LIMITS = [
    ("parity", "bits", 1, 4096),
    ("logic", "gates", 1, 100),
    ("logic", "length", [1, 1], [1000, 1000]),
    ("logic", "test_length", 1, 1000),
    ("addition", "digits", 1, 15),
    ("addition", "length", [1, 1], [MOST_NUMBERS, MOST_NUMBERS]),
    ("sort", "length", [2, 2], [255, 255]),
    ("digits", "validation", 1, 59_999),
    ("digits", "train_rotation", 0.0, 180.0),
    ("digits", "test_rotations", [0.0], [180.0]),
    ("digits", "test_angles", [-180.0], [180.0]),
]


@pytest.mark.parametrize(("task", "key", "least", "most"), LIMITS)
def test_limits_are_allowed_and_what_lies_beyond_is_not(
    task: str, key: str, least: Any, most: Any
) -> None:
    kind: Any = TASKS[task]
    for value in (least, most):
        kept = getattr(kind(**FITS[task] | {key: value}), key)
        assert kept == (tuple(value) if isinstance(value, list) else value)
    for value, step in ((least, -1), (most, 1)):
        beyond = [each + step for each in value] if isinstance(value, list) else value + step
        with pytest.raises(UserError, match=rf"^task\.{key}: "):
            kind(**FITS[task] | {key: beyond})


@pytest.mark.parametrize("task", [Parity(4, "leading", (1, 4), {"test": (1, 4)}), Logic(2, (1, 1))])
@pytest.mark.parametrize("logit", [-0.5, 0.5])
def test_a_logit_above_zero_is_a_yes(task: Parity | Logic, logit: float) -> None:
    batch = next(iter(task.evaluation_sets(20).values())).torch()
    outputs = torch.full((*batch.targets.shape[:2], 1), logit)
    right = task.correct(outputs, batch)
    wanted = (batch.targets == (logit > 0)) | ~batch.scored
    assert torch.equal(right, wanted.all(0))
    assert right.any() and not right.all()
    said = {step["prediction"] for step in task.describe(outputs, batch, 0)}
    assert said <= ({"odd", "1"} if logit > 0 else {"even", "0"})
