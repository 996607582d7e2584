"""Verdicts of the papers' claims on made-up results, and of made-up claims."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import pytest
from support.claim_cases import BITS, CASES, NUMBERS, TAUS
from support.claim_tables import results, rows

from pondering.claims.claims import Bound, Criterion, PaperSize, Remark, load_register
from pondering.claims.record import claims_json
from pondering.claims.verdicts import Judgement, judge, judge_all
from pondering.results.results import Results
from pondering.results.statistics import Interval

OPEN = "too small to tell"
EVERY = load_register(Path(__file__).parents[2] / "claims.yaml").claims
CLAIMS = {claim.id: claim for claim in EVERY if not claim.ours}
"""The papers' claims."""
ONE = Criterion(at_least=1.0, partly=0.5, by="estimate")
THIRD = dict.fromkeys(("G3", "G9", "G10", *(f"B{n}" for n in range(1, 6)), "F1"), "not reproduced")
"""Claims whose third case did not learn at the paper's size; others are too small to tell."""


def with_columns(source: Results, experiment: str, **columns: object) -> Results:
    """Results with some columns of one table replaced."""
    table = source.tables[experiment].assign(**columns)
    return dataclasses.replace(source, tables=source.tables | {experiment: table})


@pytest.mark.parametrize("name", CASES)
def test_a_claim_is_reproduced_contradicted_or_left_open(name: str) -> None:
    as_in_the_paper, contrary, insufficient = (judge(CLAIMS[name], each) for each in CASES[name])
    assert as_in_the_paper.verdict == "reproduced", as_in_the_paper.findings
    assert {each.outcome for each in as_in_the_paper.findings} == {"holds"}
    claim = as_in_the_paper.claim
    own = (each for each in as_in_the_paper.quantities if not claim.apart_of(each))
    found = {each.name: each.value for each in own}
    expected = NUMBERS.get(name, {})
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=1e-5)
    assert contrary.verdict == "not reproduced", contrary.findings
    assert insufficient.verdict == THIRD.get(name, OPEN), insufficient.reason


def test_without_results_every_claim_is_undecided() -> None:
    for each in judge_all(EVERY, results([])):
        assert (each.verdict, each.findings, each.evidence.runs) == ("undecided", (), [])
        assert each.reason.endswith(" has not been run.")


CHANCE = {"addition": 0.99, "sort": 0.99, "wikipedia": 5.0, "mnist": 0.9, "mnist_rotated": 0.9}
"""Error of a network that nearly guesses; other tasks have 0.5."""


def nothing_learned(name: str, share: float) -> Judgement:
    """The verdict on a claim after 60,000 updates in which no network has learned anything.

    Args:
        share: of the paper's difficulties.
    """
    source = CASES[name][2 if name == "G10" else 0]
    tables, curves = (
        {each: part.assign(error=CHANCE.get(each, 0.5)) for each, part in kind.items()}
        for kind in (source.tables, source.curves)
    )
    for table in tables.values():
        table["difficulty"] *= share
    for training in curves.values():
        training["update"] *= 60_000 / training["update"].max()
    return judge(CLAIMS[name], dataclasses.replace(source, tables=tables, curves=curves))


@pytest.mark.parametrize("name", CASES)
def test_a_task_that_was_not_learned_fails_only_at_the_papers_size(name: str) -> None:
    failed = nothing_learned(name, share=1)
    assert failed.verdict == "not reproduced", failed.reason
    if name not in ("G9", "G10", "M1", "M2"):  # texts and digits always have the paper's size
        smaller = nothing_learned(name, share=0.5)
        assert smaller.verdict == OPEN, smaller.reason
    starts = {
        "G2": "Not reproduced within 60,000 updates (the paper: 16,000,000): ",
        "B3": "Not learned at the paper's size after 60,000 update",
    }
    assert failed.reason.startswith(starts.get(name, "")), failed.reason
    if name == "G2":
        assert smaller.reason.startswith(
            "Not learned at difficulties up to 32, in the paper up to 64: "
        )


def test_without_curves_the_number_of_updates_is_not_known() -> None:
    judgement = judge(CLAIMS["G3"], dataclasses.replace(CASES["G3"][2], curves={}))
    assert judgement.verdict == "not reproduced"
    start = "Not learned at the paper's size; without curves it is not known in how many updates: "
    assert judgement.reason.startswith(start)


def test_too_few_seeds_or_too_small_a_profile_decide_nothing() -> None:
    """The quantities are still reported."""
    source, few = CASES["G2"][0], CLAIMS["G2"].model_copy(update={"minimum_seeds": 21})
    judgement = judge(few, source)
    assert (judgement.verdict, judgement.reason) == (OPEN, "Seeds of a setting: 20; 21 are needed.")
    quick = dataclasses.replace(source, profile="quick")
    assert judge(CLAIMS["G2"], quick).verdict == "reproduced"
    later = judge(CLAIMS["G2"].model_copy(update={"judged_from": "reduced"}), quick)
    assert (later.verdict, later.reason) == (OPEN, "Judged from reduced on.")
    assert later.quantities and judgement.quantities


def test_a_task_that_is_too_easy_fails_only_at_the_papers_size() -> None:
    parts = [
        rows("parity", mechanism, settings, lambda s, k, d: 0.01, levels=BITS)
        for mechanism, settings in (("repeat", (1,)), ("act", TAUS))
    ]
    training = list(CASES["G1"][0].curves.values())
    assert judge(CLAIMS["G1"], results(parts, training)).verdict == "not reproduced"
    small = [part[part["difficulty"] < BITS[-1]] for part in parts]
    judgement = judge(CLAIMS["G1"], results(small, training))
    start = "Too easy at difficulties up to 48, in the paper up to 64: median error of the plain "
    assert judgement.verdict == OPEN and judgement.reason.startswith(start)


def test_a_precondition_that_lapses_hides_no_other() -> None:
    """At the paper's size only a precondition of learning counts."""
    claim, source = CLAIMS["G2"], CASES["G2"][0]
    lapsed = {"hard": {"plain_error": Bound(at_least=2.0)}, "learned": {}}
    strict = lapsed | {"learned": lapsed["hard"]}
    assert judge(claim.model_copy(update=lapsed), source).verdict != OPEN
    judgement = judge(claim.model_copy(update=strict), source)
    assert judgement.verdict == "not reproduced"
    assert "updates (the paper: 16,000,000): error of the plain network, " in judgement.reason


@pytest.mark.parametrize(
    ("learned", "verdict", "reason"),
    [(True, "not reproduced", ": x could not be measured."), (False, OPEN, "Could not be mea")],
)
def test_a_precondition_that_is_not_measured(learned: bool, verdict: str, reason: str) -> None:
    asked = {"learned": {}, "hard": {}} | {"learned" if learned else "hard": {"x": Bound()}}
    claim = CLAIMS["G2"].model_copy(update=asked)
    source = CASES["G2"][0]
    if not learned:  # lapses at the paper's size
        source = with_columns(
            source, "parity", difficulty=source.tables["parity"]["difficulty"] / 2
        )
    judgement = judge(claim, source)
    assert judgement.verdict == verdict and reason in judgement.reason


def test_a_failure_names_what_is_smaller_than_in_the_paper() -> None:
    claim, source = CLAIMS["G2"], CASES["G2"][1]
    within = "within 10,000 updates (the paper: 16,000,000)"
    reason = judge(claim, source).reason
    assert reason.startswith(f"Tried {within}. Fails: ")
    longer = {
        name: each.assign(update=each["update"] * 1600) for name, each in source.curves.items()
    }
    as_long = judge(claim, dataclasses.replace(source, curves=longer)).reason
    assert as_long == reason.partition(". ")[2]
    halved = with_columns(source, "parity", difficulty=source.tables["parity"]["difficulty"] / 2)
    smaller = f"Tried at difficulties up to 32, in the paper up to 64, {within}. Fails: "
    assert judge(claim, halved).reason.startswith(smaller)


@pytest.mark.parametrize(
    ("card", "reason"),
    [
        ({"source": "a part of enwik8"}, "on a part of enwik8, in the paper enwik8"),
        ({"stand_in": True}, "on data that stand in for the paper's"),
    ],
)
def test_other_data_than_the_papers_count_as_smaller(card: dict[str, Any], reason: str) -> None:
    source = CASES["G10"][2]
    cards = {"wikipedia": dataclasses.replace(source.cards["wikipedia"], **card)}
    judgement = judge(CLAIMS["G10"], dataclasses.replace(source, cards=cards))
    assert judgement.verdict == OPEN
    assert judgement.reason.startswith(f"Not learned {reason}: ")


@pytest.mark.parametrize(("count", "verdict"), [(1, "reproduced"), (11, "not reproduced")])
def test_diverged_runs_count_as_failures(count: int, verdict: str) -> None:
    """One diverged seed of twenty leaves the median, eleven change it."""
    table = CASES["G1"][0].tables["parity"]
    diverged = (table["mechanism"] == "act") & (table["seed"] < count)
    columns = {
        "status": table["status"].mask(diverged, "diverged"),
        "error": table["error"].mask(diverged, 1.0),
        "ponder_time": table["ponder_time"].mask(diverged),
    }
    judgement = judge(CLAIMS["G1"], with_columns(CASES["G1"][0], "parity", **columns))
    assert (judgement.evidence.diverged, judgement.verdict) == (count * len(TAUS), verdict)


def made_up(found: dict[str, Interval], core: Criterion = ONE, **more: Any) -> Judgement:
    """A claim with the core quantity a and a further one, b."""
    free: dict[str, Any] = {
        "measure": lambda evidence, **_: found,
        "core": {"a": ("steps", "the a", core)},
        "further": {"b": ("steps", "the b", ONE)},
        "learned": {},
        "hard": {},
        "minimum_seeds": 0,
    }
    return judge(CLAIMS["G2"].model_copy(update=free | more), results([]))


@pytest.mark.parametrize(
    ("values", "verdict", "reason"),
    [
        ({"a": 1.0, "b": 1.0}, "reproduced", "Every criterion holds."),
        ({"a": 0.0, "b": 0.0}, "not reproduced",
         "Fails: the a, 0.00 <; also fails: the b, 0.00 <."),
        ({"a": 1.0, "b": 0.0}, "mostly reproduced", "Fails: the b, 0.00 <."),
        ({"a": 0.7, "b": 1.0}, "not reproduced", "Fails: the a, 0.70 <."),
        ({"a": 1.0}, "mostly reproduced", "Not measured: b."),
        ({"b": 1.0}, "undecided", "Could not be measured: a."),
        ({"a": math.nan, "b": 0.0}, "undecided", "Could not be measured: the a."),
    ],
)  # fmt: skip
def test_the_reason_names_the_criteria_that_decided(
    values: dict[str, float], verdict: str, reason: str
) -> None:
    found = {name: Interval(v, math.nan, math.nan, 3) for name, v in values.items()}
    judgement = made_up(found)
    reason = reason.replace("<", "steps, where at least 1.00 steps is needed")
    assert (judgement.verdict, judgement.reason) == (verdict, reason)


@pytest.mark.parametrize(
    ("value", "low", "high", "verdict", "begins"),
    [
        (1.5, 1.1, 1.9, "reproduced", "Every criterion holds."),
        (1.5, 0.6, 2.4, "mostly reproduced", "Holds nearly: the a, 1.50 steps (0.60 to 2.40), w"),
        (1.5, 0.4, 2.6, "undecided", "Undecided: the a, 1.50 steps (0.40 to 2.60), where at le"),
        (0.9, 0.6, 1.2, "undecided", "Undecided: the a, 0.90 steps (0.60 to 1.20), where at le"),
        (1.5, math.nan, math.nan, "undecided", "Undecided: the a, 1.50 steps, where at least 1.00"),
        (0.9, 0.8, 0.99, "not reproduced", "Fails: the a, 0.90 steps (0.80 to 0.99), where at"),
    ],
)
def test_an_interval_that_holds_the_bound_is_undecided_or_nearly_holds(
    value: float, low: float, high: float, verdict: str, begins: str
) -> None:
    sure = ONE.model_copy(update={"by": "interval"})
    found = {"a": Interval(value, low, high, 3)}
    judgement = made_up(found, sure, further={})
    assert judgement.verdict == verdict and judgement.reason.startswith(begins)
    strict = made_up(found, sure.model_copy(update={"partly": None}), further={}).verdict
    assert strict == ("undecided" if verdict == "mostly reproduced" else verdict)


def test_a_part_that_is_judged_apart_has_its_verdict() -> None:
    holds, fails = Interval(1.5, 1.1, 1.9, 3), Interval(0.5, 0.1, 0.9, 3)
    more: dict[str, Any] = {"apart": {"addition": "addition"}, "further": {}}
    more["paper_size"] = {"addition": PaperSize()}
    judgement = made_up({"a": fails, "a, addition": holds}, **more)
    assert judgement.verdict == "not reproduced"
    assert judgement.apart == {"addition": ("reproduced", "Every criterion holds.")}
    assert claims_json([judgement], results([]))["verdicts"] == {"G2": "no", "G2 addition": "yes"}
    without = made_up({"a": holds}, **more)
    assert without.verdict == "reproduced" and without.apart["addition"][0] == "undecided"


def test_a_remark_has_its_numbers_and_belongs_to_one_verdict() -> None:
    remark = Remark(verdict="reproduced", why="{a}, {a: interval}", change="More.")
    more = {"remark": remark, "further": {}}
    found = made_up({"a": Interval(1.5, 1.1, 1.9, 3)}, **more)
    assert (found.remark.why, found.remark.change) == (
        "1.50 steps, 1.50 steps (1.10 to 1.90)", "More.",
    )  # fmt: skip
    other = made_up({"a": Interval(0.5, 0.1, 0.9, 3)}, **more)
    assert other.remark.why == other.reason and other.remark.change != "More."


def test_a_verdict_that_changes_with_an_equally_good_setting_says_so() -> None:
    """ACT takes more steps than PonderNet at its best penalty, and fewer at an equally good one.

    A third penalty is worse by more than one standard error (0.0019) and does not count.
    """
    name, errors = "parity_interpolation", {0.001: 0.05, 0.003: 0.051, 0.01: 0.06}

    def judge_b1(act_steps: dict[float, float]) -> Judgement:
        tables = [
            rows(name, "pondernet", [0.2], lambda s, k, d: 0.02 + 0.001 * (k % 3),
                 lambda s, k, d: 3.0 + 0.01 * (k % 2), levels=BITS),
            rows(name, "act", [*act_steps], lambda s, k, d: errors[s] + 0.01 * (k % 3),
                 lambda s, k, d: act_steps[s] + 0.01 * (k % 2), levels=BITS),
        ]  # fmt: skip
        return judge(CLAIMS["B1"], results(tables))

    found = judge_b1({0.001: 4.0, 0.003: 2.0, 0.01: 2.0})
    assert found.verdict == "reproduced"
    assert found.flips == (
        "With ACT at 0.003, as good within one standard error: mostly reproduced.",
    )
    stable = judge_b1({0.001: 4.0, 0.003: 3.5})
    assert (stable.verdict, stable.flips) == ("reproduced", ())


def test_the_record_is_plain_json_and_names_unfinished_runs() -> None:
    """No network solves logic, so the number of updates is "never", which JSON lacks."""
    source = CASES["G4"][1]
    table = source.tables["logic"]
    unfinished = with_columns(
        source, "logic", status=table["status"].mask(table["seed"] == 2, "running")
    )
    document = claims_json([judge(CLAIMS["G4"], unfinished)], unfinished)
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["experiments"] == document["unfinished"] == ["logic"]
    (found,) = document["claims"]
    assert found["judged_on_unfinished_runs"] == ["logic-act", "logic-repeat"]
    (never,) = (each for each in found["estimates"] if each["quantity"] == "solve_updates")
    assert never["value"] is None and never["text"].startswith("never")
