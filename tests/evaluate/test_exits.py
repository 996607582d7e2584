"""Exit rules against the oracle, row by row, and their table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from oracle import oracle_exits
from support import stages, tiny
from support.untrained import stage_of

from pondering.claims.measures.comparison import FEWEST_THRESHOLDS
from pondering.evaluate import exits
from pondering.evaluate.rules import LEAST, RULES, Shown
from pondering.evaluate.stage import Evaluation
from pondering.model.halting import Exit, PonderNet
from pondering.model.stacking import select
from pondering.results.results import EXIT_COLUMNS
from pondering.tasks.base import Batch

ROWS = 60
LOGIC = {"name": "logic", "gates": 2, "length": [1, 3], "test_length": 3}
SIZES = [(1, 1), (1, 3), (2, 1), (6, 1), (12, 4)]  # steps, outputs
N, REPLICAS = 4, 4
PARITY = {
    "name": "parity", "layout": "scattered", "bits": 6, "train_nonzero": [1, 6],
    "test_nonzero": {"test": [1, 3], "beyond": [5, 6]},
}  # fmt: skip


def rows_of(steps: int, parts: int, ties: bool, seed: int = 3) -> list[oracle_exits.Row]:
    """Random examples; with `ties` they have few values, so steps and classes tie."""
    rng = np.random.default_rng([steps, parts, ties, seed])

    def draw(*shape: int) -> Any:
        found = rng.normal(0, 2, shape)
        return found.round() if ties else found

    change = np.abs(draw(ROWS, steps))
    change[:, 0] = 1
    logits, outputs = draw(ROWS, steps), draw(ROWS, steps, parts)
    targets = rng.integers(max(2, parts), size=ROWS)
    values = zip(logits.tolist(), outputs.tolist(), change.tolist(), targets.tolist(), strict=True)
    return [oracle_exits.Row(*each) for each in values]


def shown_of(rows: list[oracle_exits.Row]) -> Shown:
    targets = np.array([row.target for row in rows])

    def judge(outputs: Any) -> Any:
        answers = outputs.argmax(-1) if outputs.shape[-1] > 1 else outputs[..., 0] > 0
        return (answers != targets).astype(float)

    return Shown(
        np.array([row.halt_logits for row in rows]).T,
        np.array([row.outputs for row in rows]).swapaxes(0, 1),
        np.array([row.change for row in rows]).T,
        judge,
    )


def midpoints(thresholds: Any) -> Any:
    """Infinite ends and midpoints of neighbours, so no rounding decides."""
    known = thresholds[np.isfinite(thresholds)]
    return np.concatenate([[-np.inf, np.inf], (known[1:] + known[:-1]) / 2])


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("steps", "parts"), SIZES)
@pytest.mark.parametrize("rule", oracle_exits.STOPS)
def test_a_rule_stops_where_the_oracle_does(rule: str, steps: int, parts: int, ties: bool) -> None:
    rows = rows_of(steps, parts, ties)
    shown = shown_of(rows)
    thresholds = RULES[rule].thresholds(shown)
    if rule in ("cumulated", "threshold", "divergence", "certainty"):  # others are not rounded
        thresholds = midpoints(thresholds)
    found, error = RULES[rule].outcome(shown, thresholds)
    for t, theta in enumerate(thresholds):
        wanted = [oracle_exits.STOPS[rule](row, theta) for row in rows]
        assert found[t].tolist() == wanted
        wrong = [oracle_exits.wrong(row, n) for row, n in zip(rows, wanted, strict=True)]
        assert error[t].tolist() == wrong


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("steps", "parts"), SIZES)
@pytest.mark.parametrize("rule", ["sampled", "expected"])
def test_sampled_and_expected_match_the_oracle(
    rule: str, steps: int, parts: int, ties: bool
) -> None:
    rows = rows_of(steps, parts, ties)
    shown = shown_of(rows)
    found = RULES[rule].outcome(shown, np.array([np.nan]))
    wanted = [getattr(oracle_exits, rule)(row) for row in rows]
    np.testing.assert_allclose([each[0] for each in found], np.transpose(wanted), rtol=1e-12)


def test_the_oracle_has_every_rule() -> None:
    assert set(RULES) == {*oracle_exits.STOPS, "sampled", "expected"}


USUAL = {"cumulated": 0.5, "threshold": 0.5, "state": 0.03, "divergence": 1e-3}
WITH_THRESHOLD = ("cumulated", "threshold", "patience", "state", "divergence", "certainty")


@pytest.mark.parametrize("rule", WITH_THRESHOLD)
def test_thresholds_spread_the_mean_steps_of_their_set(rule: str) -> None:
    shown = shown_of(rows_of(12, 4, ties=False))
    thresholds = RULES[rule].thresholds(shown)
    assert len(thresholds) >= 8 and USUAL.get(rule, thresholds[0]) in thresholds
    steps = RULES[rule].outcome(shown, thresholds)[0].mean(1)
    assert (np.diff(steps) >= 0).all()
    least = 2 if rule == "divergence" else 1  # it compares with the step before
    assert (steps[0], steps[-1]) == (least, 12)
    if rule in ("cumulated", "threshold", "certainty"):  # the others treat some steps apart
        spread = ~np.isin(thresholds, USUAL.get(rule, ()))
        wanted = 12 ** (np.arange(1, 12) / 12)
        np.testing.assert_allclose(
            steps[spread][1:-1], wanted, atol=11 / ROWS
        )  # a row more or less


def test_a_saturated_network_has_at_least_eight_thresholds() -> None:
    """Nine of ten rows have one of two values, so quantiles alone give three numbers."""
    some, spread = slice(None, None, 10), np.linspace(-3, 3, 36).reshape(6, 6)
    logits = np.where(np.arange(60)[:, None] % 2, 50.0, -50.0) * np.ones((60, 6))
    outputs, change = logits.copy(), np.where(logits > 0, 1e-6, 0.5)
    logits[some], outputs[some], change[some] = spread, spread, np.exp(-np.arange(6) / 2 - spread)
    change[:, 0] = 1
    values = zip(logits.tolist(), outputs[..., None].tolist(), change.tolist(), strict=True)
    shown = shown_of([oracle_exits.Row(*each) for each in values])
    assert LEAST == FEWEST_THRESHOLDS, "Q4 takes no rule with fewer"
    for rule in ("cumulated", "threshold", "state", "divergence", "certainty"):
        thresholds = RULES[rule].thresholds(shown)
        assert len(thresholds) >= LEAST, rule
        assert len(np.unique(RULES[rule].outcome(shown, thresholds)[0].mean(1))) >= 6, rule


def table_of(stage: Evaluation) -> pd.DataFrame:
    exits.run(stage)
    return pd.read_csv(stage.layout.exits("tiny"))


def test_the_table_has_every_replica_split_rule_and_threshold(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, PARITY, [(0.6, 7)], evaluation={"stored": 6})
    table = table_of(stage)
    assert tuple(table.columns) == EXIT_COLUMNS
    assert set(table["mechanism"]) == {"pondernet"}, "ACT and repeat have no exit rules"
    groups = table.groupby(["setting", "seed", "split"])
    assert set(groups.groups) == {
        (setting, seed, split)
        for setting in (0.3, 0.6) for seed in (0, 7) for split in ("test", "beyond")
    }  # fmt: skip
    for (setting, seed, split), rows in groups:
        assert list(dict.fromkeys(rows["rule"])) == list(RULES)
        assert set(rows["examples"]) == {18 if split == "test" else 12}
        if (setting, seed) == (0.6, 7):
            assert set(rows["status"]) == {"diverged"} and set(rows["error"]) == {1.0}
            assert rows["ponder_time"].isna().all() and len(rows) == len(RULES)
            continue
        fixed = rows[rows["rule"] == "fixed"]
        assert fixed["threshold"].tolist() == fixed["ponder_time"].tolist() == [1, 2, 3, 4]
    before = stage.layout.exits("tiny").read_bytes()
    exits.run(stage)
    assert stage.layout.exits("tiny").read_bytes() == before


def test_a_row_of_the_table_is_the_mean_over_difficulties_of_the_test_alone(
    tmp_path: Path,
) -> None:
    """Thresholds come from the validation set; another test set changes none."""
    stage = stage_of(tmp_path, PARITY, evaluation={"stored": 6})
    table, trained = table_of(stage), stage.read_back("pondernet")
    batch = exits.first(stage.sets["beyond"], 6)
    shown = exits.every_step(trained, stage.task, batch)[1]
    part = table[(table["setting"] == 0.3) & (table["seed"] == 7) & (table["split"] == "beyond")]
    arrays = (shown.halt_logits, shown.outputs, shown.change)
    values = (np.swapaxes(each, 0, 1).tolist() for each in arrays)
    targets = batch.targets[0].int().tolist()
    rows = [oracle_exits.Row(*each) for each in zip(*values, targets, strict=True)]
    hard = batch.difficulty.numpy()
    assert 0.001 in part.loc[part["rule"] == "divergence", "threshold"].to_list()
    assert (part["rule"] == "certainty").sum() >= 8
    for each in part[part["rule"].isin(["certainty", "oracle", "fixed"])].itertuples():
        steps = np.array([oracle_exits.STOPS[each.rule](row, each.threshold) for row in rows])
        errors = np.array([oracle_exits.wrong(row, n) for row, n in zip(rows, steps, strict=True)])
        means = [[v[hard == d].mean() for d in np.unique(hard)] for v in (steps, errors)]
        assert each.ponder_time == pytest.approx(np.mean(means[0]), abs=1e-5)
        assert each.error == pytest.approx(np.mean(means[1]), abs=1e-5)
        easy, difficult = means[0]
        rises = np.nan if easy == difficult else float(np.sign(difficult - easy))
        assert each.trend == pytest.approx(rises, nan_ok=True)
    assert {-1.0, 1.0} & set(part["trend"]) and part.loc[
        part["rule"] == "fixed", "trend"
    ].isna().all()

    flipped = {split: each._replace(targets=1 - each.targets) for split, each in stage.sets.items()}
    changed = pd.DataFrame(exits.table_rows(trained, stage.task, flipped, 6))
    assert changed["threshold"].tolist() == pytest.approx(table["threshold"], abs=0, nan_ok=True)
    assert not np.allclose(changed["error"], table["error"])


def test_rules_need_every_steps_output_and_some_a_halting_unit_that_learns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = stage_of(tmp_path, PARITY, evaluation={"stored": 2})
    assert not list(exits.table_rows(stage.read_back("act"), stage.task, stage.sets, 2))
    monkeypatch.setattr(PonderNet, "learns", False)
    of_outputs = {"patience", "state", "divergence", "certainty", "fixed", "oracle"}
    assert set(table_of(stage)["rule"]) == of_outputs


def test_the_stage_writes_the_table_and_refuses_sequences(tmp_path: Path) -> None:
    for task, status, expected in ((PARITY, 0, ""), (LOGIC, 2, "tiny has sequences; exit rules")):
        folder = tmp_path / str(task["name"])
        folder.mkdir()
        stage = stage_of(folder, task, evaluation={"stored": 3})
        done = stages.run(folder, "exits", *stages.PROFILE, "tiny")
        assert (done.status, expected in done.err, len(done.err.splitlines())) == (
            status, True, bool(status)
        )  # fmt: skip
        assert stage.layout.exits("tiny").is_file() == (not status)


# --- every step, against single networks on the readable path -----------------------------------


@pytest.mark.parametrize("task", [PARITY, tiny.DIGITS], ids=lambda task: task["name"])
@pytest.mark.parametrize("epsilon", [None, 0.3], ids=["all", "stopped"])
def test_every_step_of_a_replica_is_that_of_its_network_alone(
    tmp_path: Path, task: dict[str, Any], epsilon: float | None
) -> None:
    more = {} if epsilon is None else {"pondernet": {"lambda_p": [0.3, 0.6], "epsilon": epsilon}}
    stage = stage_of(tmp_path, task, **more)
    trained = stage.read_back("pondernet")
    batch = exits.first(next(iter(stage.sets.values())), 200)
    every = exits.every_step(trained, stage.task, batch)
    for k, (replica, shown) in enumerate(zip(trained.replicas, every, strict=True)):
        network = select(trained.network, k, PonderNet(replica.setting, max_steps=N))
        with torch.no_grad():
            alone = network(batch.inputs, batch.mask)
        np.testing.assert_allclose(
            shown.outputs, alone.outputs[:, 0].numpy(), rtol=6e-4, atol=1e-6
        )  # of float16
        weights = alone.weights[:, 0].numpy()
        np.testing.assert_allclose(shown.weights, weights, rtol=1e-4, atol=1e-6)


def test_the_change_is_measured_on_all_parts_of_the_state(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, PARITY, network={"cell": "lstm", "hidden": 16})
    trained = stage.read_back("pondernet")
    batch = exits.first(stage.sets["test"], 3)
    found = np.stack([each.change for each in exits.every_step(trained, stage.task, batch)], 1)
    states: list[Any] = []

    def rule(each: Any) -> torch.Tensor:
        states.append(each.states)
        return torch.zeros_like(each.halt_logits[-1], dtype=torch.bool)

    whole = batch.replicate(REPLICAS)
    with torch.no_grad():
        trained.network(whole.inputs, whole.mask, halting=Exit(rule, N))
    s1, s2 = (state.numpy().astype(np.float64) for state in states[1])
    wanted = np.sqrt(((s2 - s1) ** 2).sum(-1) / (s2**2).sum(-1))
    np.testing.assert_allclose(found[1], wanted, rtol=1e-3)
    assert (found[0] == 1).all()


def test_the_first_examples_of_each_difficulty_are_taken_in_their_order() -> None:
    difficulty = torch.tensor([2.0, 1.0, 2.0, 1.0, 2.0, 3.0])
    rows = torch.arange(6.0)[None]
    batch = Batch(rows.unsqueeze(-1), rows, rows > -1, rows > -1, difficulty)
    assert exits.first(batch, 2).targets.tolist() == [[0, 1, 2, 3, 5]]
    assert exits.first(batch, 9).targets.tolist() == [[0, 1, 2, 3, 4, 5]]
