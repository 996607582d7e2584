"""The claims: every measure on results made to pass, to fail and to be insufficient."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from claim_cases import CASES
from claim_cases_graves import TAUS, with_and_without
from support.claim_tables import results, rows

from pondering.claims.claims import Criterion, load_claims
from pondering.claims.measures import MEASURES
from pondering.claims.measures.arrays import trend
from pondering.claims.measures.penalty import _spread_label
from pondering.claims.measures.quantities import (
    Quantity,
    mean_over_seeds,
    number_text,
    over_seeds,
    quantity_text,
)
from pondering.claims.measures.text import character_kinds
from pondering.claims.verdicts import claims_json, judge, judge_all
from pondering.results.results import Results

ROOT = Path(__file__).parents[2]


CLAIMS = {claim.id: claim for claim in load_claims(ROOT / "claims.yaml")}


IDS = ["G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G9", "G10", "B1", "B2", "B3", "B4", "B5",
       "M1", "M2", "F1"]  # fmt: skip


LEVELS = (1, 16, 32, 48, 64)


def changed(source: Results, experiment: str, **columns: object) -> Results:
    """Results with some columns of one table replaced."""
    table = source.tables[experiment].assign(**columns)
    return dataclasses.replace(source, tables=source.tables | {experiment: table})


def test_every_claim_of_the_papers_is_there_and_every_measure_is_used() -> None:
    assert list(CLAIMS)[: len(IDS)] == IDS  # a new one comes after them
    assert {claim.measure for claim in CLAIMS.values()} == set(MEASURES)
    assert set(IDS) <= set(CASES) <= set(CLAIMS)


@pytest.mark.parametrize("name", CASES)
def test_results_as_in_the_paper_reproduce_the_claim(name: str) -> None:
    judgement = judge(CLAIMS[name], CASES[name][0])
    assert judgement.verdict == "reproduced", judgement.findings
    assert judgement.runs and judgement.quantities and judgement.seeds >= 1
    assert all(finding.outcome == "holds" for finding in judgement.findings)


@pytest.mark.parametrize("name", CASES)
def test_contrary_results_do_not_reproduce_it(name: str) -> None:
    judgement = judge(CLAIMS[name], CASES[name][1])
    assert judgement.verdict == "not reproduced", judgement.findings
    assert any(finding.outcome == "fails" and finding.core for finding in judgement.findings)


@pytest.mark.parametrize("name", CASES)
def test_insufficient_results_leave_it_open(name: str) -> None:
    judgement = judge(CLAIMS[name], CASES[name][2])
    assert judgement.verdict == "cannot be judged at this scale", judgement.findings
    assert judgement.reason.endswith(".") and len(judgement.reason) > 20


@pytest.mark.parametrize("name", CASES)
def test_without_results_it_was_not_run(name: str) -> None:
    judgement = judge(CLAIMS[name], results([]))
    assert (judgement.verdict, judgement.runs) == ("not run", ())
    others = judge(CLAIMS[name], results([rows("other", "act", [1], lambda s, k, d: 0.0)]))
    assert others.verdict == "not run"


@pytest.mark.parametrize("name", CASES)
def test_one_seed_decides_only_what_the_paper_shows_of_one_network(name: str) -> None:
    source = CASES[name][0]
    tables = {key: table[table["seed"] == 0] for key, table in source.tables.items()}
    curves = {key: curve[curve["seed"] == 0] for key, curve in source.curves.items()}
    judgement = judge(CLAIMS[name], dataclasses.replace(source, tables=tables, curves=curves))
    wanted = "reproduced" if name == "G10" else "cannot be judged at this scale"
    assert judgement.verdict == wanted


@pytest.mark.parametrize("name", CASES)
def test_quick_judges_only_what_it_says_it_can(name: str) -> None:
    judgement = judge(CLAIMS[name], dataclasses.replace(CASES[name][0], profile="quick"))
    can = "quick" in CLAIMS[name].judged_at
    assert judgement.verdict == ("reproduced" if can else "cannot be judged at this scale")
    assert judgement.quantities, "what can be measured is reported even where it is not judged"
    assert sorted(n for n in IDS if "quick" in CLAIMS[n].judged_at) == ["G10", "G2", "G3"]


def test_a_weaker_result_is_partly_reproduced() -> None:
    source, _, _ = with_and_without("parity", 0.38, LEVELS)
    table = source.tables["parity"]
    act = table["mechanism"] == "act"
    weaker = changed(source, "parity", error=table["error"].mask(act, 0.10))
    judgement = judge(CLAIMS["G1"], weaker)
    assert judgement.verdict == "partly"
    assert "error of ACT" in judgement.reason


def test_an_easy_task_is_an_excuse_below_the_papers_size_and_a_finding_at_it() -> None:
    act = rows("parity", "act", TAUS, lambda s, k, d: 0.01, levels=LEVELS)
    plain = rows("parity", "repeat", [1], lambda s, k, d: 0.02, levels=LEVELS)
    training = CASES["G1"][0].curves["parity"]
    assert judge(CLAIMS["G1"], results([plain, act], [training])).verdict == "not reproduced"
    small = results([part[part["difficulty"] < 64] for part in (plain, act)], [training])
    judgement = judge(CLAIMS["G1"], small)
    assert judgement.verdict == "cannot be judged at this scale"
    assert "2.0%" in judgement.reason and "plain network learns" in judgement.reason


def test_act_that_leaves_nothing_to_improve_is_a_finding_at_the_papers_size() -> None:
    parts = [
        rows("parity_interpolation", name, settings, lambda s, k, d: 0.001, levels=LEVELS)
        for name, settings in (("act", TAUS), ("pondernet", (0.2, 0.4)))
    ]
    assert judge(CLAIMS["B1"], results(parts)).verdict != "cannot be judged at this scale"
    small = results([part[part["difficulty"] < 64] for part in parts])
    judgement = judge(CLAIMS["B1"], small)
    assert judgement.verdict == "cannot be judged at this scale"
    assert "nothing to improve" in judgement.reason


def lost(source: Results, experiment: str, gone: pd.Series) -> Results:
    """Some replicas as an evaluation writes them when they have diverged."""
    table = source.tables[experiment]
    return changed(
        source,
        experiment,
        status=table["status"].mask(gone, "diverged"),
        error=table["error"].mask(gone, 1.0),
        ponder_time=table["ponder_time"].mask(gone),
    )


def test_a_diverged_run_counts_as_a_failure() -> None:
    source = CASES["G1"][0]
    table = source.tables["parity"]
    gone = (table["mechanism"] == "act") & (table["seed"] == 2)
    judgement = judge(CLAIMS["G1"], lost(source, "parity", gone))
    error = next(q for q in judgement.quantities if q.name == "act_error")
    assert error.value == pytest.approx((0.010 + 0.011 + 1.0) / 3)
    assert judgement.diverged == len(TAUS) and judgement.verdict == "not reproduced"


def test_a_diverged_run_has_no_trend_and_no_line() -> None:
    source = CASES["G3"][0]
    table = source.tables["parity"]
    gone = (table["mechanism"] == "act") & (table["seed"] == 2) & (table["setting"] == TAUS[0])
    broken = lost(source, "parity", gone)
    before = {q.name: q.value for q in judge(CLAIMS["G3"], source).quantities}
    after = {q.name: q.value for q in judge(CLAIMS["G3"], broken).quantities}
    assert after["learned_settings"] == before["learned_settings"] - 1 / len(TAUS)
    assert before["steepness_trend"] == -1.0
    # its setting has not learned now, so that none of its slopes counts
    assert after["steepness_trend"] == -1.0


def test_a_verdict_on_unfinished_runs_says_so() -> None:
    source = CASES["B1"][0]
    table = source.tables["parity_interpolation"]
    status = table["status"].mask(table["mechanism"] == "act", "running")
    judgement = judge(CLAIMS["B1"], changed(source, "parity_interpolation", status=status))
    assert judgement.verdict == "reproduced"
    assert judgement.unfinished == ("parity_interpolation-act",)
    report = claims_json([judgement], source)
    assert report["claims"][0]["judged_on_unfinished_runs"] == ["parity_interpolation-act"]


def test_a_difference_needs_its_whole_interval() -> None:
    """PonderNet ahead in the mean, behind in one seed of three."""
    source = CASES["B1"][0]
    table = source.tables["parity_interpolation"]
    mask = (table["mechanism"] == "pondernet") & (table["seed"] == 2)
    shaky = changed(source, "parity_interpolation", error=table["error"].mask(mask, 0.06))
    judgement = judge(CLAIMS["B1"], shaky)
    gain = next(q for q in judgement.quantities if q.name == "accuracy_gain")
    assert gain.low is not None and gain.low < 0 < gain.value
    assert judgement.verdict == "partly"


def test_computation_is_compared_over_equally_many_updates() -> None:
    source = CASES["B3"][0]
    curves = source.curves["parity_interpolation"]
    short = curves[(curves["mechanism"] == "pondernet") | (curves["update"] <= 5000)]
    half = dataclasses.replace(source, curves={"parity_interpolation": short})
    for each in (source, half):
        ratio = next(q for q in judge(CLAIMS["B3"], each).quantities if q.name == "compute_ratio")
        assert ratio.value == pytest.approx(0.5)


def test_pondernet_is_judged_by_its_sampled_prediction() -> None:
    accuracy = judge(CLAIMS["B1"], CASES["B1"][0]).quantities[0]
    assert accuracy.name == "pondernet_accuracy"
    assert accuracy.value == pytest.approx(1 - 0.021)


def test_an_interval_over_three_seeds_is_over_all_their_resamples() -> None:
    quantity = mean_over_seeds("x", "x", "steps", [1.0, 2.0, 6.0])
    assert (quantity.value, quantity.low, quantity.high, quantity.seeds) == (3.0, 1.0, 6.0, 3)
    assert mean_over_seeds("x", "x", "steps", [4.0]).low is None
    assert math.isnan(mean_over_seeds("x", "x", "steps", [np.nan]).value)


def test_an_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    generator = np.random.default_rng(7)
    draws = generator.normal(size=(200, 20))
    hits = 0
    for index, draw in enumerate(draws):
        quantity = mean_over_seeds(f"case {index}", "", "steps", draw)
        assert quantity.low is not None and quantity.high is not None
        hits += quantity.low <= 0 <= quantity.high
    assert 0.87 <= hits / len(draws) <= 0.99


def test_paired_samples_are_resampled_together() -> None:
    a = np.array([1.0, 5.0, 9.0])
    paired = over_seeds("d", "", "steps", lambda x, y: x.mean() - y.mean(), a + 1, a)
    assert (paired.low, paired.high) == (pytest.approx(1.0), pytest.approx(1.0))
    apart = over_seeds("d", "", "steps", lambda x, y: x.mean() - y.mean(), a + 1, a[:2])
    assert apart.low is not None and apart.low < 1.0 < (apart.high or 0.0)


def test_a_trend_of_a_constant_or_failed_seed_is_none_at_all() -> None:
    found = trend([1, 2, 3], np.array([[1.0, 2, 3], [3, 2, 1], [5, 5, 5], [np.nan] * 3]))
    assert found.tolist() == [1.0, -1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("quantity", "text"),
    [
        (Quantity("", "", "share", 0.0412, 0.03, 0.052, 3), "4.1% (3.0 to 5.2)"),
        (Quantity("", "", "share", 0.9884, 0.98, 0.99, 3), "98.84% (98.00 to 99.00)"),
        (Quantity("", "", "steps", -0.001, None, None, 1), "0.00 steps"),
        (Quantity("", "", "steps", -1.5, -2.0, -1.0, 3), "−1.50 steps (−2.00 to −1.00)"),  # noqa: RUF001
        (Quantity("", "", "updates", math.inf, 12000.0, math.inf, 3), "never (12,000 to never)"),
        (Quantity("", "", "bits", math.nan, None, None, 0), "not measured"),
        (Quantity("", "", "points", -0.099, -0.2, 0.0, 3), "−9.9 points (−20.0 to 0.0)"),  # noqa: RUF001
        (Quantity("", "", "points", 0.99, None, None, 1), "99.0 points"),
        (Quantity("", "", "times", 9790.93, 0.0, 9931.71, 3), "9,791 times (0.00 to 9,932)"),
        (Quantity("", "", "times", 1.5, 0.25, 120.4, 3), "1.50 times (0.25 to 120)"),
        (Quantity("", "", "share", 1.0, None, None, 3), "100.0%"),
    ],
)
def test_numbers_are_printed_as_people_write_them(quantity: Quantity, text: str) -> None:
    assert quantity_text(quantity) == text


def test_a_bound_is_written_in_the_unit_of_its_quantity() -> None:
    criterion = Criterion(quantity="x", at_most=30000, partly=100000, core=True)
    never = Quantity("x", "updates", "updates", math.inf, None, None, 3)
    assert criterion.words(never) == "at most 30,000 updates"
    assert criterion.outcome(never) == "fails"
    assert number_text(0.0, "share") == "0.0%"


def test_kinds_of_characters_are_read_off_real_text_and_taken_from_generated_text() -> None:
    text = "A b, c.<id>42</id>7"
    kinds = character_kinds([{"input": character} for character in text])
    assert kinds[:7] == ["letter", "space", "letter", "comma", "space", "letter", "stop"]
    assert kinds[7:13] == ["bracket", "other", "other", "other", "id", "id"]
    assert kinds[13] == "bracket" and set(kinds[14:]) == {"other"}
    truth = [{"input": "9", "kind": "letter"}, {"input": "<", "kind": "open"},
             {"input": "a", "kind": "tag"}, {"input": "x", "kind": "id"}]  # fmt: skip
    assert character_kinds(truth) == ["letter", "bracket", "other", "id"]


def test_claims_json_is_stable_and_holds_no_infinity() -> None:
    source = CASES["G4"][1]
    texts = [
        json.dumps(claims_json(judge_all(CLAIMS.values(), source), source), allow_nan=False)
        for _ in range(2)
    ]
    assert texts[0] == texts[1]
    claim = next(c for c in json.loads(texts[0])["claims"] if c["id"] == "G4")
    updates = next(e for e in claim["estimates"] if e["quantity"] == "solve_updates")
    assert updates["value"] is None and updates["text"].startswith("never")


def test_a_ratio_of_spreads_shows_both_and_says_what_is_taken_for_next_to_nothing() -> None:
    steps = np.array([[2.0, 1.5, 1.0], [8.0, 1.7, 1.0], [5.0, 1.6, 1.0001]])
    label = _spread_label(steps)
    assert label.endswith("lowest third of τ (s.d. 3) over highest third (5.8e-05, taken as 0.001)")
    assert _spread_label(np.array([[2.0, 1.0], [8.0, 3.0]])).endswith("over highest third (1.4)")
    assert "nan" not in _spread_label(np.full((1, 3), 2.0))
