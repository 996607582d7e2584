"""Exit rules on stored steps, against the oracle's reading, row by row."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from oracle import oracle_exits
from support import stages
from support.stages import QUICK
from support.untrained import stage_of

from pondering.claims.questions.exit_rules import FEWEST_THRESHOLDS
from pondering.data.frozen import read_arrays
from pondering.evaluate import exits
from pondering.evaluate.rules import LEAST, RULES, Judged
from pondering.evaluate.stage import Evaluation, run
from pondering.model.halting import EXITS

ROWS = 60
SIZES = [(1, 1), (1, 3), (2, 1), (6, 1), (12, 4)]  # steps, outputs
PARITY = {
    "name": "parity", "layout": "scattered", "bits": 6, "train_nonzero": [1, 6],
    "test_nonzero": {"test": [1, 3], "beyond": [5, 6]},
}  # fmt: skip


def rows_of(steps: int, parts: int, ties: bool, seed: int = 3) -> list[oracle_exits.Row]:
    """Random examples; where `ties`, of few values, so that steps and classes are alike."""
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


def shown_of(rows: list[oracle_exits.Row]) -> Judged:
    targets = np.array([row.target for row in rows])

    def judge(outputs: Any) -> Any:
        said = outputs.argmax(-1) if outputs.shape[-1] > 1 else outputs[..., 0] > 0
        return (said != targets).astype(float)

    return Judged(
        np.array([row.halt_logits for row in rows]).T,
        np.array([row.outputs for row in rows]).swapaxes(0, 1),
        np.array([row.change for row in rows]).T,
        judge,
    )


def untied(thresholds: Any) -> Any:
    """The ends and the middles of neighbours: no value is so near that rounding decides."""
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
        thresholds = untied(thresholds)
    found, error = RULES[rule].outcome(shown, thresholds)
    for t, theta in enumerate(thresholds):
        wanted = [oracle_exits.STOPS[rule](row, theta) for row in rows]
        assert found[t].tolist() == wanted
        said = [oracle_exits.wrong(row, n) for row, n in zip(rows, wanted, strict=True)]
        assert error[t].tolist() == said


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize(("steps", "parts"), SIZES)
@pytest.mark.parametrize("rule", ["sampled", "expected"])
def test_a_rule_by_chance_or_mixture_is_the_oracles(
    rule: str, steps: int, parts: int, ties: bool
) -> None:
    rows = rows_of(steps, parts, ties)
    shown = shown_of(rows)
    found = RULES[rule].outcome(shown, np.array([np.nan]))
    wanted = [getattr(oracle_exits, rule)(row) for row in rows]
    np.testing.assert_allclose([each[0] for each in found], np.transpose(wanted), rtol=1e-12)


def test_every_rule_has_its_entry_in_their_order() -> None:
    assert tuple(RULES) == EXITS
    assert set(EXITS) == {*oracle_exits.STOPS, "sampled", "expected"}


USUAL = {"cumulated": 0.5, "threshold": 0.5, "state": 0.03, "divergence": 1e-3}
WITH_THRESHOLD = ("cumulated", "threshold", "patience", "state", "divergence", "certainty")


@pytest.mark.parametrize("rule", WITH_THRESHOLD)
def test_thresholds_spread_the_mean_steps_of_the_set_that_chose_them(rule: str) -> None:
    shown = shown_of(rows_of(12, 4, ties=False))
    thresholds = RULES[rule].thresholds(shown)
    assert len(thresholds) >= 8
    steps = RULES[rule].outcome(shown, thresholds)[0].mean(1)
    assert (np.diff(steps) >= 0).all()
    least = 2 if rule == "divergence" else 1  # it compares with the step before
    assert (steps[0], steps[-1]) == (least, 12)
    if rule in ("cumulated", "threshold", "certainty"):  # of no other are all steps alike
        spread = ~np.isin(thresholds, USUAL.get(rule, ()))
        wanted = 12 ** (np.arange(1, 12) / 12)
        np.testing.assert_allclose(
            steps[spread][1:-1], wanted, atol=11 / ROWS
        )  # a row more or less


@pytest.mark.parametrize(("rule", "usual"), USUAL.items())
def test_the_threshold_of_a_rules_source_is_among_them(rule: str, usual: float) -> None:
    """On a network whose own quantiles lie elsewhere: its steps are all alike."""
    row = oracle_exits.Row([3.0] * 6, [[5.0]] * 6, [1.0] * 6, 1)
    for rows in ([row, row], rows_of(12, 4, ties=False)):
        assert usual in RULES[rule].thresholds(shown_of(rows))


def test_a_saturated_network_has_eight_thresholds_too() -> None:
    """Nine rows of ten show one of two things: quantiles alone would be three numbers."""
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


@pytest.mark.parametrize("steps", [1, 6])
@pytest.mark.parametrize("rule", WITH_THRESHOLD)
def test_a_statistic_of_one_value_stops_at_once_or_never(rule: str, steps: int) -> None:
    row = oracle_exits.Row([0.0] * steps, [[1.0]] * steps, [1.0] * steps, 1)
    shown = shown_of([row, row])
    thresholds = RULES[rule].thresholds(shown)
    assert not np.isnan(thresholds).any()
    found = RULES[rule].outcome(shown, thresholds)[0]
    assert found.min() == (2 if rule == "divergence" and steps > 1 else 1)
    assert found.max() == steps


def table_of(work: Evaluation) -> pd.DataFrame:
    run(work)
    exits.run(work)
    return pd.read_csv(work.layout.exits("tiny"))


def test_the_table_has_every_replica_split_rule_and_threshold(tmp_path: Path) -> None:
    work = stage_of(tmp_path, PARITY, [(0.6, 7)], evaluation={"stored": 6})
    table = table_of(work)
    assert tuple(table.columns) == exits.COLUMNS
    assert set(table["mechanism"]) == {"pondernet"}, "act and repeat stop by their own rule alone"
    groups = table.groupby(["setting", "seed", "split"])
    assert set(groups.groups) == {
        (setting, seed, split)
        for setting in (0.3, 0.6) for seed in (0, 7) for split in ("test", "beyond")
    }  # fmt: skip
    for (setting, seed, split), rows in groups:
        assert list(dict.fromkeys(rows["rule"])) == list(EXITS)
        assert set(rows["examples"]) == {18 if split == "test" else 12}
        if (setting, seed) == (0.6, 7):
            assert set(rows["status"]) == {"diverged"} and set(rows["error"]) == {1.0}
            assert rows["ponder_time"].isna().all() and len(rows) == len(EXITS)
            continue
        fixed = rows[rows["rule"] == "fixed"]
        assert fixed["threshold"].tolist() == fixed["ponder_time"].tolist() == [1, 2, 3, 4]


def test_a_row_of_the_table_is_the_mean_over_difficulties_of_the_test_alone(
    tmp_path: Path,
) -> None:
    """With thresholds of the validation set: another test set changes none of them."""
    work = stage_of(tmp_path, PARITY, evaluation={"stored": 6})
    table, stored = table_of(work), read_arrays(work.layout.steps("tiny"))
    k, place = 1, "pondernet/test/beyond"
    own = table[(table["setting"] == 0.3) & (table["seed"] == 7) & (table["split"] == "beyond")]
    names = ("halt_logits", "outputs", "change")
    arrays = [np.swapaxes(stored[f"{place}/{name}"][:, k], 0, 1).tolist() for name in names]
    targets = stored[f"{place}/targets"].astype(int).tolist()
    rows = [oracle_exits.Row(*each) for each in zip(*arrays, targets, strict=True)]
    hard = stored[f"{place}/difficulty"]
    assert 0.001 in own.loc[own["rule"] == "divergence", "threshold"].to_list()
    chosen = own[own["rule"] == "certainty"]
    assert len(chosen) >= 8
    for each in own[own["rule"].isin(["certainty", "oracle", "fixed"])].itertuples():
        steps = np.array([oracle_exits.STOPS[each.rule](row, each.threshold) for row in rows])
        errors = np.array([oracle_exits.wrong(row, n) for row, n in zip(rows, steps, strict=True)])
        means = [[v[hard == d].mean() for d in np.unique(hard)] for v in (steps, errors)]
        assert each.ponder_time == pytest.approx(np.mean(means[0]), abs=1e-5)
        assert each.error == pytest.approx(np.mean(means[1]), abs=1e-5)
        easy, difficult = means[0]
        rises = np.nan if easy == difficult else float(np.sign(difficult - easy))
        assert each.trend == pytest.approx(rises, nan_ok=True), "of two difficulties"
    assert {-1.0, 1.0} & set(own["trend"]) and own.loc[own["rule"] == "fixed", "trend"].isna().all()

    np.random.default_rng(0).shuffle(stored[f"{place}/outputs"], axis=2)
    changed = pd.DataFrame(exits.table_rows(stored, {"pondernet": EXITS}, work.task))
    assert changed["threshold"].tolist() == pytest.approx(table["threshold"], abs=0, nan_ok=True)
    assert not np.allclose(changed["error"], table["error"])


def test_a_mechanism_has_the_rules_that_its_class_allows(tmp_path: Path) -> None:
    stored = read_arrays(_stored(tmp_path))
    few = ("fixed", "patience", "oracle")
    found = pd.DataFrame(exits.table_rows(stored, {"pondernet": few}, _task(tmp_path)))
    assert list(dict.fromkeys(found["rule"])) == ["patience", "fixed", "oracle"]


def _stored(folder: Path) -> Path:
    work = stage_of(folder, PARITY, evaluation={"stored": 2})
    run(work)
    return work.layout.steps("tiny")


def _task(folder: Path) -> Any:
    return stage_of(folder, PARITY).task


def test_the_stage_writes_the_table_and_asks_for_what_is_missing(tmp_path: Path) -> None:
    folder = stages.new_project(tmp_path)
    work = stage_of(folder, PARITY, evaluation={"stored": 3})
    refused = stages.run(folder, "exits", *QUICK)
    assert (refused.status, "data/steps/quick/tiny.npz: no such file" in refused.err) == (2, True)
    run(work)
    done = stages.run(folder, "exits", *QUICK)
    assert (done.status, done.err) == (0, "")
    assert len(pd.read_csv(work.layout.exits("tiny")))
