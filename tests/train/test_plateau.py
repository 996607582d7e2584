"""Plateau schedule and early stopping: every replica on its own."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from support import tiny
from torch import Tensor

from pondering.params.read import ExperimentConfig
from pondering.tasks import make_task
from pondering.tasks.base import Batch
from pondering.train import trainer as training
from pondering.train.plateau import Plateau
from pondering.train.trainer import Trainer, validation_error

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


@pytest.fixture
def config(tmp_path: Path) -> ExperimentConfig:
    return tiny.config(tmp_path)


def validation_batch(config: ExperimentConfig, size: int = 20) -> Batch:
    block = make_task(config.task, "tiny").training_block(99, 0, size).torch()
    return Batch._make([*(part[:, :size] for part in block[:-1]), block.difficulty[:size]])


def scripted(sweep: Trainer, batch: Batch, rows: int = 1000) -> Tensor:
    return ERRORS[:, sweep.update // 3 - 1]


def make(config: ExperimentConfig) -> Trainer:
    plateau = Plateau(validation_batch(config), 3, 0.5, 1, 4, 4)
    return tiny.sweep(config, plateau=plateau)


def test_rates_fall_and_replicas_stop_each_on_its_own(
    config: ExperimentConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Patience 1: halved at the second validation in a row without a better one; 4 stop."""
    monkeypatch.setattr(training, "validation_error", scripted)
    sweep = make(config)
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


def test_when_all_have_stopped_the_sweep_ends(
    config: ExperimentConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An accuracy of zero is at first better than none."""
    monkeypatch.setattr(training, "validation_error", lambda *_: torch.ones(4))
    sweep = tiny.train(make(config))
    assert sweep.update == 15
    assert sweep.finished
    assert sweep.status() == ["finished"] * 4
    assert int(sweep.curves[-1][0, 0]) == 15
    assert sweep.plateau is not None and sweep.plateau.best.tolist() == [0.0] * 4


@pytest.mark.parametrize("mechanism", ["act", "pondernet"])
def test_the_validation_error_counts_mistakes(config: ExperimentConfig, mechanism: str) -> None:
    sweep = tiny.train(tiny.sweep(config, mechanism), 5)
    batch = validation_batch(config, 37)
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


def test_a_stopped_replica_is_left_alone_and_its_last_row_is_of_the_updates_it_was_trained_in(
    config: ExperimentConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replica 1 stops after the first of the three updates of a window, 2 diverges later."""

    def errors(sweep: Trainer, batch: Batch, rows: int = 1000) -> Tensor:
        found = torch.full((4,), 0.9 - 0.01 * sweep.update)
        found[1] = 0.5
        return found

    monkeypatch.setattr(training, "validation_error", errors)
    sweep = tiny.sweep(config, plateau=Plateau(validation_batch(config), 1, 0.5, 9, 3, 4))
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
