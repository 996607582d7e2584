"""Decay of the learning rate, the halting unit's own rate, the warm-up of tau: in the loop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from support import tiny
from torch import nn

from pondering.model.halting import ACT
from pondering.model.stacking import select
from pondering.params.read import MECHANISMS
from pondering.params.replica import Replica
from pondering.tasks import make_task
from pondering.tasks.base import Batch
from pondering.train import checkpoint
from pondering.train.batches import Stream
from pondering.train.plateau import Plateau
from pondering.train.trainer import Trainer, forward

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
def test_a_sweep_trains_as_a_plain_loop_with_torchs_adam_does(tmp_path: Path, decay: str) -> None:
    """Two replicas, each beside a network of its own that torch trains."""
    values = {"updates": UPDATES, "clip": CLIP, "decay": decay}
    config = tiny.config(tmp_path, training=values)
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
            losses, _ = forward(network, task, batch)
            losses.sum(0).mean().backward()
            nn.utils.clip_grad_norm_(network.parameters(), CLIP)
            adam.step()
            theirs.step()
        for name, parameter in network.named_parameters():
            got = sweep.parameters[name][k]
            torch.testing.assert_close(got, parameter, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("reads", ["h", "state"])
@pytest.mark.parametrize("mechanism", ["act", "pondernet"])
def test_the_halting_unit_alone_learns_at_its_own_rate(
    tmp_path: Path, mechanism: str, reads: str
) -> None:
    """At the first update the gradients are the same."""
    found = []
    for rate in (None, 0.25):
        more = {"network": {"cell": "lstm"}, "halting": {"reads": reads}}
        config = tiny.config(tmp_path, training={"halting_rate": rate}, **more)
        sweep = tiny.sweep(config, mechanism)
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


def test_the_objective_at_each_update_has_the_penalty_of_the_warm_up(tmp_path: Path) -> None:
    """Bit for bit a sweep whose mechanism is exchanged before every update."""
    warm = tiny.sweep(tiny.config(tmp_path, act={"tau": [0.25, 0.5], "tau_warmup": 4}))
    by_hand = tiny.sweep(tiny.config(tmp_path, act={"tau": [0.25, 0.5]}))
    taus = by_hand.network.halting.tau  # type: ignore[attr-defined]
    for update in range(7):
        by_hand.network.halting = ACT(taus * min(1.0, update / 4), 0.01, 4)
        tiny.train(by_hand, update + 1)
        tiny.train(warm, update + 1)
        for name, parameter in by_hand.parameters.items():
            assert torch.equal(warm.parameters[name], parameter), (update, name)
    assert warm.network.halting.tau.tolist() == [0.25, 0.25, 0.5, 0.5]  # type: ignore[attr-defined]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_resumed_run_with_every_knob_turned_equals_an_uninterrupted_one(
    tmp_path: Path, mechanism: str
) -> None:
    """Stopped at every update; replica 3 diverges on the way."""
    config = tiny.config(
        tmp_path, network={"init": "glorot"}, act={"tau": [0.01, 0.1], "tau_warmup": 7},
        training={"updates": UPDATES, "decay": "cosine", "halting_rate": 0.1, "log_points": 4},
    )  # fmt: skip

    drawn = make_task(config.task, "tiny").training_block(99, 0, 20).torch()
    batch = drawn.take(slice(20))

    def fresh() -> Trainer:
        return tiny.sweep(config, mechanism, plateau=Plateau(batch, 1, 0.5, 1, 99, 4))

    def run(saves: bool) -> Trainer:
        sweep = fresh()
        for stop in range(1, UPDATES):
            tiny.train(sweep, stop)
            if stop == 5:
                with torch.no_grad():
                    sweep.parameters["heads.bias"][3] = torch.nan
            if saves:
                checkpoint.save(sweep, tmp_path / "c", "key")
                sweep = fresh()
                checkpoint.load(sweep, tmp_path / "c")
        return tiny.train(sweep)

    whole, resumed = run(False), run(True)
    assert str(resumed.rows()) == str(whole.rows())
    assert resumed.status() == whole.status() == ["finished"] * 3 + ["diverged"]
    assert resumed.plateau and whole.plateau
    assert whole.optimiser.learning_rate.min() < 0.01, "none was lowered"
    for got, want in (
        (resumed.parameters, whole.parameters),
        (resumed.optimiser.state(), whole.optimiser.state()),
        (resumed.plateau.state(), whole.plateau.state()),
    ):
        tiny.same_bits(got, want)
