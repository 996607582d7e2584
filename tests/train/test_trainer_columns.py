"""The curves' columns against a direct computation, and what counts as a step."""

from __future__ import annotations

import copy
import math
from pathlib import Path

import pytest
import torch
from support import tiny

from pondering.params.read import ExperimentConfig
from pondering.train.trainer import COLUMNS, Trainer


@pytest.fixture
def config(tmp_path: Path) -> ExperimentConfig:
    return tiny.config(tmp_path)


@pytest.fixture
def sequences(tmp_path: Path) -> ExperimentConfig:
    return tiny.config_of_sequences(tmp_path)


def by_hand(sweep: Trainer) -> dict[str, list[float]]:
    """One update's columns per replica, loop by loop, from the readable path."""
    network, batch = copy.deepcopy(sweep.network), sweep.stream.batch(sweep.update)
    network.path = "readable"
    count, (times, _, rows) = len(sweep.replicas), batch.mask.shape
    halting, beta = network.halting, 0.01
    with torch.no_grad():
        pondered = network(batch.inputs, batch.mask)
    found: dict[str, list[float]] = {name: [0.0] * count for name in COLUMNS}
    for k in range(count):
        present = [(t, b) for t in range(times) for b in range(rows) if bool(batch.mask[t, k, b])]
        total = mistakes = remainder = ponder = steps = 0.0
        for t, b in present:
            assert pondered.weights is not None
            p = pondered.weights[:, t, k, b].tolist()
            target = float(batch.targets[t, k, b])
            mixture = float(pondered.mixture[t, k, b, 0])
            taken = float(pondered.ponder_time[t, k, b])
            if pondered.outputs is not None:  # PonderNet
                y = pondered.outputs[:, t, k, b, 0].tolist()
                loss = sum(w * cross_entropy(v, target) for w, v in zip(p, y, strict=True))
                total += loss + beta * float(pondered.cost[t, k, b])
                ponder += sum(n * w for n, w in enumerate(p, 1))
            else:
                total += cross_entropy(mixture, target)
                if hasattr(halting, "tau"):
                    left = 1 - sum(p[: int(taken) - 1])
                    total += float(halting.tau[k]) * (taken + left)
                    assert left == pytest.approx(float(pondered.remainder[t, k, b]), abs=1e-6)
                ponder += taken
            remainder += float(pondered.remainder[t, k, b])
            mistakes += (mixture > 0) != bool(target)
            steps += taken
        found["loss"][k] = total / rows
        found["error"][k] = mistakes / rows
        found["ponder_time"][k] = ponder / len(present)
        found["remainder"][k] = remainder / len(present)
        found["computed_steps"][k] = steps
    return found


def cross_entropy(logit: float, target: float) -> float:
    probability = 1 / (1 + math.exp(-logit))
    return -math.log(probability if target else 1 - probability)


@pytest.mark.parametrize("mechanism", ["repeat", "act", "pondernet"])
def test_every_column_is_what_it_says(config: ExperimentConfig, mechanism: str) -> None:
    """Two windows of three updates against a direct computation before each update."""
    sweep = tiny.sweep(config, mechanism)
    computed = [0.0] * 4
    for end in (3, 6):
        window: list[dict[str, list[float]]] = []
        while sweep.update < end:
            window.append(by_hand(sweep))
            tiny.train(sweep, sweep.update + 1)
        rows = sweep.rows(end // 3 - 1)
        for k, row in enumerate(rows):
            assert row.items() >= (sweep.replicas[k].row() | {"update": end}).items()
            computed[k] += sum(each["computed_steps"][k] for each in window)
            assert row["computed_steps"] == computed[k]
            for name in COLUMNS[:-1]:
                want = sum(each[name][k] for each in window) / 3
                assert row[name] == pytest.approx(want, rel=1e-5, abs=1e-6), name


def test_the_loss_of_a_sequence_is_the_sum_over_its_vectors(sequences: ExperimentConfig) -> None:
    sweep = tiny.sweep(sequences, "repeat")  # which adds no cost of pondering
    batch = sweep.stream.batch(0)
    times = len(batch.mask)
    assert times > 1
    with torch.no_grad():
        mixture = sweep.network(batch.inputs, batch.mask).mixture
        each = sweep.task.loss(mixture, batch)
    want = [sum(float(each[t, k].sum()) for t in range(times)) / 8 for k in range(4)]
    tiny.train(sweep, 1)
    assert sweep.window[:, 0].tolist() == pytest.approx(want, rel=1e-5)


def test_a_long_run_counts_every_step(config: ExperimentConfig) -> None:
    """2^30 + 1, which single precision cannot hold, is where the sums begin."""
    usual, long = tiny.sweep(config), tiny.sweep(config)
    many = 2.0**30 + 1
    long.computed_steps += many
    long.window += many
    for sweep in (usual, long):
        tiny.train(sweep, 1)
    assert torch.equal(long.computed_steps - many, usual.computed_steps)
    torch.testing.assert_close(long.window - many, usual.window, rtol=1e-5, atol=1e-5)


def test_sequences_of_many_lengths_count_by_their_vectors(sequences: ExperimentConfig) -> None:
    """One a batch, so that a replica's may be over before its neighbours' is."""
    one = sequences.training.model_copy(update={"batch": 1})
    sweep = tiny.sweep(sequences.model_copy(update={"training": one}))
    lengths, ponder, remainder, steps = [], [], [], torch.zeros(4)
    for update in range(3):
        batch = sweep.stream.batch(update)
        with torch.no_grad():
            pondered = sweep.network(batch.inputs, batch.mask)
        lengths.append(batch.mask.sum((0, 2)))
        ponder.append(pondered.ponder_time.sum((0, 2)) / lengths[-1])
        steps += pondered.ponder_time.sum((0, 2))
        remainder.append(pondered.remainder.sum((0, 2)) / lengths[-1])
        tiny.train(sweep, update + 1)
    assert any(len(set(each.tolist())) > 1 for each in lengths)
    rows = sweep.rows()
    assert [row["computed_steps"] for row in rows] == steps.tolist()
    for name, want in (("ponder_time", ponder), ("remainder", remainder)):
        mean = torch.stack(want).mean(0).tolist()
        assert [row[name] for row in rows] == pytest.approx(mean, rel=1e-5), name
