"""The audit of the readout, against single networks walked step by step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from support.untrained import read_back, stage_of
from torch import Generator

from pondering.evaluate import readout, steps
from pondering.evaluate.measure import measure
from pondering.evaluate.stage import Evaluation
from pondering.model.halting import RandomDepth
from pondering.model.stacking import select
from pondering.tasks import make_task
from pondering.tasks.base import Batch

PARITY = {
    "name": "parity", "layout": "scattered", "bits": 10, "train_nonzero": [1, 6],
    "test_nonzero": {"test": [3, 4], "beyond": [7, 8]},
}  # fmt: skip
ONE_ELEMENT = {"bits": 3, "train_nonzero": [1, 1], "test_nonzero": {"test": [1, 1]}}
SORT = {"name": "sort", "length": [2, 3]}
STORED = 30


def table_of(work: Evaluation) -> pd.DataFrame:
    readout.run(work)
    return pd.read_csv(work.layout.readout("tiny"))


def walked(network: Any, batch: Batch, count: int) -> tuple[Any, Any, Any]:
    """One network's first steps: outputs (N, B, 1), states (N, B, H), halting units (N, B)."""
    drive = network.cell.embed(batch.inputs[0])
    state = tuple(drive.new_zeros(len(drive), size) for size in network.cell.state_sizes)
    outputs, states, halts = [], [], []
    for n in range(1, count + 1):
        state = network.cell.step(drive, state, n == 1)
        output, logit = network.heads.of(state)
        outputs.append(output)
        states.append(state[0])
        halts.append(torch.sigmoid(logit))
    return tuple(torch.stack(each).numpy() for each in (outputs, states, halts))


@torch.no_grad()
@pytest.mark.parametrize("mechanism", ["act", "pondernet"])
def test_each_reading_is_that_of_a_network_alone(tmp_path: Path, mechanism: str) -> None:
    work = stage_of(tmp_path, PARITY, evaluation={"stored": STORED, "examples": 40})
    table, trained = table_of(work), read_back(work, mechanism)
    k, split = 2, "beyond"
    own = table[(table["mechanism"] == mechanism) & (table["split"] == split)].iloc[k]
    test = steps.first(work.sets[split], STORED)
    other = work.task.evaluation_sets(STORED, "validation")[split].torch()
    known = {tuple(row) for row in test.inputs[0].tolist()}
    new = [b for b, row in enumerate(other.inputs[0].tolist()) if tuple(row) not in known]
    other = other.take(torch.tensor(new))
    assert (own["examples"], own["fitted"]) == (2 * STORED, len(new))
    network = select(trained.network, k, trained.network.halting)
    y, s, h = walked(network, test, 4)
    right = test.targets[0].numpy() > 0
    longer = {n: ((walked(network, test, n)[0][-1, :, 0] > 0) != right).mean() for n in (8, 16)}
    assert own["twice"] == pytest.approx(longer[8], abs=1e-5)
    assert own["fourfold"] == pytest.approx(longer[16], abs=1e-5)
    assert own["depth"] == pytest.approx(((y[3, :, 0] > 0) != right).mean(), abs=1e-5)
    fit = walked(network, other, 4)[1][3]
    middle, spread = fit.mean(0), fit.std(0)
    head = LogisticRegression(max_iter=1000).fit((fit - middle) / spread, other.targets[0])
    said = head.predict((s[3] - middle) / spread) > 0
    assert own["refitted"] == pytest.approx((said != right).mean(), abs=1.5 / len(right))
    if mechanism == "act":
        halting = trained.network.halting
        found = measure(trained.network, halting, work.task, test, len(trained.replicas), 16)
        assert own["own"] == pytest.approx(found.error[k].mean(), abs=1e-5)
        at = found.ponder_time[k].astype(int) - 1
        alone = np.take_along_axis(y[..., 0], at[None], 0)[0] > 0
        assert own["single"] == pytest.approx((alone != right).mean(), abs=1e-5)
        assert own["ponder_time"] == pytest.approx(found.ponder_time[k].mean(), abs=1e-5)
        assert own["ponder_sd"] == pytest.approx(found.ponder_time[k].std(), abs=1e-5)
        mixed = act_weights(h).mean(1) @ y[..., 0]
        assert own["mean_halting"] == pytest.approx(((mixed > 0) != right).mean(), abs=1e-5)
    else:
        assert own["single"] == own["own"], "a sampled step is read alone"
        assert np.isnan(own["mean_halting"]), "its answer is no mixture"
    assert own["max_steps"] == 4


@torch.no_grad()
def test_fixed_repeat_reads_the_state_of_its_own_depth(tmp_path: Path) -> None:
    work = stage_of(tmp_path, PARITY, evaluation={"stored": STORED, "examples": 40})
    table, trained = table_of(work), read_back(work, "repeat")
    rows = table[(table["mechanism"] == "repeat") & (table["split"] == "test")]
    assert (rows["own"] == rows["single"]).all() and (rows["own"] == rows["depth"]).all()
    assert rows["mean_halting"].isna().all() and (rows["ponder_sd"] == 0).all()
    assert (rows["max_steps"] == rows["setting"]).all() and rows["setting"].nunique() > 1
    test = steps.first(work.sets["test"], STORED)
    right = test.targets[0].numpy() > 0
    states = readout.read(trained, work.task, test).states
    for k, (_, own) in enumerate(rows.iterrows()):
        y, s, _ = walked(select(trained.network, k, trained.network.halting), test, 8)
        at = int(own["setting"]) - 1
        later = (y[2 * at + 1, :, 0] > 0) != right
        assert own["twice"] == pytest.approx(later.mean(), abs=1e-5)
        assert own["depth"] == pytest.approx(((y[at, :, 0] > 0) != right).mean(), abs=1e-5)
        np.testing.assert_allclose(states[k, 0], s[at], atol=1e-5)


class Second(RandomDepth):
    """Stops at step 2 by its own rule, without having learned it."""

    exits = ()

    def at_inference(self, generator: Generator | None = None) -> Second:
        return replace(self, depth=2)


@torch.no_grad()
def test_what_halts_without_learning_to_is_forced_to_all_steps_too(tmp_path: Path) -> None:
    work = stage_of(tmp_path, PARITY, evaluation={"stored": STORED, "examples": 40})
    trained, test = read_back(work, "act"), steps.first(work.sets["test"], STORED)
    trained.network.halting = Second(max_steps=4)
    found = readout.read(trained, work.task, test)
    assert (found.steps == 2).all()
    for k in range(len(found.steps)):
        states = walked(select(trained.network, k, trained.network.halting), test, 4)[1]
        np.testing.assert_allclose(found.states[k, 0], states[3], atol=1e-5)


def act_weights(halts: Any, epsilon: float = 0.01) -> Any:
    """Graves's p_n of halting units (N, B), row by row."""
    weights = np.zeros_like(halts)
    for b, row in enumerate(halts.T):
        spent = 0.0
        for n, unit in enumerate(row):
            if spent + unit >= 1 - epsilon or n == len(row) - 1:
                weights[n, b] = 1 - spent
                break
            weights[n, b] = unit
            spent += unit
    return weights


@torch.no_grad()
def test_what_the_mean_does_where_halting_decides(tmp_path: Path) -> None:
    """A network that answers by its second step where it stops early, wrongly at the mean."""
    work = stage_of(tmp_path, PARITY, evaluation={"stored": STORED, "examples": 40})
    trained = read_back(work, "act")
    heads = trained.network.heads
    heads.bias[:, -1] = 0.0
    heads.weight[..., -1] = torch.linspace(-9, 9, heads.weight.shape[1])
    test, shares = work.sets["beyond"], np.full(80, 1 / 80)
    found = readout.with_mean_halting(trained, work.task, test, shares)
    own = readout.read(trained, work.task, test).own
    assert found.shape == own.shape and (found != own).any()
    for k in range(len(own)):
        y, _, h = walked(select(trained.network, k, trained.network.halting), test, 4)
        said = act_weights(h).mean(1) @ y[..., 0] > 0
        assert found[k].tolist() == (said != (test.targets[0].numpy() > 0)).tolist()


@torch.no_grad()
def test_a_longer_thought_takes_so_many_times_the_steps(tmp_path: Path) -> None:
    work = stage_of(tmp_path, PARITY, evaluation={"stored": STORED, "examples": 40})
    trained, test = read_back(work, "act"), steps.first(work.sets["beyond"], STORED)
    trained.network.cell.recurrent *= 5.0  # so that its answers go on changing
    right, every = test.targets[0].numpy() > 0, set()
    for times in (1, 2, 4):
        found = readout.at_depth(trained, work.task, test, times)
        for k, errors in enumerate(found):
            network = select(trained.network, k, trained.network.halting)
            y = walked(network, test, 4 * times)[0]
            assert errors.tolist() == ((y[-1, :, 0] > 0) != right).tolist()
        every.add(found.tobytes())
    assert len(every) == 3


def test_a_diverged_replica_has_the_worst_error(tmp_path: Path) -> None:
    work = stage_of(tmp_path, PARITY, [(0.6, 7)], evaluation={"stored": 5})
    table = table_of(work)
    assert tuple(table.columns) == readout.COLUMNS
    assert set(table["mechanism"]) == {"repeat", "act", "pondernet"}
    lost = table[table["status"] == "diverged"]
    worst = [*readout.READINGS, *readout.LONGER]
    assert len(lost) == 2 and (lost[worst] == 1).all(axis=None)


def test_nothing_is_fitted_on_inputs_of_the_test(tmp_path: Path) -> None:
    """All six vectors with one element of three are in both sets."""
    work = stage_of(tmp_path, PARITY | ONE_ELEMENT, evaluation={"examples": 99})
    table = table_of(work)
    assert (table["fitted"] == 0).all() and table["refitted"].isna().all()
    assert (table["split"] == "test").all() and table[[*readout.LONGER]].isna().all(axis=None)
    assert table["depth"].notna().all()


def halted(network: Any, batch: Batch, b: int, stop: Any) -> tuple[Any, Any]:
    """One sequence of one network: outputs (T, C) and states (T, H) of the steps that end inputs.

    `stop` is given all halting logits of an input, (N,).
    """
    state = tuple(torch.zeros(1, size) for size in network.cell.state_sizes)
    outputs, states = [], []
    for t in range(int(batch.mask[:, b].sum())):
        drive, found = network.cell.embed(batch.inputs[t, b][None]), []
        for n in range(1, 5):
            state = network.cell.step(drive, state, n == 1)
            found.append((*network.heads.of(state), state))
        y, _, state = found[stop([float(logit) for _, logit, _ in found]) - 1]
        outputs.append(y[0])
        states.append(state[0][0].numpy())
    return torch.stack(outputs), np.stack(states)


def graves(logits: list[float]) -> int:
    """The first step at which the halting units reach 1 - epsilon (Graves 2016, Eq. 7)."""
    spent = 0.0
    for n, logit in enumerate(logits[:-1], 1):
        spent += 1 / (1 + np.exp(-logit))
        if spent >= 1 - 0.01:
            return n
    return len(logits)


def mistakes(task: Any, batch: Batch, every: list[Any]) -> Any:
    outputs = torch.zeros(*batch.mask.shape, task.output_size)
    for b, (y, _) in enumerate(every):
        outputs[: len(y), b] = y
    return task.error(outputs, batch).numpy()


@torch.no_grad()
def test_on_sequences_each_reading_decides_which_state_is_carried(tmp_path: Path) -> None:
    work = stage_of(
        tmp_path, SORT, network={"cell": "lstm"}, evaluation={"stored": 20, "examples": 20}
    )
    table, trained, k = table_of(work), read_back(work, "act"), 1
    assert set(table["mechanism"]) == {"repeat", "act", "pondernet"}
    own = table[table["mechanism"] == "act"].iloc[k]
    test = work.sets["test"]
    other = work.task.evaluation_sets(20, "validation")["test"].torch()
    network = select(trained.network, k, trained.network.halting)
    count = range(len(test.difficulty))
    alone = [halted(network, test, b, graves) for b in count]
    deep = [halted(network, test, b, len) for b in count]
    assert own["single"] == pytest.approx(mistakes(work.task, test, alone).mean(), abs=1e-5)
    assert own["depth"] == pytest.approx(mistakes(work.task, test, deep).mean(), abs=1e-5)
    measured = measure(trained.network, trained.network.halting, work.task, test, 4, 16)
    assert own["own"] == pytest.approx(measured.error[k].mean(), abs=1e-5)
    assert own["ponder_time"] == pytest.approx(measured.ponder_time[k].mean(), abs=1e-5)
    assert np.isnan(own[["mean_halting", *readout.LONGER]].astype(float)).all()
    fixed = table[table["mechanism"] == "repeat"]
    assert (fixed["own"] == fixed["single"]).all() and (fixed["own"] == fixed["depth"]).all()

    def scored(batch: Batch, every: list[Any]) -> tuple[Any, Any, Any]:
        there = [(b, t) for b in count for t in range(len(batch.mask)) if batch.scored[t, b]]
        states = np.stack([every[b][1][t] for b, t in there])
        return states, np.array([int(batch.targets[t, b]) for b, t in there]), there

    states, targets, _ = scored(other, [halted(network, other, b, len) for b in count])
    asked, answers, there = scored(test, deep)
    read = readout.read(trained, work.task, test).states[k]
    np.testing.assert_allclose(np.stack([read[t, b] for b, t in there]), asked, atol=1e-5)
    middle, spread = states.mean(0), states.std(0)
    head = LogisticRegression(max_iter=1000).fit((states - middle) / spread, targets)
    right = head.predict((asked - middle) / spread) == answers
    wrong = {b for (b, _), each in zip(there, right, strict=True) if not each}
    assert own["fitted"] == len(count)
    assert own["refitted"] == pytest.approx(len(wrong) / len(count), abs=1.5 / len(count))


def test_of_several_softmaxes_each_has_a_head_of_its_own(tmp_path: Path) -> None:
    """A sum is wrong wherever one of its places is."""
    rng = np.random.default_rng(0)
    task = make_task(
        {"name": "addition", "digits": 1, "length": [2, 2], "test_length": 2}, "", None
    )
    fit, test = (task.evaluation_sets(each, "validation")["test"].torch() for each in (300, 50))
    known, asked = (
        np.eye(22)[each.targets.numpy() + np.array([0, 11])].sum(2) for each in (fit, test)
    )  # states that say both places
    assert readout.refitted_anew((known, fit), (asked, test)).sum() == 0
    asked[1, :7, 11:] = rng.normal(size=(7, 11))  # the second place is lost in seven sums
    wrong = readout.refitted_anew((known, fit), (asked, test))
    assert 0 < wrong.sum() == wrong[:7].sum()
