"""The training loop: replicas are independent, columns hold what they name, networks learn."""

from __future__ import annotations

import copy
import math
from typing import Any

import pytest
import torch
from support import tiny
from torch import Tensor

from pondering.model.network import PathName
from pondering.train import trainer
from pondering.train.trainer import COLUMNS, Schedule, Trainer


def state_of(sweep: Trainer, chosen: list[int]) -> dict[str, Tensor]:
    """Every tensor of some replicas of a sweep."""
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


@pytest.mark.parametrize(("mechanism", "path"), tiny.PATHS)
def test_a_nan_replica_leaves_its_neighbours_bit_identical(mechanism: str, path: PathName) -> None:
    """The last column of the curves depends on the whole sweep and is left out."""
    found, config = [], tiny.config()
    for poisoned in (False, True):
        sweep = tiny.sweep(config, mechanism)
        sweep.network.path = path
        tiny.train(sweep, 14)
        if poisoned:
            poison(sweep, 1)
        found.append(state_of(tiny.train(sweep), [0, 2, 3]))
        assert sweep.status()[1] == ("diverged" if poisoned else "finished")
        found[-1]["curves"][..., 5] = 0.0
    tiny.same_bits(*found)


def test_a_diverged_replica_is_frozen_and_keeps_its_rows() -> None:
    sweep = tiny.train(tiny.sweep(tiny.config()), 7)
    with torch.no_grad():
        sweep.parameters["heads.bias"][2, 0] = torch.inf
    before = {name: p.detach()[2].clone() for name, p in sweep.parameters.items()}
    steps = float(sweep.computed_steps[2])
    tiny.train(sweep)
    for name, parameter in sweep.parameters.items():
        assert torch.equal(parameter[2], before[name]), name
    assert sweep.status() == ["finished", "finished", "diverged", "finished"]
    mine = sweep.rows()[2::4]
    assert [row["update"] for row in mine] == list(range(3, 31, 3))
    for row in mine:
        measured = torch.tensor([row[name] for name in COLUMNS[:-1]])
        assert (measured.isfinite() if row["update"] <= 6 else measured.isnan()).all()
    # The update that failed was computed, and no later update.
    assert steps < mine[-1]["computed_steps"] == mine[2]["computed_steps"]


def add_to_loss(value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a constant to one loss, which changes no gradient."""
    forward, more = trainer.forward, torch.zeros(4, 1)
    more[2] = value

    def with_constant(*arguments: Any) -> Any:
        losses, pondered = forward(*arguments)
        return losses + more, pondered

    monkeypatch.setattr(trainer, "forward", with_constant)


def set_gradient(sweep: Trainer, value: float) -> None:
    """Set one number of the gradient, which changes no loss."""

    def with_value(gradient: Tensor) -> Tensor:
        new = gradient.clone()
        new[2, 0] = value
        return new

    sweep.parameters["heads.bias"].register_hook(with_value)


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("loss", -math.inf), ("loss", math.nan), ("loss", 1e30),
        ("gradient", -math.inf), ("gradient", math.nan), ("gradient", 1e15),
    ],
)  # fmt: skip
def test_nan_and_infinity_are_divergence_and_large_numbers_are_not(
    monkeypatch: pytest.MonkeyPatch, part: str, value: float
) -> None:
    sweep = tiny.sweep(tiny.config())
    if part == "loss":
        add_to_loss(value, monkeypatch)
    else:
        set_gradient(sweep, value)
    tiny.train(sweep, 2)
    fails = not math.isfinite(value)
    assert sweep.diverged.tolist() == [False, False, fails, False]
    assert sweep.status() == ["running", "running", "diverged" if fails else "running", "running"]


def test_when_all_have_diverged_the_sweep_ends() -> None:
    """The last update is logged even between two logging points."""
    sweep = tiny.train(tiny.sweep(tiny.config()), 3)
    for replica in range(4):
        poison(sweep, replica)
    tiny.train(sweep)
    assert sweep.finished and sweep.status() == ["diverged"] * 4
    assert [row["update"] for row in sweep.rows()] == [3] * 4 + [4] * 4


@pytest.mark.parametrize("updates", [1, 9, 100, 199, 200, 1234])
def test_curves_have_a_bounded_number_of_points_and_the_last_update(updates: int) -> None:
    schedule = Schedule(updates, 8, 0.1, None, 100)
    points = {u for u in range(1, updates + 1) if u % schedule.log_every == 0} | {updates}
    assert min(updates, 100) <= len(points) <= 200


@pytest.mark.parametrize("mechanism", ["act", "pondernet"])
def test_networks_learn_parity(mechanism: str) -> None:
    """From chance to no mistakes, for every replica."""
    training = {"updates": 400, "batch": 32, "log_points": 10}
    sweep = tiny.sweep(tiny.config(training=training, network={"hidden": 24}), mechanism)
    curves = torch.stack(tiny.train(sweep).curves)
    assert (curves[0, :, 2] > 0.15).all()
    assert (curves[-1, :, 2] < 0.02).all()
    assert (curves[-1, :, 1] < 0.3).all()


def by_hand(sweep: Trainer) -> dict[str, list[float]]:
    """One update's columns per replica, row by row, from the readable path."""
    network, batch = copy.deepcopy(sweep.network), sweep.stream.batch(sweep.update)
    network.path = "readable"
    halting, count, rows = network.halting, len(sweep.replicas), batch.mask.shape[-1]
    with torch.no_grad():
        pondered = network(batch.inputs, batch.mask)
    assert pondered.weights is not None
    found: dict[str, list[float]] = {name: [0.0] * count for name in COLUMNS}
    for k in range(count):
        for b in range(rows):
            p, target = pondered.weights[:, 0, k, b].tolist(), float(batch.targets[0, k, b])
            mixture = float(pondered.mixture[0, k, b, 0])
            steps = ponder = float(pondered.ponder_time[0, k, b])
            if pondered.outputs is not None:  # PonderNet
                y = pondered.outputs[:, 0, k, b, 0].tolist()
                loss = sum(w * cross_entropy(v, target) for w, v in zip(p, y, strict=True))
                loss += 0.01 * float(pondered.cost[0, k, b])
                ponder = sum(n * w for n, w in enumerate(p, 1))
            else:
                loss = cross_entropy(mixture, target)
                if hasattr(halting, "tau"):
                    loss += float(halting.tau[k]) * (steps + 1 - sum(p[: int(steps) - 1]))
            wrong, remainder = (mixture > 0) != bool(target), float(pondered.remainder[0, k, b])
            for name, value in zip(COLUMNS[:-1], (loss, wrong, ponder, remainder), strict=True):
                found[name][k] += value / rows
            found["computed_steps"][k] += steps
    return found


def cross_entropy(logit: float, target: float) -> float:
    probability = 1 / (1 + math.exp(-logit))
    return -math.log(probability if target else 1 - probability)


@pytest.mark.parametrize("mechanism", ["repeat", "act", "pondernet"])
def test_every_column_equals_a_direct_computation(mechanism: str) -> None:
    """Two windows of three updates; the numbers are computed before each update."""
    sweep = tiny.sweep(tiny.config(), mechanism)
    computed = [0.0] * 4
    for end in (3, 6):
        window: list[dict[str, list[float]]] = []
        while sweep.update < end:
            window.append(by_hand(sweep))
            tiny.train(sweep, sweep.update + 1)
        for k, row in enumerate(sweep.rows(end // 3 - 1)):
            assert row.items() >= (sweep.replicas[k].row() | {"update": end}).items()
            computed[k] += sum(each["computed_steps"][k] for each in window)
            assert row["computed_steps"] == computed[k]
            for name in COLUMNS[:-1]:
                want = sum(each[name][k] for each in window) / 3
                assert row[name] == pytest.approx(want, rel=1e-5, abs=1e-6), name


def test_a_long_run_counts_every_step() -> None:
    """The sums start at 2^30 + 1, which float32 cannot hold."""
    usual, long = (tiny.sweep(tiny.config()) for _ in range(2))
    many = 2.0**30 + 1
    long.computed_steps += many
    long.window += many
    for sweep in (usual, long):
        tiny.train(sweep, 1)
    assert torch.equal(long.computed_steps - many, usual.computed_steps)
    torch.testing.assert_close(long.window - many, usual.window, rtol=1e-5, atol=1e-5)


def test_a_sequence_sums_its_losses_and_counts_by_its_vectors() -> None:
    """A batch has one sequence, so a replica may end before its neighbours."""
    sweep = tiny.sweep(tiny.config(task=tiny.SUMS, training={"batch": 1}))
    found: dict[str, list[Tensor]] = {"loss": [], "ponder_time": [], "remainder": []}
    lengths, steps = [], torch.zeros(4)
    for update in range(3):
        batch = sweep.stream.batch(update)
        with torch.no_grad():
            pondered = sweep.network(batch.inputs, batch.mask)
            losses = sweep.task.loss(pondered.mixture, batch)
        cost = sweep.network.halting.tau[:, None] * pondered.cost  # type: ignore[attr-defined]
        lengths.append(batch.mask.sum((0, 2)))
        found["loss"].append((losses + cost * batch.mask).sum((0, 2)))
        for name in ("ponder_time", "remainder"):
            found[name].append(getattr(pondered, name).sum((0, 2)) / lengths[-1])
        steps += pondered.ponder_time.sum((0, 2))
        tiny.train(sweep, update + 1)
    assert any(len(set(each.tolist())) > 1 for each in lengths)
    rows = sweep.rows()
    assert [row["computed_steps"] for row in rows] == steps.tolist()
    for name, want in found.items():
        mean = torch.stack(want).mean(0).tolist()
        assert [row[name] for row in rows] == pytest.approx(mean, rel=1e-5), name
