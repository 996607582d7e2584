"""Our questions (Q): both sides of every bound, missing evidence, and quantities by hand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from support import question_cases as cases
from support.claim_cases import b1, b4, b5
from support.claim_tables import curve, results, rows

from pondering.claims.claims import load_register
from pondering.claims.evidence import Evidence, InsufficientError
from pondering.claims.measures.comparison import log_ratio, rules_and_mechanisms
from pondering.claims.measures.halting import initial_bias
from pondering.claims.verdicts import Judgement, from_seed, judge
from pondering.results.results import Results
from pondering.results.statistics import Interval

ROOT = Path(__file__).parents[2]
CLAIMS = {each.id: each for each in load_register(ROOT / "claims.yaml").claims if each.ours}
HALF = {"pondernet": 0.5, "random_depth": 0.5}
GOOD = {"pondernet": 0.5, "random_depth": 0.9}


def judge_question(name: str, made: Results) -> Judgement:
    return judge(CLAIMS[name], made)


def names(found: Judgement, part: str) -> set[str]:
    """The quantities of a part."""
    return {each.name for each in found.quantities if each.part == part}


def quantity(
    found: Judgement, name: str, part: str = ""
) -> tuple[float, float | None, float | None]:
    one = next(each for each in found.quantities if (each.name, each.part) == (name, part))
    return one.value, one.low, one.high


CASES: list[tuple[str, Callable[[], Results], str]] = [
    ("Q1", lambda: cases.q1(-1, 1, -1), "reproduced"),
    ("Q1", lambda: cases.q1(-1, 1, 1), "mostly reproduced"),
    ("Q1", lambda: cases.q1(1, -1, 1), "not reproduced"),
    ("Q1", lambda: cases.q1(-1, 1, 0, mixed=True), "undecided"),
    ("Q2", lambda: cases.q2(0.0), "reproduced"),
    ("Q2", lambda: cases.q2(0.2), "not reproduced"),
    ("Q2", lambda: cases.q2(lambda seed: 0.05 * (seed % 2)), "undecided"),
    ("Q3", lambda: cases.q3({3: 10, -3: 10}), "reproduced"),
    ("Q3", lambda: cases.q3({3: 10, -3: 0}), "mostly reproduced"),
    ("Q3", lambda: cases.q3({3: 0, -3: 0}, back=10, usual=7), "not reproduced"),
    ("Q3", lambda: cases.q3({3: 7, -3: 5}, back=1), "undecided"),
    ("Q4", lambda: cases.q4(0.02, 0.1), "reproduced"),
    ("Q4", lambda: cases.q4(0.1, 0.02), "not reproduced"),
    ("Q4", lambda: cases.q4(0.05, 0.05), "not reproduced"),
    ("Q5", lambda: cases.q5(GOOD, GOOD), "reproduced"),
    ("Q5", lambda: cases.q5(GOOD, HALF), "not reproduced"),
    ("Q6", lambda: cases.q6(0.0, 0.5), "reproduced"),
    ("Q6", lambda: cases.q6(-0.05, 0.5), "not reproduced"),
    ("Q6", lambda: cases.q6(0.0, 0.1), "not reproduced"),
    ("Q7", lambda: cases.q7(0.0, 0.0), "reproduced"),
    ("Q7", lambda: cases.q7(0.03, 0.0), "not reproduced"),
    ("Q7", lambda: cases.q7(0.0, 1.0), "not reproduced"),
    ("Q7", lambda: cases.q7(0.0, 0.0, rises=-1), "mostly reproduced"),
    *(
        (name, lambda made=made, case=case: made("parity_sixteen")[case], verdict)
        for name, made in {"Q10": b1, "Q11": b4, "Q12": b5}.items()
        for case, verdict in enumerate(("reproduced", "not reproduced", "too small to tell"))
    ),
]


@pytest.mark.parametrize(("name", "made", "verdict"), CASES)
def test_both_sides_of_every_bound(name: str, made: Callable[[], Results], verdict: str) -> None:
    found = judge_question(name, made())
    assert found.verdict == verdict, found.reason
    assert found.evidence.fewest_seeds == 10 and found.remark.why == found.reason


def without_setting(mechanism: str, setting: float) -> Results:
    """Results of Q1 without one setting of a mechanism."""
    made = cases.q1()
    table = made.tables["comparison"]
    absent = (table["mechanism"] == mechanism) & (table["setting"] == setting)
    return results([table[~absent]])


SMALL = "too small to tell"
OPEN = {
    "published seeds": ("Q2", lambda: cases.q2(seeds=range(19)), SMALL,
                             "Seeds of a setting: 9; 10 are needed."),
    "not learned": ("Q1", lambda: cases.q1(error=0.4), SMALL,
                    "Not learned here: solved, the fewer of the two, 0 networks, where at least 5"),
    "a constant N": ("Q2", lambda: cases.q2(sd=0.0), SMALL,
                     "Not learned here: solved, N varies, 0 networks, where at least 5 networks"),
    "a penalty": ("Q1", lambda: without_setting("act", 0.02), SMALL,
                  "2 settings of ACT were run, 3 are needed."),
    "a prior": ("Q1", lambda: without_setting("pondernet", 0.4), SMALL,
                "2 settings of PonderNet were run, 3 are needed."),
    "few thresholds": ("Q4", lambda: cases.q4(0.1, 0.1, thresholds=7), "undecided",
                       "Comparison_digits: 0 rules with eight thresholds"),
    "the profile": ("Q7", lambda: replace(cases.q7(0, 0), profile="quick"), SMALL,
                    "Judged from reduced on."),
}  # fmt: skip


@pytest.mark.parametrize("case", OPEN)
def test_missing_evidence_leaves_a_question_open(case: str) -> None:
    name, made, verdict, reason = OPEN[case]
    found = judge_question(name, made())
    assert found.verdict == verdict and found.reason.startswith(reason), found.reason


def test_the_quick_profile_measures_and_counts_its_seeds() -> None:
    found = judge_question("Q2", cases.q2(0.2, seeds=range(3), profile="quick"))
    assert (found.verdict, found.evidence.fewest_seeds) == (SMALL, 3)
    assert [each.outcome for each in found.findings] == ["fails"]


def test_only_new_seeds_count_where_a_setting_was_repeated() -> None:
    seeds = [0, 1, 2, *range(10, 15)]
    made = results([
        rows("a", "act", (0.1, 0.2), cases.flat(0.1), levels=(1,), seeds=seeds),
        rows("a", "repeat", (1,), cases.flat(0.1), levels=(1,), seeds=range(5)),
    ])  # fmt: skip
    table = made.tables["a"]
    made.tables["a"] = table[~((table["setting"] == 0.2) & (table["seed"] >= 10))]
    counted = from_seed(made, 1, 10).tables["a"]
    found = {key: list(each) for key, each in counted.groupby(["mechanism", "setting"])["seed"]}
    assert found["act", 0.1] == [*range(10, 15)] and found["act", 0.2] == [1, 2]
    assert found["repeat", 1] == [1, 2, 3, 4]


def test_the_prior_is_not_measured_if_no_network_solves_the_task() -> None:
    made = cases.q1()
    table = made.tables["comparison"]
    table.loc[table["mechanism"] == cases.variant("pondernet", beta=0), "error"] = 0.4
    found = judge_question("Q1", made)
    assert found.verdict == "mostly reproduced"
    assert found.reason == "Not measured: beta 0: correlation with difficulty."


def student_of_mean(values: np.ndarray) -> tuple[float, float, float]:
    """Mean over networks [seeds, networks] with the jackknife over seeds, NaN left out."""
    complete = [row for row in values if not np.isnan(row).all()]
    mean = float(np.nanmean(complete))
    without = [np.nanmean(complete[:k] + complete[k + 1 :]) for k in range(len(complete))]
    n = len(complete)
    error = math.sqrt((n - 1) / n * sum((each - np.mean(without)) ** 2 for each in without))
    half = float(stats.t.ppf(0.975, n - 1)) * error
    return mean, mean - half, mean + half


def test_correlations_of_single_networks_by_hand() -> None:
    """Seeds solve different numbers of networks; a network of constant steps counts as 0."""
    draw = np.random.default_rng(5)
    taus, levels = (0.0002, 0.002, 0.02), tuple(map(float, range(1, 8)))
    steps = {key: 2 + draw.random() for key in itertools.product(taus, cases.SEEDS, levels)}
    steps |= {(0.02, 101, level): 2.0 for level in levels}
    errors = {key: draw.choice([0.01, 0.2]) for key in itertools.product(taus, cases.SEEDS)}
    errors[0.02, 101] = 0.01
    made = cases.q1()
    act = rows("comparison", "act", taus, lambda s, k, d: errors[s, k],
               lambda s, k, d: steps[s, k, d], levels=levels, seeds=cases.SEEDS)  # fmt: skip
    table = made.tables["comparison"]
    found = judge_question("Q1", results([act, table[table["mechanism"] != "act"]]))
    by_hand = np.full((len(cases.SEEDS), len(taus)), np.nan)
    for (i, seed), (j, tau) in itertools.product(enumerate(cases.SEEDS), enumerate(taus)):
        if errors[tau, seed] < 0.05:
            taken = [steps[tau, seed, level] for level in levels]
            by_hand[i, j] = stats.spearmanr(levels, taken)[0] if len(set(taken)) > 1 else 0.0
    assert quantity(found, "act_correlation") == pytest.approx(student_of_mean(by_hand))
    assert quantity(found, "solved_act")[0] == (~np.isnan(by_hand)).sum()


def test_the_ratio_of_variances_by_hand() -> None:
    accuracy = np.random.default_rng(2).random((3, 4, 2, 3))
    rules = mechanisms = 0.0
    for p in range(3):
        table = [[np.mean(accuracy[:, r, m, p]) for m in range(2)] for r in range(4)]
        grand = np.mean(table)
        for r, m in itertools.product(range(4), range(2)):
            rules += (np.mean(table[r]) - grand) ** 2
            mechanisms += (np.mean([row[m] for row in table]) - grand) ** 2
    assert math.exp(log_ratio(accuracy)) == pytest.approx(rules / mechanisms)


def test_mean_steps_that_a_rule_does_not_reach_are_left_out() -> None:
    made = cases.q4(0.1, 0.02)
    table = made.exits["comparison"]
    short = (table["rule"] == "patience") & (table["seed"] == 103)
    table.loc[short, "ponder_time"] = 1 + (table.loc[short, "ponder_time"] - 1) * 0.6

    def ratio(*steps: float) -> Interval:
        found = rules_and_mechanisms(
            Evidence(made), experiment="comparison", beside="", steps=steps
        )["variance_ratio"]
        assert isinstance(found, Interval)
        return found

    assert ratio(2, 3, 4) == ratio(2, 3)
    with pytest.raises(InsufficientError, match="mean steps that every rule reaches"):
        ratio(4)


def test_mechanisms_that_learned_nothing_are_not_compared() -> None:
    made = cases.q4(0.1, 0.02)
    table = made.tables["comparison"]
    table.loc[table["mechanism"] == "dact", "error"] = 0.26
    found = judge_question("Q4", made)
    assert not any("any_depth" in each for each in names(found, "Comparison"))
    without = cases.q4(0.1, 0.02)
    for part in (without.tables, without.exits):
        part["comparison"] = part["comparison"][part["comparison"]["mechanism"] != "dact"]
    left = quantity(judge_question("Q4", without), "variance_ratio_beside", "Comparison")[0]
    assert quantity(found, "variance_ratio_beside", "Comparison")[0] == pytest.approx(left)
    assert left != pytest.approx(quantity(found, "variance_ratio", "Comparison digits")[0])
    made.readouts["comparison"] = cases.audit_of("comparison", "dact", (0.5,), {"depth": 0.01})
    found = judge_question("Q4", made)
    first, beside = (each for each in found.quantities if each.part == "Comparison")
    assert first.value == pytest.approx(left)
    assert beside.value == pytest.approx(quantity(found, "variance_ratio", "Comparison digits")[0])


def test_a_network_returns_from_one_step_only_if_it_fell_to_it() -> None:
    """Seed 100 never fell to one step, and seed 101 rises to 1.5 only: neither returned."""
    ways = {
        100: lambda setting, share: 3.0,
        101: lambda setting, share: 1.0 if share < 0.5 else 1.5,
        102: lambda setting, share: 1.0 if share < 0.5 else 1.51,
        103: lambda setting, share: 2.0 if share < 0.5 else 1.04,
    }
    curves = [
        curve("bias_sort", "act", (0.001,), cases.flat(0.1), way, seeds=[seed])
        for seed, way in ways.items()
    ]
    table = rows("bias_sort", "act", (0.001,), cases.flat(0.1), levels=(1, 2), seeds=list(ways))
    evidence = Evidence(results([table], curves))
    found = initial_bias(evidence, experiment="bias_sort", usual=1.0)
    assert {name: (each.estimate, each.count) for name, each in found.items()} == {
        "fell_to_one_step": (3.0, 0),
        "returned_from_one_step": (1 / 3, 3),
        "above_one_step_at_end": (2 / 3, 3),
        "solved_at_bias_1": (0.0, 4),
    }
