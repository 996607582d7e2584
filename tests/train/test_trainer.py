"""The training loop: every replica as if alone, its numbers what they say, and it learns."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from support import tiny
from torch import Tensor

from pondering.model.halting import PonderRecord
from pondering.model.network import PathName
from pondering.params.read import MECHANISMS, ExperimentConfig
from pondering.train import trainer
from pondering.train.trainer import COLUMNS, Schedule, Trainer


@pytest.fixture
def config(tmp_path: Path) -> ExperimentConfig:
    return tiny.config(tmp_path)


def kept(sweep: Trainer, chosen: list[int]) -> dict[str, Tensor]:
    """All that a sweep knows of some replicas."""
    names = {f"parameter {n}": p.detach()[chosen] for n, p in sweep.parameters.items()}
    names |= {f"adam {n}": t[chosen] for n, t in sweep.optimiser.state().items()}
    names["curves"] = torch.stack(sweep.curves)[:, chosen]
    names["computed steps"] = sweep.computed_steps[chosen]
    names["window"] = sweep.window[chosen]
    return names


def poison(sweep: Trainer, replica: int) -> None:
    with torch.no_grad():
        for parameter in sweep.parameters.values():
            parameter[replica] = torch.nan


@pytest.mark.parametrize("mechanism", MECHANISMS)
@pytest.mark.parametrize("path", ["readable", "fast", "compiled"])
def test_a_nan_replica_leaves_its_neighbours_bit_identical(
    config: ExperimentConfig, mechanism: str, path: PathName
) -> None:
    """Of the whole sweep are the share of active rows and the window's count of computed ones."""
    found = []
    for poisoned in (False, True):
        sweep = tiny.sweep(config, mechanism)
        sweep.network.path = path
        tiny.train(sweep, 14)
        if poisoned:
            poison(sweep, 1)
        found.append(kept(tiny.train(sweep), [0, 2, 3]))
        assert sweep.status()[1] == ("diverged" if poisoned else "finished")
        found[-1]["curves"][..., 5] = 0.0
    tiny.same_bits(*found)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_diverged_replica_is_frozen_reported_and_keeps_its_rows(
    config: ExperimentConfig, mechanism: str
) -> None:
    sweep = tiny.train(tiny.sweep(config, mechanism), 7)
    with torch.no_grad():
        sweep.parameters["heads.bias"][2, 0] = torch.inf
    before = {name: p.detach()[2].clone() for name, p in sweep.parameters.items()}
    steps = float(sweep.computed_steps[2])
    tiny.train(sweep)
    for name, parameter in sweep.parameters.items():
        assert torch.equal(parameter[2], before[name]), name
    assert sweep.status() == ["finished", "finished", "diverged", "finished"]
    rows = sweep.rows()
    assert len(rows) == 4 * 10
    mine = [row for k, row in enumerate(rows) if k % 4 == 2]
    assert [row["update"] for row in mine] == list(range(3, 31, 3))
    for row in mine:
        measured = [row[name] for name in COLUMNS[:-1]]
        if row["update"] <= 6:
            assert all(math.isfinite(value) for value in measured)
        else:
            assert all(math.isnan(value) for value in measured)
    # the update that failed was computed, nothing after it
    assert steps < mine[-1]["computed_steps"] == mine[2]["computed_steps"]
    assert all(row["computed_steps"] > 0 for row in mine)
    others = [row for k, row in enumerate(rows) if k % 4 != 2]
    assert all(math.isfinite(row[name]) for row in others for name in COLUMNS)


def add_to_loss(value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A constant, which leaves the gradients alone."""
    forward, more = trainer.forward, torch.zeros(4, 1)
    more[2] = value

    def changed(*arguments: Any) -> tuple[Tensor, PonderRecord]:
        losses, pondered = forward(*arguments)
        return losses + more, pondered

    monkeypatch.setattr(trainer, "forward", changed)


def set_gradient(sweep: Trainer, value: float) -> None:
    """One number of the gradient, which leaves the loss alone."""

    def changed(gradient: Tensor) -> Tensor:
        new = gradient.clone()
        new[2, 0] = value
        return new

    sweep.parameters["heads.bias"].register_hook(changed)


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
    before = {name: p.detach()[2].clone() for name, p in sweep.parameters.items()}
    if part == "loss":
        add_to_loss(value, monkeypatch)
    else:
        set_gradient(sweep, value)
    tiny.train(sweep, 2)
    fails = not math.isfinite(value)
    assert sweep.diverged.tolist() == [False, False, fails, False]
    assert sweep.status() == ["running", "running", "diverged" if fails else "running", "running"]
    if fails:
        for name, parameter in sweep.parameters.items():
            assert torch.equal(parameter[2], before[name]), name


def test_when_all_have_diverged_the_sweep_ends(config: ExperimentConfig) -> None:
    """And is logged, if between two logging points."""
    sweep = tiny.train(tiny.sweep(config), 3)
    for replica in range(4):
        poison(sweep, replica)
    points: list[tuple[int, int]] = []
    sweep.run(lambda s: points.append((s.update, len(s.curves))), lambda: False)
    assert sweep.finished
    assert points == [(4, 2)]
    assert sweep.status() == ["diverged"] * 4
    assert [row["update"] for row in sweep.rows()] == [3] * 4 + [4] * 4


@pytest.mark.parametrize("updates", [1, 9, 100, 199, 200, 1234])
def test_curves_have_a_bounded_number_of_points_and_the_last_update(updates: int) -> None:
    schedule = Schedule(updates, 8, 0.1, None, 100)
    points = {u for u in range(1, updates + 1) if u % schedule.log_every == 0} | {updates}
    assert min(updates, 100) <= len(points) <= 200


@pytest.mark.parametrize("mechanism", ["act", "pondernet"])
def test_it_learns_parity_in_seconds(tmp_path: Path, mechanism: str) -> None:
    """From chance to no mistakes, for every replica."""
    config = tiny.config(
        tmp_path, training={"updates": 400, "batch": 32, "log_points": 10}, network={"hidden": 24}
    )
    sweep = tiny.train(tiny.sweep(config, mechanism))
    curves = torch.stack(sweep.curves)
    assert (curves[0, :, 2] > 0.15).all()
    assert (curves[-1, :, 2] < 0.02).all()
    assert (curves[-1, :, 1] < 0.3).all()
