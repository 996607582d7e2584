"""What counts as diverged, and what the rows say from then on."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from support import tiny
from torch import Tensor

from pondering.model.halting import Pondered
from pondering.params.read import ExperimentConfig
from pondering.train import trainer
from pondering.train.trainer import Trainer

SICK = 2


@pytest.fixture
def config(tmp_path: Path) -> ExperimentConfig:
    return tiny.config(tmp_path)


def add_to_loss(value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A constant, which leaves the gradients alone."""
    forward = trainer.forward
    more = torch.zeros(4, 1)
    more[SICK] = value

    def changed(*arguments: Any) -> tuple[Tensor, Pondered]:
        losses, pondered = forward(*arguments)
        return losses + more, pondered

    monkeypatch.setattr(trainer, "forward", changed)


def set_gradient(sweep: Trainer, value: float) -> None:
    """One number of the gradient, which leaves the loss alone."""

    def changed(gradient: Tensor) -> Tensor:
        new = gradient.clone()
        new[SICK, 0] = value
        return new

    sweep.parameters["heads.bias"].register_hook(changed)


def poison(sweep: Trainer, replicas: list[int]) -> None:
    with torch.no_grad():
        for parameter in sweep.parameters.values():
            parameter[replicas] = torch.nan


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("loss", -math.inf), ("loss", math.nan), ("loss", 1e30),
        ("gradient", -math.inf), ("gradient", math.nan), ("gradient", 1e15),
    ],
)  # fmt: skip
def test_what_is_no_number_is_divergence_and_what_is_large_is_not(
    config: ExperimentConfig, monkeypatch: pytest.MonkeyPatch, part: str, value: float
) -> None:
    sweep = tiny.sweep(config)
    before = {name: p.detach()[SICK].clone() for name, p in sweep.parameters.items()}
    if part == "loss":
        add_to_loss(value, monkeypatch)
    else:
        set_gradient(sweep, value)
    tiny.train(sweep, 2)
    if math.isfinite(value):
        assert sweep.alive.all() and sweep.status() == ["running"] * 4
        return
    assert sweep.diverged.tolist() == [False, False, True, False]
    assert sweep.status() == ["running", "running", "diverged", "running"]
    for name, parameter in sweep.parameters.items():
        assert torch.equal(parameter[SICK], before[name]), name


def test_the_progress_line_has_means_over_the_living(config: ExperimentConfig) -> None:
    sweep = tiny.train(tiny.sweep(config), 2)
    assert sweep.summary() == {}
    tiny.train(sweep, 7)
    poison(sweep, [SICK])
    tiny.train(sweep, 9)
    last = [row for row in sweep.rows() if row["update"] == 9]
    found = sweep.summary()
    assert list(found) == ["loss", "error", "ponder"]
    for name, column in zip(found, ("loss", "error", "ponder_time"), strict=True):
        living = [row[column] for k, row in enumerate(last) if k != SICK]
        assert found[name] == pytest.approx(sum(living) / 3)
