"""What a verdict says beside its name: which criteria decided it, and the counts of claims.json."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from pathlib import Path

import pytest
from claim_cases import CASES

from pondering.claim_measures.quantities import Quantity
from pondering.claims import Criterion, load_claims
from pondering.verdicts import VERDICTS, _verdict, claims_json, judge, judge_all

CLAIMS = {c.id: c for c in load_claims(Path(__file__).parent.parent / "claims.yaml")}
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
