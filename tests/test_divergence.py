"""What counts as diverged, when that is noticed, and what the rows say from then on."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import tiny
import torch
from torch import Tensor

from pondering import training
from pondering.config import ExperimentConfig
from pondering.halting import Pondered
from pondering.training import Sweep

SICK = 2


@pytest.fixture
def config(tmp_path: Path) -> ExperimentConfig:
    return tiny.config(tmp_path)


def add_to_loss(value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A constant, which leaves the gradients alone."""
    forward = training.forward
    more = torch.zeros(4, 1)
    more[SICK] = value

    def changed(*arguments: Any) -> tuple[Tensor, Pondered]:
        losses, pondered = forward(*arguments)
        return losses + more, pondered

    monkeypatch.setattr(training, "forward", changed)


def set_gradient(sweep: Sweep, value: float) -> None:
    """One number of the gradient, which leaves the loss alone."""

    def changed(gradient: Tensor) -> Tensor:
        new = gradient.clone()
        new[SICK, 0] = value
        return new

    sweep.parameters["heads.bias"].register_hook(changed)


def poison(sweep: Sweep, replicas: list[int]) -> None:
    with torch.no_grad():
        for parameter in sweep.parameters.values():
            parameter[replicas] = torch.nan


@pytest.mark.parametrize("part", ["loss", "gradient"])
@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_a_loss_or_a_gradient_that_is_no_number_is_divergence(
    config: ExperimentConfig, monkeypatch: pytest.MonkeyPatch, part: str, value: float
) -> None:
    sweep = tiny.sweep(config)
    before = {name: p.detach()[SICK].clone() for name, p in sweep.parameters.items()}
    if part == "loss":
        add_to_loss(value, monkeypatch)
    else:
        set_gradient(sweep, value)
    tiny.train(sweep, 2)
    assert sweep.diverged.tolist() == [False, False, True, False]
    assert sweep.status() == ["running", "running", "diverged", "running"]
    for name, parameter in sweep.parameters.items():
        assert torch.equal(parameter[SICK], before[name]), name


@pytest.mark.parametrize("part", ["loss", "gradient"])
def test_large_numbers_are_no_divergence(
    config: ExperimentConfig, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    sweep = tiny.sweep(config)
    if part == "loss":
        add_to_loss(1e30, monkeypatch)
    else:
        set_gradient(sweep, 1e15)
    tiny.train(sweep, 2)
    assert not sweep.diverged.any() and sweep.alive.all()
    assert sweep.status() == ["running"] * 4


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


def looked_at_seldom(config: ExperimentConfig) -> Sweep:
    """As on a GPU: whether a replica has stopped is asked at logging points alone."""
    sweep = tiny.sweep(config)
    sweep._checks_each_update = False
    return sweep


def test_where_it_is_noticed_late_the_neighbours_and_rows_are_the_same(
    config: ExperimentConfig,
) -> None:
    """The first updates after the failure, up to the logging point, may count as computed."""
    found = []
    for sweep in (tiny.sweep(config), looked_at_seldom(config)):
        tiny.train(sweep, 4)
        poison(sweep, [SICK])
        steps = tiny.train(sweep, 6).computed_steps[SICK].item()
        assert not sweep.alive[SICK]
        tiny.train(sweep)
        assert sweep.computed_steps[SICK] == steps
        assert sweep.status() == ["finished", "finished", "diverged", "finished"]
        found.append((sweep.parameters, torch.stack(sweep.curves)))
    others = [0, 1, 3]
    for name, parameter in found[0][0].items():
        assert torch.equal(parameter[others], found[1][0][name][others]), name
    curves, late = found[0][1], found[1][1]
    assert torch.equal(curves[:, others, :5], late[:, others, :5])
    assert torch.equal(curves[:, SICK].isnan(), late[:, SICK].isnan())


def test_where_it_is_noticed_late_a_sweep_ends_at_the_logging_point(
    config: ExperimentConfig,
) -> None:
    sweep = tiny.train(looked_at_seldom(config), 4)
    poison(sweep, [0, 1, 2, 3])
    tiny.train(sweep)
    assert sweep.update == 6 and sweep.finished
    assert [row["update"] for row in sweep.rows()] == [3] * 4 + [6] * 4


def test_an_early_end_between_logging_points_is_logged(config: ExperimentConfig) -> None:
    sweep = tiny.train(tiny.sweep(config), 3)
    poison(sweep, [0, 1, 2, 3])
    points: list[tuple[int, int]] = []
    sweep.run(lambda s: points.append((s.update, len(s.curves))), lambda: False)
    assert sweep.finished
    assert points == [(4, 2)]
    assert [row["update"] for row in sweep.rows()] == [3] * 4 + [4] * 4
