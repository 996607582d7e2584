"""What a verdict says beside its name: which criteria decided it, and the counts of claims.json."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from pathlib import Path

import pytest
from claim_cases import CASES

from pondering.claims.claims import Criterion, load_claims
from pondering.claims.measures.quantities import Quantity
from pondering.claims.verdicts import VERDICTS, _verdict, claims_json, judge, judge_all

CLAIMS = {c.id: c for c in load_claims(Path(__file__).parents[2] / "claims.yaml")}
CORE = Criterion(quantity="a", at_least=1.0, partly=0.5, core=True)
SIDE = Criterion(quantity="b", at_least=1.0, partly=0.5, core=False)


def measured(**values: float) -> list[Quantity]:
    return [
        Quantity(name, f"the {name}", "steps", value, None, None, 3)
        for name, value in values.items()
    ]


@pytest.mark.parametrize(
    ("values", "verdict", "reason"),
    [
        ({"a": 1.0, "b": 1.0}, "reproduced", "All 2 criteria hold."),
        ({"a": 0.0, "b": 0.0}, "not reproduced", "Fails: the a."),
        ({"a": 1.0, "b": 0.0}, "partly", "Fails: the b."),
        ({"a": 0.7, "b": 0.7}, "partly", "Holds only partly: the a; the b."),
        ({"a": 0.7, "b": 0.0}, "partly", "Holds only partly: the a; fails: the b."),
        ({"a": 1.0}, "partly", "Not measured: b."),
        ({"b": 1.0}, "cannot be judged at this scale", "Could not be measured: a."),
        ({"a": math.nan, "b": 0.0}, "cannot be judged at this scale",
         "Could not be measured: the a."),
    ],
)  # fmt: skip
def test_the_reason_names_what_decided(values: dict[str, float], verdict: str, reason: str) -> None:
    quantities = measured(**values)
    by_name = {quantity.name: quantity for quantity in quantities}
    outcomes = [(c, c.outcome(by_name.get(c.quantity))) for c in (CORE, SIDE)]
    assert _verdict(outcomes, quantities) == (verdict, reason)


def test_claims_json_counts_verdicts_and_names_what_is_unfinished() -> None:
    source = CASES["G1"][0]
    judged = judge_all(CLAIMS.values(), source)
    document = claims_json(judged, source)
    assert set(document) == {"profile", "experiments", "unfinished", "counts", "claims"}
    assert document["profile"] == source.profile
    assert document["experiments"] == sorted(source.tables)
    assert list(document["counts"]) == list(VERDICTS)
    assert +Counter(document["counts"]) == Counter(j.verdict for j in judged)
    assert document["unfinished"] == []
    table = source.tables["parity"]
    begun = table["status"].mask(table["seed"] == table["seed"].max(), "running")
    tables = source.tables | {"parity": table.assign(status=begun)}
    assert claims_json([], dataclasses.replace(source, tables=tables))["unfinished"] == ["parity"]


def test_every_field_of_a_claim_is_published() -> None:
    claim = CLAIMS["G1"]
    judgement = judge(claim, CASES["G1"][0])
    (found,) = claims_json([judgement], CASES["G1"][0])["claims"]
    same = ("id", "paper", "figure", "title", "statement", "paper_value", "measured")
    assert {key: found[key] for key in same} == {key: getattr(claim, key) for key in same}
    assert found["figures"] == list(claim.figures)
    assert (found["verdict"], found["reason"]) == (judgement.verdict, judgement.reason)
    assert (found["seeds"], found["replicas"], found["diverged"]) == (
        judgement.seeds, judgement.replicas, judgement.diverged,
    )  # fmt: skip
    assert found["runs"] == list(judgement.runs) and found["difficulties"]
    for estimate, quantity in zip(found["estimates"], judgement.quantities, strict=True):
        assert estimate["quantity"] == quantity.name and estimate["label"] == quantity.label
        assert estimate["value"] == pytest.approx(quantity.value, rel=1e-5)
        assert estimate["unit"] == quantity.unit and estimate["seeds"] == quantity.seeds
    assert found["criteria"] == [dataclasses.asdict(each) for each in judgement.findings]


def test_a_bound_belongs_to_what_it_allows() -> None:
    between = Criterion(quantity="a", between=(1.0, 2.0), partly=(0.5, 3.0), core=True)
    outcomes = {
        0.4: "fails",
        0.5: "partly",
        1.0: "holds",
        2.0: "holds",
        3.0: "partly",
        3.1: "fails",
    }
    for value, outcome in outcomes.items():
        assert between.outcome(measured(a=value)[0]) == outcome
    assert between.outcome(None) == between.outcome(measured(a=math.nan)[0]) == "not measured"


def test_an_interval_that_only_touches_its_bound_holds_partly() -> None:
    criterion = Criterion(quantity="a", at_least=0.0, by="interval", core=True)
    for low, high, outcome in ((0.1, 0.9, "holds"), (-0.1, 0.9, "partly"), (None, None, "partly")):
        quantity = Quantity("a", "the a", "steps", 0.5, low, high, 3)
        assert criterion.outcome(quantity) == outcome


def test_a_condition_that_lapses_hides_no_other() -> None:
    """G2 at the paper's size: an easy task is no excuse there, one that is not learned is."""
    claim, source = CLAIMS["G2"], CASES["G2"][0]
    lapsed = next(c for c in claim.preconditions if c.below_difficulty is not None)
    strict = lapsed.model_copy(update={"below_difficulty": None, "at_least": 2.0, "because": "No"})
    both = claim.model_copy(update={"preconditions": (lapsed, strict)})
    judgement = judge(both, source)
    assert judgement.verdict == "cannot be judged at this scale"
    assert judgement.reason.startswith("No (error of the plain network ")


def test_findings_say_what_was_needed_and_what_was_not_measured() -> None:
    claim, source = CLAIMS["G1"], CASES["G1"][0]
    more = Criterion(quantity="nothing", at_least=0.0, core=False)
    wider = claim.model_copy(update={"criteria": (*claim.criteria, more)})
    *findings, missing = judge(wider, source).findings
    for criterion, finding in zip(claim.criteria, findings, strict=True):
        assert finding.needed.endswith(", whole interval") == (criterion.by == "interval")
        assert finding.core == criterion.core and finding.measured
    assert dataclasses.asdict(missing) == {
        "label": "nothing", "measured": "not measured", "needed": "",
        "outcome": "not measured", "core": False,
    }  # fmt: skip


def test_what_was_not_run_is_named() -> None:
    empty = dataclasses.replace(CASES["G1"][0], tables={}, curves={})
    judgement = judge(CLAIMS["G1"], empty)
    assert (judgement.verdict, judgement.reason) == ("not run", "Parity has not been run.")
    assert judgement.seeds == 0 and judgement.findings == ()


@pytest.mark.parametrize("name", ["G1", "B1", "G9"])
def test_the_file_holds_every_estimate_with_its_interval(name: str) -> None:
    source = CASES[name][0]
    judgement = judge(CLAIMS[name], source)
    (claim,) = claims_json([judgement], source)["claims"]
    assert claim["replicas"] == judgement.replicas > 0
    known = {quantity.name: quantity for quantity in judgement.quantities}
    assert [each["quantity"] for each in claim["estimates"]] == list(known)
    bounded = 0
    for each in claim["estimates"]:
        quantity = known[each["quantity"]]
        for key in ("value", "low", "high"):
            wanted = getattr(quantity, key)
            finite = wanted is not None and math.isfinite(wanted)
            assert each[key] == (float(f"{wanted:.6g}") if finite else None)
            bounded += finite and key != "value"
        assert each["label"] == quantity.label
    assert bounded
    labels = {quantity.label for quantity in judgement.quantities}
    assert {finding.label for finding in judgement.findings} <= labels
