"""The questions beyond the papers: every bound both ways, and what leaves a question open."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support import question_cases as cases
from support.claim_tables import curve, results, rows

from pondering.claims.answers import Answer, answer, answer_all, answers_json
from pondering.claims.claims import UNITS, load_register
from pondering.claims.measures.evidence import Evidence
from pondering.claims.questions import QUESTIONS
from pondering.claims.questions.exit_rules import log_ratio
from pondering.results.results import Results

ROOT = Path(__file__).parents[2]
ASKED = {each.id: each for each in load_register(ROOT / "claims.yaml").questions}
HALF = {"pondernet": 0.5, "random_depth": 0.5}
GOOD = {"pondernet": 0.5, "random_depth": 0.9}


def outcomes(found: Answer) -> list[set[str]]:
    """Of each bound, in the order of the question, over its parts."""
    return [{each.outcome for each in findings} for findings in found.meanings.values()]


def quantity(found: Answer, name: str, part: str = "") -> tuple[float, float | None, float | None]:
    one = next(each for each in found.parts[part] if each.name == name)
    return one.value, one.low, one.high


def test_every_registered_question_is_computed() -> None:
    assert list(QUESTIONS) == list(ASKED)


HOLDS, FAILS, UNDECIDED = {"holds"}, {"fails"}, {"undecided"}
CASES: list[tuple[str, Callable[[], Results], list[set[str]]]] = [
    ("Q1", lambda: cases.q1(-1, 1, -1), [HOLDS] * 4),
    ("Q1", lambda: cases.q1(1, -1, 1), [HOLDS, FAILS, FAILS, FAILS]),
    ("Q1", lambda: cases.q1(-1, 1, 0, mixed=True), [HOLDS, UNDECIDED, UNDECIDED, FAILS]),
    ("Q2", lambda: cases.q2(0.0), [HOLDS, HOLDS, FAILS]),
    ("Q2", lambda: cases.q2(0.2), [HOLDS, FAILS, HOLDS]),
    ("Q2", lambda: cases.q2(lambda seed: 0.05 * (seed % 2)), [HOLDS, UNDECIDED, UNDECIDED]),
    ("Q3", lambda: cases.q3({3: 10, -3: 10}), [HOLDS, HOLDS, HOLDS]),
    ("Q3", lambda: cases.q3({3: 0, -3: 0}, back=10, usual=9), [FAILS, FAILS, FAILS]),
    ("Q3", lambda: cases.q3({3: 7, -3: 5}, back=1), [UNDECIDED, UNDECIDED, UNDECIDED]),
    ("Q4", lambda: cases.q4(0.1, 0.02), [HOLDS, FAILS]),
    ("Q4", lambda: cases.q4(0.02, 0.1), [FAILS, HOLDS]),
    ("Q4", lambda: cases.q4(0.05, 0.05), [FAILS, FAILS]),
    ("Q5", lambda: cases.q5(GOOD, GOOD), [{"holds", "fails"}] * 2),
    ("Q5", lambda: cases.q5(GOOD, HALF), [{"holds", "fails"}, FAILS]),
    ("Q6", lambda: cases.q6(0.0, 0.5), [HOLDS, HOLDS]),
    ("Q6", lambda: cases.q6(-0.05, 0.1), [FAILS, FAILS]),
    ("Q7", lambda: cases.q7(0.0, 0.0), [HOLDS, HOLDS, HOLDS]),
    ("Q7", lambda: cases.q7(0.03, 1.0, rises=-1), [FAILS, FAILS, FAILS]),
    ("Q8", lambda: cases.q8({"act": 0.1}), [HOLDS, FAILS]),
    ("Q8", lambda: cases.q8({"act": 0.1, "dact": 0.0}), [{"holds", "fails"}] * 2),
]  # fmt: skip


@pytest.mark.parametrize(("name", "made", "expected"), CASES)
def test_every_bound_both_ways(
    name: str, made: Callable[[], Results], expected: list[set[str]]
) -> None:
    found = answer(ASKED[name], made())
    assert (found.state, found.evidence) == ("answered", True), found.reason
    assert outcomes(found) == expected
    for decision, got in zip(ASKED[name].decides, expected, strict=True):
        if decision.by == "interval":
            held, *_ = re.split("Undecided is |It does not hold ", found.reason)
            said = decision.meaning.lower() in held.lower()
            assert said == ("holds" in got), found.reason
        named = [q for qs in found.parts.values() for q in qs if q.name == decision.quantity]
        assert {each.unit for each in named} == {UNITS[decision.quantity]}


def test_the_answer_names_the_parts_of_which_it_holds() -> None:
    found = answer(ASKED["Q5"], cases.q5(GOOD, HALF))
    first, again = "hat is learned on 8 of 16 extrapolates", "what is learned on 12 of 24 does too"
    assert found.reason == (
        f"W{first} (Random depth). "
        f"It does not hold that w{first} (PonderNet); "
        f"that {again}, on other seeds (PonderNet; Random depth)."
    )
    assert set(found.parts) == {"PonderNet", "Random depth"}
    none = answer(ASKED["Q5"], cases.q5(HALF, HALF))
    assert none.reason.startswith(
        f"None of what would decide it holds. It does not hold that w{first} (P"
    )


def test_what_holds_does_not_hide_what_is_undecided_or_fails() -> None:
    """Beta 0 alone runs backwards: there is nothing that the prior could have turned."""
    turned = answer(ASKED["Q1"], cases.q1(1, 1, -1)).reason
    follow = "ACT's steps follow difficulty; it is not the prior that turns them."
    backwards = "PonderNet's steps run backwards, its prior weighted as in its paper"
    assert turned == f"{follow} It does not hold that {backwards}."
    mixed = answer(ASKED["Q1"], cases.q1(-1, 1, -1, mixed=True)).reason
    assert mixed.startswith(
        "It is not the prior that turns them. Undecided is whether PonderNet's steps"
    )
    assert answer(ASKED["Q2"], cases.q2(0.2)).reason.count(":") == 0  # the other side of one bound


def test_a_part_that_holds_does_not_hide_one_that_does_not() -> None:
    made = cases.q7(0.0, 0.0)
    table = made.tables["comparison"]
    table.loc[table["mechanism"].str.contains("prior_p"), "ponder_time"] += 2.0
    reason = answer(ASKED["Q7"], made).reason
    same = "the steps are the same on average"
    assert f"{same} (Comparison digits; Comparison rotated)" in reason
    assert f"It does not hold that {same} (Comparison)" in reason


def test_a_bound_that_no_network_could_meet_or_miss_is_told() -> None:
    made = cases.q5(GOOD, GOOD)
    made.tables["comparison_farther"]["error"] = 0.2
    reason = answer(ASKED["Q5"], made).reason
    assert reason.endswith(
        "Nothing could decide: what is learned on 12 of 24 does too, on other seeds."
    )


def without_a_solver() -> Results:
    """Q1 with no solved network without a prior."""
    made = cases.q1()
    table = made.tables["comparison"]
    table.loc[table["mechanism"] == cases.variant("pondernet", beta=0), "error"] = 0.4
    return made


def without_a_solver_or_a_direction() -> Results:
    """The same with steps that follow nothing: what was not measured could still decide it."""
    made = without_a_solver()
    made.tables["comparison"]["ponder_time"] = 5.0
    return made


def never_at_one_step() -> Results:
    """Q3 with no network on one of its tasks that has fallen to one step."""
    made = cases.q3({3: 10, -3: 0})
    made.curves["bias_sort"]["ponder_time"] = 3.0
    return made


@pytest.mark.parametrize(
    ("name", "made", "expected", "reason"),
    [
        ("Q1", without_a_solver, [HOLDS, HOLDS, HOLDS, {"not measured"}],
         "PonderNet's steps run backwards, its prior weighted as in its paper; ACT's steps follow "
         "difficulty. "
         "Could not be measured: beta 0: correlation of steps with difficulty."),
        ("Q3", never_at_one_step, [HOLDS, FAILS, HOLDS],
         "one step is a trap (Bias leading; Bias scattered). It does not hold that a lower "
         "bias does, as 2604.21999 reports of a Transformer (Bias leading; Bias scattered; "
         "Bias sort)."),
    ],
)  # fmt: skip
def test_what_could_not_be_measured_leaves_the_rest_answered(
    name: str, made: Callable[[], Results], expected: list[set[str]], reason: str
) -> None:
    found = answer(ASKED[name], made())
    assert found.state == "answered" and reason.lower() in found.reason.lower(), found.reason
    assert outcomes(found) == expected


def without_setting(mechanism: str, setting: float) -> Results:
    """Q1 of a part of its runs."""
    made = cases.q1()
    table = made.tables["comparison"]
    own = (table["mechanism"] == mechanism) & (table["setting"] == setting)
    return results([table[~own]])


OPEN = {
    "few seeds": ("Q1", lambda: cases.q1(seeds=range(100, 109)),
                  "Fresh seeds of a setting: 9; 10 are needed."),
    "seeds that were seen": ("Q2", lambda: cases.q2(seeds=range(19)),
                             "Fresh seeds of a setting: 9; 10 are needed."),
    "seeds that were seen alone": ("Q2", lambda: cases.q2(seeds=range(10)),
                                   "Missing: parity has not been run on fresh seeds."),
    "not learned": ("Q1", lambda: cases.q1(error=0.4),
                    "Not learned: solved, the fewer of the two 0 networks, at least 5 networks"),
    "a constant N": ("Q2", lambda: cases.q2(sd=0.0),
                     "Not learned: solved, N varies 0 networks, at least 5 networks needed."),
    "nothing that holds": ("Q1", without_a_solver_or_a_direction,
                           "Could not be measured: beta 0: "),
    "a setting": ("Q1", lambda: cases.q1(beta_zero=False),
                  "Missing: comparison has no runs of PonderNet with beta 0."),
    "a penalty": ("Q1", lambda: without_setting("act", 0.02),
                  "Missing: comparison has 2 of 3 settings of ACT."),
    "a prior": ("Q1", lambda: without_setting("pondernet", 0.4),
                "Missing: comparison has 2 of 3 settings of PonderNet."),
    "a task": ("Q6", lambda: cases.q6(0, 0.5, ["comparison", "comparison_logic"]),
               "Not run: comparison_addition."),
    "nothing": ("Q4", lambda: Results("reduced"),
                "Not run: comparison, comparison_digits, comparison_rotated."),
    "few thresholds": ("Q4", lambda: cases.q4(0.1, 0.1, thresholds=7),
                       "Missing: comparison: 0 rules with eight thresholds"),
    "the profile": ("Q7", lambda: replace(cases.q7(0, 0), profile="quick"),
                    "Profile quick shows what is measured and is no evidence: reduced answers it."),
}  # fmt: skip


@pytest.mark.parametrize("case", OPEN)
def test_what_leaves_a_question_open(case: str) -> None:
    name, made, reason = OPEN[case]
    found = answer(ASKED[name], made())
    assert found.state == "open" and found.reason.startswith(reason), found.reason


def test_an_unfinished_run_leaves_it_open() -> None:
    made = cases.q7(0, 0)
    made.tables["comparison"]["status"] = "running"
    assert answer(ASKED["Q7"], made).reason == "Unfinished: comparison-pondernet."


def test_quick_shows_what_it_measures_with_its_own_seeds() -> None:
    found = answer(ASKED["Q2"], cases.q2(0.2, seeds=range(3), profile="quick"))
    assert (found.state, found.evidence, found.seeds) == ("open", False, 3)
    assert outcomes(found)[2] == HOLDS


def test_seeds_of_the_published_tables_take_no_part() -> None:
    found = answer(ASKED["Q2"], cases.q2(0.0))
    assert quantity(found, "error_difference")[0] == pytest.approx(0.0)
    assert (found.seeds, found.replicas) == (10, 10)


def student_of_mean(values: np.ndarray) -> tuple[float, float, float]:
    """Mean over networks [seeds, networks] with the jackknife over seeds, NaN left out."""
    kept = [row for row in values if not np.isnan(row).all()]
    mean = float(np.nanmean(kept))
    without = [np.nanmean(kept[:k] + kept[k + 1 :]) for k in range(len(kept))]
    n = len(kept)
    error = math.sqrt((n - 1) / n * sum((each - np.mean(without)) ** 2 for each in without))
    half = float(stats.t.ppf(0.975, n - 1)) * error
    return mean, mean - half, mean + half


def test_correlations_are_those_of_single_networks_by_hand() -> None:
    """Unequal numbers of solved networks a seed; a network whose steps never vary counts as 0."""
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
    found = answer(ASKED["Q1"], results([act, table[table["mechanism"] != "act"]]))
    by_hand = np.full((len(cases.SEEDS), len(taus)), np.nan)
    for (i, seed), (j, tau) in itertools.product(enumerate(cases.SEEDS), enumerate(taus)):
        if errors[tau, seed] < 0.05:
            own = [steps[tau, seed, level] for level in levels]
            by_hand[i, j] = stats.spearmanr(levels, own)[0] if len(set(own)) > 1 else 0.0
    assert quantity(found, "act_correlation") == pytest.approx(student_of_mean(by_hand))
    assert quantity(found, "solved_act")[0] == (~np.isnan(by_hand)).sum()


def test_the_need_stands_beside_the_steps() -> None:
    made = cases.q1()
    need = cases.exits_of("comparison", lambda *_: 0.9, 1).assign(rule="oracle")
    need = need[need["mechanism"] == "pondernet"].drop_duplicates("seed")
    every = [need.assign(setting=prior, trend=0.5) for prior in cases.PRIORS]
    made.exits["comparison"] = pd.concat(every)
    found = answer(ASKED["Q1"], made)
    assert quantity(found, "need_correlation") == pytest.approx((0.5, 0.5, 0.5))
    assert quantity(found, "need_never") == pytest.approx((0.1, 0.1, 0.1))


def test_settings_that_were_not_trained_are_not_told_as_unsolved() -> None:
    made = cases.q1()
    named = {each.name for each in answer(ASKED["Q1"], made).parts[""]}
    table = made.tables["comparison"]
    part = results([table[~table["mechanism"].str.contains("kl=")]])
    left = {each.name for each in answer(ASKED["Q1"], part).parts[""]}
    assert named - left == {"other_settings", "solved_elsewhere"}


def test_each_weight_of_the_prior_stands_beside_their_mean() -> None:
    made = cases.q1()
    tables = [
        rows("comparison", cases.variant("pondernet", beta=beta), (0.2,), cases.flat(0.01),
             cases.sloped(rises), levels=cases.LEVELS, seeds=cases.SEEDS)
        for beta, rises in ((0.001, 1), (0.1, -1))
    ]  # fmt: skip
    found = answer(ASKED["Q1"], results([made.tables["comparison"], *tables]))
    assert quantity(found, "other_settings")[0] == pytest.approx(0.0)
    each = [quantity(found, f"correlation_of_pondernet[beta={b}]")[0] for b in (0.001, 0.1)]
    assert each == pytest.approx([1, -1])


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
    found = answer(ASKED["Q4"], made)
    labels = {part: quantities[0].label for part, quantities in found.parts.items()}
    assert labels["Comparison"].endswith("at 2, 3 mean steps")
    assert labels["Comparison digits"].endswith("at 2, 3, 4 mean steps")


def test_mechanisms_that_learned_nothing_are_not_compared() -> None:
    made = cases.q4(0.1, 0.02)
    table = made.tables["comparison"]
    table.loc[table["mechanism"] == "dact", "error"] = 0.26
    found = answer(ASKED["Q4"], made)
    labels = {part: quantities[0].label for part, quantities in found.parts.items()}
    assert "between PonderNet, Correctness, at" in labels["Comparison"]
    assert "between PonderNet, Correctness, DACT, at" in labels["Comparison digits"]
    assert not any("any_depth" in each.name for each in found.parts["Comparison"])
    made.readouts["comparison"] = cases.audit_of("comparison", "dact", (0.5,), {"depth": 0.01})
    found = answer(ASKED["Q4"], made)
    first, beside = found.parts["Comparison"]
    assert first.label == labels["Comparison"]
    assert beside.label == "the same with DACT too"
    assert beside.value == pytest.approx(found.parts["Comparison digits"][0].value)


def test_a_network_leaves_one_step_only_if_it_had_come_to_it() -> None:
    """Of one that never fell, and one that rises to 1.5 and no more, none counts as returned."""
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
    fell, returned, above, usual = QUESTIONS["Q3"](evidence)["Bias sort"]
    assert (fell.name, fell.value) == ("fell_to_one_step", 3.0)
    assert (usual.name, usual.value, usual.seeds) == ("solved_at_bias_1", 0.0, 4)
    assert (above.name, above.value, above.seeds) == ("above_one_step_at_end", 2 / 3, 3)
    assert (returned.name, returned.value, returned.seeds) == ("returned_from_one_step", 1 / 3, 3)


def test_extrapolation_is_a_median_at_the_setting_best_inside() -> None:
    made = cases.q5(GOOD, GOOD)
    table = made.tables["comparison_beyond"]
    chosen = (table["mechanism"] == "random_depth") & (table["split"] == "extrapolation")
    errors = np.linspace(0.05, 0.5, 10)
    chosen &= table["setting"] == 0.1
    table.loc[chosen, "error"] = table.loc[chosen, "seed"].map(lambda seed: errors[seed - 100])
    value, low, high = quantity(
        answer(ASKED["Q5"], made), "accuracy_beyond_8_of_16", "Random depth"
    )
    ordered = np.sort(1 - errors)
    assert (value, low, high) == pytest.approx((np.median(ordered), ordered[1], ordered[8]))


def test_opposite_effects_of_two_priors_are_seen_beside_their_mean() -> None:
    made = cases.q7(0.0, 0.0)
    table = made.tables["comparison"]
    reversed_ = table["mechanism"].str.contains("prior_p")
    for prior, change in zip(cases.PRIORS, (-2.0, 0.0, 2.0), strict=True):
        table.loc[reversed_ & (table["setting"] == prior), "ponder_time"] += change
    found = answer(ASKED["Q7"], made)
    assert quantity(found, "steps_difference", "Comparison")[0] == pytest.approx(0.01, abs=0.02)
    each = [f"steps_difference_at_lambda_p_{prior:g}" for prior in cases.PRIORS]
    own = [quantity(found, name, "Comparison")[0] for name in each]
    assert own == pytest.approx([-2, 0, 2], abs=0.02)
    assert sum("lambda_p" in words for words in found.beside) == 7 * len(cases.PRIORS)


def test_opposite_effects_of_two_betas_are_seen_beside_their_mean() -> None:
    made = cases.q7(0.0, 0.0)
    table = made.tables["comparison"]
    for beta, change in ((0.001, -2.0), (0.1, 2.0)):
        chosen = table["mechanism"] == cases.variant("pondernet", beta=beta, kl="prior_p")
        table.loc[chosen, "ponder_time"] += change
    found = answer(ASKED["Q7"], made)
    each = ("beta_0.001", "the_usual_beta", "beta_0.1")
    for name, far in (("steps", 2.0), ("error", 0.0), ("correlation", 0.0)):
        own = [quantity(found, f"{name}_difference_at_{b}", "Comparison")[0] for b in each]
        assert own == pytest.approx([-far, 0, far], abs=0.02)
    solved = next(q for q in found.parts["Comparison"] if q.name == "solved_networks")
    assert solved.value == len(cases.BETAS) * len(cases.PRIORS) * len(cases.SEEDS)


def test_longer_thoughts_stand_beside_extrapolation_at_the_same_setting() -> None:
    made, name = cases.q5({"act": 0.8}, {"act": 0.8}), "accuracy_beyond_8_of_16"

    def audited(setting: float, split: str, depth: float, twice: Any, **more: float) -> Answer:
        read = {"depth": depth, "twice": twice, "fourfold": 0.6} | more
        audit = cases.audit_of("comparison_beyond", "act", (setting,), read).assign(split=split)
        return answer(ASKED["Q5"], cases.with_audits(made, [audit]))

    found = audited(0.1, "extrapolation", 0.5, lambda seed: 0.3 + seed % 2 / 5)
    assert quantity(found, f"{name}_at_N", "ACT")[0] == pytest.approx(0.5)
    assert quantity(found, f"{name}_at_2N", "ACT") == pytest.approx((0.6, 0.5, 0.7))
    assert quantity(found, f"{name}_at_4N", "ACT")[0] == pytest.approx(0.4)
    assert quantity(found, name, "ACT")[0] == 0.8
    without = (
        answer(ASKED["Q5"], made),
        audited(0.2, "extrapolation", 0.5, 0.5),  # not the setting that is best inside
        audited(0.1, "interpolation", 0.5, 0.5),
        audited(0.1, "extrapolation", 0.5, np.nan, fourfold=np.nan),  # an audit from before
    )
    for found in without:
        assert not any("_at_" in each.name for each in found.parts["ACT"])
        assert quantity(found, name, "ACT")[0] == 0.8


def test_what_halting_costs_is_asked_of_networks_that_had_learned_something_to_lose() -> None:
    made = cases.q6(0.0, 0.5, ["comparison", "comparison_logic", "comparison_addition"])
    lost = made.readouts["comparison"]["seed"] >= 105
    made.readouts["comparison"].loc[lost, ["own", "depth"]] = [0.4, 0.5]
    found = answer(ASKED["Q6"], made)
    cost = quantity(found, "accuracy_difference", "Comparison")
    assert cost[0] == pytest.approx(-0.0012)  # of seeds 100 to 104
    every = quantity(found, "accuracy_difference_of_all", "Comparison")
    assert every[0] == pytest.approx((-0.0012 + 0.1) / 2, abs=1e-3)
    assert "Comparison: below 5% of errors at N steps 5 networks" in found.beside
    made.readouts["comparison"].loc[lost.shift(-1, fill_value=False), "depth"] = 0.5
    found = answer(ASKED["Q6"], made)  # four of ten: the other tasks answer
    assert found.state == "answered"
    assert not {"Comparison", "Comparison, halt_bias -5"} & {each.part for each in found.findings}
    for audits in made.readouts.values():
        audits["depth"] = 0.5
    found = answer(ASKED["Q6"], made)
    assert (found.state, found.findings) == ("open", ()) and found.reason.startswith("Not learned")


def test_what_was_not_learned_inside_the_range_cannot_fail_beyond_it() -> None:
    made = cases.q5(GOOD, HALF)
    name = "accuracy_beyond_8_of_16"
    assert quantity(answer(ASKED["Q5"], made), name, "PonderNet")[0] == 0.5
    table = made.tables["comparison_beyond"]
    chosen = (table["mechanism"] == "pondernet") & (table["split"] == "interpolation")
    table.loc[chosen, "error"] = 0.11
    found = answer(ASKED["Q5"], made)
    assert name not in {each.name for each in found.parts["PonderNet"]}
    assert quantity(found, f"{name}_inside", "PonderNet")[0] == pytest.approx(0.89)
    deep = cases.audit_of(
        "comparison_beyond", "pondernet", (0.1,), {"depth": 0.3, "twice": 0.3, "fourfold": 0.3}
    )
    found = answer(ASKED["Q5"], cases.with_audits(made, [deep.assign(split="extrapolation")]))
    assert quantity(found, f"{name}_at_N", "PonderNet")[0] == pytest.approx(0.7)


def test_seeds_of_one_task_are_not_those_of_another() -> None:
    """Whose network of `parity` stands beside whose of `comparison` says nothing."""
    ends = []
    for way in (1, -1):
        made = cases.q8({"act": 0.1})
        for name in ("parity", "comparison"):
            rows_ = made.readouts[name]
            gains = np.linspace(0.05, 0.15, len(rows_))[:: way if name == "parity" else 1]
            made.readouts[name] = rows_.assign(refitted=rows_["depth"] - gains)
        ends.append(quantity(answer(ASKED["Q8"], made), "refitted_gain", "ACT"))
    assert ends[0] == pytest.approx(ends[1]) and ends[0][2] - ends[0][1] > 0.005


def test_the_gain_on_each_task_stands_beside_their_mean() -> None:
    made = cases.q8({"act": 0.1})
    made.readouts["parity"]["refitted"] += 0.2
    found = answer(ASKED["Q8"], made)
    on = {name: quantity(found, f"refitted_gain_on_{name}", "ACT")[0] for name in cases.AUDITED}
    assert on.pop("parity") == pytest.approx(-0.1, abs=1e-3)
    assert list(on.values()) == pytest.approx([0.1] * len(on), abs=1e-3)


def test_answers_as_data() -> None:
    made = cases.q6(0.0, 0.5)
    document = answers_json(answer_all([ASKED["Q6"], ASKED["Q1"]], made))
    assert [(each["id"], each["state"]) for each in document] == [
        ("Q6", "answered"),
        ("Q1", "open"),
    ]
    first = document[0]
    assert {each["part"] for each in first["estimates"]} == {
        "Comparison", "Comparison, halt_bias -5", "Comparison addition",
        "Comparison addition, halt_bias -5", "Comparison logic", "Comparison logic, halt_bias -5",
    }  # fmt: skip
    assert {each["outcome"] for each in first["decides"]} == {"holds"}
    assert first["runs"] == [f"{n}-correctness" for n in (
        "comparison", "comparison_addition", "comparison_logic")]  # fmt: skip
    assert document == answers_json(answer_all([ASKED["Q6"], ASKED["Q1"]], made))
