"""Measures that are more than a mean, against numbers by hand.

`support.claim_cases` has numbers of every measure; `test_claims.py` has all published numbers.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from support.claim_cases import CASES
from support.claim_tables import curve, results, rows

from pondering.claims import frames
from pondering.claims.claims import load_register
from pondering.claims.evidence import Evidence, InsufficientError
from pondering.claims.measures.difficulty import correlation_within
from pondering.claims.measures.methods import ratio_of_soonest
from pondering.claims.measures.text import deviations
from pondering.claims.quantities import Quantity
from pondering.results.results import Results
from pondering.results.statistics import Interval

NAN, NEVER = math.nan, math.inf
TAUS = (0.0, 0.001, 0.002, 0.004, 0.01, 0.02, 0.03)
CLAIMS = {each.id: each for each in load_register(Path(__file__).parents[2] / "claims.yaml").claims}


def measure(claim: str, source: Results, **arguments: object) -> dict[str, Quantity]:
    """The quantities of a claim; `arguments` replace the claim's."""
    entry = CLAIMS[claim]
    entry = entry.model_copy(update={"arguments": entry.arguments | arguments})
    return {each.name: each for each in entry.measured_in(Evidence(source))}


def flat(setting: float, seed: int, level: float) -> float:
    return 0.02


def frame(*rows: Sequence[float]) -> pd.DataFrame:
    """[seeds, settings 1, 2, 3]."""
    return pd.DataFrame(rows, columns=[1.0, 2.0, 3.0])


def test_trends_and_lines_leave_diverged_points_out() -> None:
    """The rows rise, fall, stay constant, lack a point, and lack all points."""
    every = frame([1, 2, 9], [4, 3, 2], [5, 5, 5], [1, NAN, 2], [NAN] * 3)
    np.testing.assert_allclose(frames.trend(every), [1, -1, 0, 1, 0])
    fits = frames.lines(every)
    np.testing.assert_allclose(fits["slope"], [4, -1, 0, 0, 0])
    np.testing.assert_allclose(fits["explained"], [32 / 38, 1, 0, 0, 0], atol=1e-12)


def test_the_best_settings_are_those_within_one_standard_error_of_the_lowest_mean() -> None:
    errors = frame([0.1, 0.1, 0.5], [0.3, 0.32, 0.5])  # the first has a standard error of 0.1
    table = rows("parity", "act", [*errors], lambda s, k, d: errors[s][k], seeds=errors.index)
    assert frames.best(table) == 1.0
    assert frames.near_best(table) == [1.0, 2.0]
    assert frames.near_best(table[table["seed"] == 0]) == [1.0, 2.0]
    fewer = table.assign(ponder_time=-table["setting"], error=0.2)
    assert frames.near_best(fewer) == [3.0, 2.0, 1.0], "of equals fewer steps win"
    assert frames.lowest_error(errors.to_numpy()) == pytest.approx(0.2)


def test_a_curve_gives_its_first_fall_and_its_mean_by_trapezoids() -> None:
    """The second network never falls to 0.2 and lacks its last number of computed steps."""
    curves = pd.DataFrame({
        "seed": [0] * 3 + [1] * 3, "setting": 0.5, "update": [100.0, 200.0, 400.0] * 2,
        "error": [0.6, 0.2, 0.0, 1.0, 1.0, 1.0],
        "computed_steps": [300.0, 500.0, 800.0, 100.0, 200.0, NAN],
    })  # fmt: skip
    for column, first in (("update", 200), ("computed_steps", 500)):
        assert list(frames.reached(curves, 0.2, column)[0.5]) == [first, NEVER]
    np.testing.assert_allclose(frames.mean_error(curves)[0.5], [(40 + 20) / 300, 1])
    np.testing.assert_allclose(frames.computed(curves)[0.5], [2, NAN])


@pytest.mark.parametrize(("priors", "taus", "lacking"), [(6, 5, "ACT"), (5, 6, "PonderNet")])
def test_six_settings_of_each_are_needed(priors: int, taus: int, lacking: str) -> None:
    """Priors above the claim's largest are counted but not judged."""

    def b4(priors: int, taus: int) -> object:
        ponder = rows("pair", "pondernet", [0.15 * (n + 1) for n in range(priors)], flat)
        act = rows("pair", "act", [0.001 * (n + 1) for n in range(taus)], flat)
        return measure("B4", results([ponder, act]), experiment="pair")

    assert b4(6, 6)
    with pytest.raises(InsufficientError, match=f"^5 settings of {lacking} were run, 6 are"):
        b4(priors, taus)


@pytest.mark.parametrize(
    ("repeats", "penalties", "value", "low", "high"),
    [
        (range(10, 50, 2), range(20, 100, 4), 0.5, 18 / 80, 40 / 36),
        ([10] * 20, [*[20] * 12, *[NEVER] * 8], 0.5, 0.0, 0.5),
        ([*[10] * 12, *[NEVER] * 8], [20] * 20, 0.5, 0.5, NEVER),
        ([*[10] * 12, *[NEVER] * 8], [*[20] * 12, *[NEVER] * 8], 0.5, 0.0, NEVER),
        ([10] * 20, [NEVER] * 20, 0.0, 0.0, 0.0),
    ],
)
def test_a_ratio_of_medians_has_bounds_from_both_medians(
    repeats: Sequence[float], penalties: Sequence[float], value: float, low: float, high: float
) -> None:
    """The 5th and 16th of 20 numbers bound the median with 98.8%, the 6th and 15th with 95.9%.

    A second, slower setting changes nothing.
    """
    first, second = (
        pd.DataFrame({1: each, 3: 3 * np.array(each)}) for each in (repeats, penalties)
    )
    found = ratio_of_soonest(first, second)
    assert (found.estimate, found.low, found.high) == pytest.approx((value, low, high))
    assert found.count == 20


def test_too_few_seeds_bound_no_ratio_and_never_over_never_is_nan() -> None:
    for few, many in ((5, 20), (20, 5)):
        first, second = pd.DataFrame([10.0] * few), pd.DataFrame([20.0] * many)
        assert ratio_of_soonest(first, second) == Interval(0.5, 0.0, NEVER, 5)
    never = pd.DataFrame([NEVER] * 20)
    assert math.isnan(ratio_of_soonest(never, never).estimate)


def test_a_network_that_was_not_trained_does_not_count() -> None:
    """One penalty has 19 of 20 seeds; the other seeds solve logic as before."""
    source = CASES["G4"][0]

    def without(table: pd.DataFrame) -> dict[str, pd.DataFrame]:
        absent = (table["mechanism"] == "act") & (table["setting"] == 0.001) & (table["seed"] == 19)
        return {"logic": table[~absent]}

    fewer = dataclasses.replace(
        source, tables=without(source.tables["logic"]), curves=without(source.curves["logic"])
    )
    evidence = Evidence(fewer)
    CLAIMS["G4"].measured_in(evidence)
    assert evidence.seeds == [20, 19]
    found, whole = measure("G4", fewer), measure("G4", source)
    for name in ("solved_settings", "solve_updates"):
        assert found[name].value == whole[name].value


@pytest.mark.parametrize(("hardest", "solved"), [(0.04, 1.0), (0.1, 0.0)])
def test_a_setting_that_fails_on_the_longest_sums_is_not_solved(
    hardest: float, solved: float
) -> None:
    """Mean errors are 2% and 4%. With 10% of the longest sums wrong, addition is not solved."""
    act = rows(
        "addition", "act", TAUS, lambda s, k, d: hardest if d == 3 else 0.01, levels=(1, 2, 3)
    )
    source = results([act], [curve("addition", "act", TAUS, flat)])
    found = measure("G6", source, solved_below=0.05)
    assert found["solved_settings"].value == solved
    assert found["worst_error"].value == pytest.approx((hardest + 0.02) / 3)


def test_a_ratio_of_spreads_has_a_smallest_denominator() -> None:
    source = CASES["G2"][0]
    table = source.tables["parity"]
    constant = (table["mechanism"] == "act") & (table["setting"] == 0.03)  # the highest penalty
    table = table.assign(ponder_time=table["ponder_time"].mask(constant, 2.0))
    found = measure("G2", dataclasses.replace(source, tables={"parity": table}))
    assert found["spread_highest"].value == 0
    assert found["spread_ratio"].value == pytest.approx(found["spread_lowest"].value / 0.001)


def test_tracking_takes_the_means_of_each_sequence_off() -> None:
    """Constant steps track by 0, equal digits by NaN."""
    sums = pd.DataFrame({
        "sequence": [0, 0, 2, 2], "digits": [2, 4, 2, 4], "ponder_time": [1.0, 3.0, 9.0, 11.0]
    })  # fmt: skip
    assert correlation_within(sums) == pytest.approx(1)
    assert correlation_within(sums.assign(ponder_time=0.0)) == 0
    assert math.isnan(correlation_within(sums.assign(digits=2)))


def test_a_setting_that_has_not_learned_has_no_line_and_no_tracking() -> None:
    """Traces of a setting that has not learned count as little as no traces."""
    whole = CASES["G7"][0]
    table = whole.tables["addition"]
    failed = table["setting"] == 0.001  # the traced penalty
    table = table.assign(error=table["error"].mask(failed, 0.5))
    for traces in (whole.traces, {}):
        source = dataclasses.replace(whole, tables={"addition": table}, traces=traces)
        for bound, names in ((0.1, ["linearity", "highest_slope", "tracking"]), (-1.0, [])):
            found = measure("G7", source, learned_at_most=bound)
            assert [*found] == ["act_error", *names]
            assert not names or math.isnan(found["tracking"].value)


def test_too_few_numbers_or_characters_are_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pondering.claims.measures.difficulty.FEWEST_NUMBERS", 6)
    monkeypatch.setattr("pondering.claims.measures.text.FEWEST_CHARACTERS", 29)
    with pytest.raises(InsufficientError, match=r"^5 numbers of a sum were run, 6 are needed$"):
        measure("G7", CASES["G7"][0])
    with pytest.raises(InsufficientError, match="28 characters of kind 'id', 29 are needed"):
        measure("G10", CASES["G10"][0])


def test_seeds_of_one_penalty_alone_do_not_count_where_penalties_are_compared() -> None:
    whole = CASES["G9"][0]
    table = whole.tables["wikipedia"]
    act = table[(table["mechanism"] == "act") & (table["seed"] == 0)]
    more = act[act["setting"] == act["setting"].min()].assign(seed=99, error=8.0)
    more_tables = whole.tables | {"wikipedia": pd.concat([table, more], ignore_index=True)}
    assert measure("G9", dataclasses.replace(whole, tables=more_tables)) == measure("G9", whole)


def test_a_window_of_constant_steps_has_no_deviations() -> None:
    window = pd.DataFrame({"seed": 0, "sequence": 0, "ponder_time": [2.0, 2.0]})
    assert deviations(window).tolist() == [0, 0]


def test_a_traced_text_without_losses_has_its_steps_alone() -> None:
    source = CASES["G10"][0]
    bare = [
        trace
        | {"steps": [{k: v for k, v in step.items() if k != "loss"} for step in trace["steps"]]}
        for trace in source.traces["wikipedia"]
    ]
    whole = measure("G10", source)
    found = measure("G10", dataclasses.replace(source, traces={"wikipedia": bare}))
    assert math.isnan(found["digit_loss"].value) and math.isnan(found["id_loss"].value)
    assert found["space_peak"].value == whole["space_peak"].value > 0
