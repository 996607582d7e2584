"""Decay and plateaus of the learning rate, the halting unit's rate, the warm-up of tau."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from support import tiny
from torch import Tensor, nn

from pondering.model.halting import ACT
from pondering.model.stacking import select
from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import Replica
from pondering.tasks import make_task
from pondering.tasks.base import Batch
from pondering.train import checkpoint
from pondering.train import trainer as training
from pondering.train.batches import Stream
from pondering.train.plateau import Plateau
from pondering.train.trainer import Trainer, forward, validation_error

UPDATES = 12
TAU, CLIP = 0.1, 0.05


def scheduler(decay: str, adam: torch.optim.Optimizer, updates: int) -> Any:
    """torch's own schedule of that name."""
    if decay == "none":
        return torch.optim.lr_scheduler.ConstantLR(adam, 1.0)
    if decay == "linear":
        return torch.optim.lr_scheduler.LinearLR(adam, 1.0, 0.0, total_iters=updates)
    return torch.optim.lr_scheduler.CosineAnnealingLR(adam, T_max=updates)


@pytest.mark.parametrize("decay", ["none", "linear", "cosine"])
def test_a_sweep_trains_as_a_plain_loop_with_torchs_adam_does(decay: str) -> None:
    """Each of two replicas is compared with a network that torch trains."""
    values = {"updates": UPDATES, "clip": CLIP, "decay": decay}
    config = tiny.config(training=values)
    replicas = [Replica("act", TAU, seed) for seed in (0, 7)]
    sweep = tiny.sweep(config, "act", replicas)
    sweep.network.path = "readable"
    solo = [select(sweep.network, k, ACT(TAU, 0.01, 4)) for k in range(2)]
    tiny.train(sweep)
    task = make_task(config.task, "tiny")
    for k, network in enumerate(solo):
        adam = torch.optim.Adam(network.parameters(), lr=0.01)
        theirs = scheduler(decay, adam, UPDATES)
        stream = Stream(task, [replicas[k].seed], 8)
        for update in range(UPDATES):
            many = stream.batch(update)
            batch = Batch._make([*(part[:, 0] for part in many[:-1]), many.difficulty[0]])
            adam.zero_grad()
            losses, _ = forward(network, task, batch, update)
            losses.sum(0).mean().backward()
            nn.utils.clip_grad_norm_(network.parameters(), CLIP)
            adam.step()
            theirs.step()
        for name, parameter in network.named_parameters():
            got = sweep.parameters[name][k]
            torch.testing.assert_close(got, parameter, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("reads", ["h", "state"])
def test_halting_rate_changes_the_halting_unit_alone(reads: str) -> None:
    """At the first update the gradients are equal."""
    found = []
    for rate in (None, 0.25):
        more = {"network": {"cell": "lstm"}, "halting": {"reads": reads}}
        config = tiny.config(training={"halting_rate": rate}, **more)
        sweep = tiny.sweep(config)
        before = {name: p.detach().clone() for name, p in sweep.parameters.items()}
        tiny.train(sweep, 1)
        found.append({name: p.detach() - before[name] for name, p in sweep.parameters.items()})
    usual, slow = found
    for name in usual:
        if name.startswith("heads"):
            assert usual[name][:, -1].any()
            torch.testing.assert_close(slow[name][:, -1], usual[name][:, -1] / 4)
            assert torch.equal(slow[name][:, :-1], usual[name][:, :-1])
        else:
            assert torch.equal(slow[name], usual[name])


def test_the_objective_at_each_update_has_the_penalty_of_the_warm_up() -> None:
    """The sweep equals one whose mechanism is replaced by hand before every update."""
    warm = tiny.sweep(tiny.config(act={"tau": [0.25, 0.5], "tau_warmup": 4}))
    by_hand = tiny.sweep(tiny.config(act={"tau": [0.25, 0.5]}))
    taus = by_hand.network.halting.tau  # type: ignore[attr-defined]
    for update in range(7):
        by_hand.network.halting = ACT(taus * min(1.0, update / 4), 0.01, 4)
        tiny.train(by_hand, update + 1)
        tiny.train(warm, update + 1)
        for name, parameter in by_hand.parameters.items():
            assert torch.equal(warm.parameters[name], parameter), (update, name)
    assert warm.network.halting.tau.tolist() == [0.25, 0.25, 0.5, 0.5]  # type: ignore[attr-defined]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_resumed_run_with_every_option_equals_an_uninterrupted_one(
    tmp_path: Path, mechanism: str
) -> None:
    """The run stops at every update; replica 3 diverges."""
    config = tiny.config(network={"init": "glorot"}, act={"tau": [0.01, 0.1], "tau_warmup": 7},
        training={"updates": UPDATES, "decay": "cosine", "halting_rate": 0.1, "log_points": 4},
    )  # fmt: skip

    def new() -> Trainer:
        plateau = Plateau(validation_batch(), 1, 0.5, 1, 99, 4)
        return tiny.sweep(config, mechanism, plateau=plateau)

    def run(saves: bool) -> Trainer:
        sweep = new()
        for stop in range(1, UPDATES):
            tiny.train(sweep, stop)
            if stop == 5:
                with torch.no_grad():
                    sweep.parameters["heads.bias"][3] = torch.nan
            if saves:
                checkpoint.save(sweep, tmp_path / "c", "key")
                sweep = new()
                checkpoint.load(sweep, tmp_path / "c")
        return tiny.train(sweep)

    whole, resumed = run(False), run(True)
    assert str(resumed.rows()) == str(whole.rows())
    assert resumed.status() == whole.status() == ["finished"] * 3 + ["diverged"]
    assert resumed.plateau and whole.plateau
    assert whole.optimiser.learning_rate.min() < 0.01, "no rate was lowered"
    for got, want in (
        (resumed.parameters, whole.parameters),
        (resumed.optimiser.state(), whole.optimiser.state()),
        (resumed.plateau.state(), whole.plateau.state()),
    ):
        tiny.same_bits(got, want)


RATE = 0.01
# Validation errors by replica and validation, every third update.
ERRORS = torch.tensor(
    [
        [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.0],  # always better
        [0.5, 0.5, 0.6, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5],  # equal is not better
        [0.5, 0.6, 0.6, 0.4, 0.6, 0.6, 0.6, 0.3, 0.6, 0.6],  # better now and then
        [0.5, 0.4, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9, 0.9],
    ]
)


def validation_batch(size: int = 20) -> Batch:
    task = make_task(tiny.config().task, "tiny")
    return task.training_block(99, 0, size).torch().take(slice(size))


def planned_errors(sweep: Trainer, batch: Batch, rows: int = 1000) -> Tensor:
    return ERRORS[:, sweep.update // 3 - 1]


def sweep_with_plateau(*values: Any) -> Trainer:
    return tiny.sweep(tiny.config(), plateau=Plateau(validation_batch(), *values, 4))


def test_each_replica_has_its_rate_and_its_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two validations in a row without a better error halve the rate; four stop the replica."""
    monkeypatch.setattr(training, "validation_error", planned_errors)
    sweep = sweep_with_plateau(3, 0.5, 1, 4)
    rates, alive = [], []
    for update in range(3, 31, 3):
        tiny.train(sweep, update)
        rates.append(sweep.optimiser.learning_rate / RATE)
        alive.append(sweep.alive.clone())
        sweep.optimiser.learning_rate = sweep.optimiser.learning_rate.clone()
    assert torch.stack(rates).T.tolist() == [
        pytest.approx([1, 1, 1, 1, 1, 1, 1, 1, 1, 1]),
        pytest.approx([1, 1, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125, 0.0625, 0.0625]),
        pytest.approx([1, 1, 0.5, 0.5, 0.5, 0.25, 0.25, 0.25, 0.25, 0.125]),
        pytest.approx([1, 1, 1, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125, 0.0625]),
    ]
    assert torch.stack(alive).T.tolist() == [
        [True] * 10,
        [True] * 4 + [False] * 6,
        [True] * 10,
        [True] * 5 + [False] * 5,
    ]


def test_when_all_have_stopped_the_sweep_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first validation counts as better even with no input right."""
    monkeypatch.setattr(training, "validation_error", lambda *_: torch.ones(4))
    sweep = tiny.train(sweep_with_plateau(3, 0.5, 1, 4))
    assert sweep.update == 15
    assert sweep.finished
    assert sweep.status() == ["finished"] * 4
    assert int(sweep.curves[-1][0, 0]) == 15
    assert sweep.plateau is not None and sweep.plateau.best.tolist() == [0.0] * 4


@pytest.mark.parametrize("mechanism", ["act", "pondernet"])
def test_the_validation_error_counts_mistakes(mechanism: str) -> None:
    sweep = tiny.train(tiny.sweep(tiny.config(), mechanism), 5)
    batch = validation_batch(37)
    got = validation_error(sweep, batch, rows=10)
    size = batch.targets.shape[1]
    wrong = [0] * 4
    with torch.no_grad():
        for b in range(size):
            one = batch.inputs[:, b : b + 1].unsqueeze(1).expand(1, 4, 1, -1)
            mixture = sweep.network(one).mixture
            for k in range(4):
                wrong[k] += (float(mixture[0, k, 0, 0]) > 0) != bool(batch.targets[0, b])
    assert got.tolist() == pytest.approx([count / size for count in wrong], abs=1e-6)
    assert float(got.min()) > 0


def test_a_stopped_replicas_last_row_covers_its_last_updates_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Replica 1 stops after the first of the three updates of a window, 2 diverges later."""

    def errors(sweep: Trainer, batch: Batch, rows: int = 1000) -> Tensor:
        found = torch.full((4,), 0.9 - 0.01 * sweep.update)
        found[1] = 0.5
        return found

    monkeypatch.setattr(training, "validation_error", errors)
    sweep = sweep_with_plateau(1, 0.5, 9, 3)
    tiny.train(sweep, 4)
    assert sweep.alive.tolist() == [True, False, True, True]
    sums, steps = sweep.window[1, :4].tolist(), float(sweep.computed_steps[1])  # of one update
    with torch.no_grad():
        for parameter in sweep.parameters.values():
            parameter[1] = torch.nan  # its last update may have been one too many
        sweep.parameters["heads.bias"][2] = torch.nan
    tiny.train(sweep, 12)
    assert sweep.alive.tolist() == [True, False, False, True]
    assert sweep.diverged.tolist() == [False, False, True, False]
    rows = sweep.rows()
    mine = [row for row in rows if row.items() >= sweep.replicas[1].row().items()]
    assert [row["update"] for row in mine] == [3, 6]
    last = mine[-1]
    assert [last[name] for name in ("loss", "error", "ponder_time", "remainder")] == sums
    assert last["computed_steps"] == steps
    assert [row["update"] for row in rows] == [3] * 4 + [6] * 4 + [9] * 3 + [12] * 3
