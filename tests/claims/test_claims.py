"""claims.yaml: its claims, its refusals, and what a bound allows."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from support.claim_cases import CASES

from pondering.claims.claims import Criterion, load_register
from pondering.claims.quantities import Quantity
from pondering.claims.record import claims_json
from pondering.claims.verdicts import judge_all, outcome
from pondering.project.errors import UserError
from pondering.results.results import Results

ROOT = Path(__file__).parents[2]
REMARKS = ROOT / "reports/reduced/remarks.yaml"
CLAIMS = {claim.id: claim for claim in load_register(ROOT / "claims.yaml", REMARKS).claims}
IDS = ["G1", "G2", "G3", "G4", "G5", "G6", "G7", "G8", "G9", "G10", "B1", "B2", "B3", "B4", "B5",
       "M1", "M2", "F1"]  # fmt: skip


def test_every_claim_and_question_is_there() -> None:
    assert list(CLAIMS)[: len(IDS)] == IDS  # a new one comes after them
    assert set(IDS) <= set(CASES) <= set(CLAIMS)
    questions = [name for name, each in CLAIMS.items() if each.ours]
    assert questions == [f"Q{n}" for n in (*range(1, 8), *range(9, 13))]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("title: ACT solves parity", "x: 1", "G1.title: Field required"),
        ("title: ACT solves parity", "title: ACT\n  x: 1", "G1.x: Extra inputs"),
        ("penalty.error_with_and_without", "penalty.guess",
         "G1.measure: Invalid python path: No module named 'pondering.claims.measures.penalty.g"),
        ("penalty.error_with_and_without", "guess", "G1.measure: Invalid python path: No module"),
        ("solved_below: 0.05}", "solved_blow: 0.05}", "G1: Value error, arguments: missing"),
        ("at_least: 0.30, partly: 0.20", "at_least: high", "G1.core.plain_error.2.at_least: Input"),
        ("plain_error: [share,", "plain_error: [shore,", "G1.core.plain_error.0:"),
        ("judged_from: quick", "judged_from: huge", "G2.judged_from: Input"),
        ("\nG2:\n", "\nG1:\n", "not valid YAML"),
        ("changes:\n", "changes: [\n", "not valid YAML"),
    ],
)  # fmt: skip
def test_a_malformed_claim_is_refused_with_file_and_key(
    old: str, new: str, expected: str, tmp_path: Path
) -> None:
    text = (ROOT / "claims.yaml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "claims.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError) as problem:
        load_register(path)
    message = str(problem.value)
    assert message.startswith(f"{path}: ") and expected in message and "\n" not in message


def test_a_malformed_remark_is_refused_with_file_and_key(tmp_path: Path) -> None:
    path = tmp_path / "remarks.yaml"
    path.write_text("G1: {verdict: failed, why: It did., change: More.}\n")
    with pytest.raises(UserError, match=f"^{path}: G1.verdict: Input should be 'reproduced'"):
        load_register(ROOT / "claims.yaml", path)


def quantity(value: float, low: float | None = None, high: float | None = None) -> Quantity:
    return Quantity("a", "the a", "updates", value, low, high, 3)


def test_a_bound_allows_its_end() -> None:
    between = Criterion(at_least=1.0, at_most=2.0, partly=(0.5, 3.0), by="estimate")
    outcomes = {0.5: "fails", 0.99: "fails", 1: "holds", 2: "holds", 2.01: "fails"}
    assert {value: outcome(between, quantity(value)) for value in outcomes} == outcomes
    assert outcome(between, quantity(math.nan)) == "not measured"
    most = Criterion(at_most=30000, partly=100000, by="estimate")
    assert [outcome(most, quantity(v)) for v in (3e4, 1e5, math.inf)] == ["holds", "fails", "fails"]
    assert most.words(quantity(math.inf).unit) == "at most 30,000 updates"
    assert between.words(quantity(1).unit) == "between 1 update and 2 updates"


def test_changes_name_known_claims_and_days_after_the_registration() -> None:
    register = load_register(ROOT / "claims.yaml")
    ids = {each.id for each in register.claims}
    for change in register.changes:
        assert change.on > register.registered.on and set(change.of) <= ids | {"Q8"}
    assert [each.on.day for each in register.changes_of("B3")] == [29]


def test_the_published_verdicts_and_numbers_follow_from_the_tables() -> None:
    """Every remark belongs to its verdict, and its numbers are found."""
    results = Results.read(ROOT / "reports/reduced", "reduced")
    judgements = judge_all([*CLAIMS.values()], results)
    published = json.loads((ROOT / "reports/reduced/claims.json").read_text(encoding="utf-8"))
    found = claims_json(judgements, results)
    assert found["verdicts"] == published["verdicts"]
    for mine, theirs in zip(found["claims"], published["claims"], strict=True):
        for key in ("estimates", "criteria", "apart", "flips", "seeds", "replicas", "diverged"):
            assert mine[key] == theirs[key], (mine["id"], key)
    for each in judgements:
        assert each.claim.remark and each.claim.remark.verdict == each.verdict, each.claim.id
        assert each.remark.why != each.reason and "not measured" not in each.remark.why
