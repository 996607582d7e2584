"""`pondering claims`: a summary, a line for each claim, and details of single claims."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from support.argv import output, refusal
from support.claim_cases import CASES

from pondering.claims.claims import load_register
from pondering.claims.verdicts import judge, judge_all
from pondering.claims.words import VERDICTS
from pondering.cli.claims_text import detail, full, overview

ROOT = Path(__file__).parents[2]
REGISTER = load_register(ROOT / "claims.yaml")
RESULTS = CASES["G1"][0]


def plain(text: str) -> str:
    """The text without colours."""
    return re.sub(r"\x1b\[\d+m", "", text)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with claims and parameters, and without results."""
    for name in ("claims.yaml", "params.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.mark.parametrize("width", [80, 120])
def test_a_summary_then_a_line_for_each_claim_and_part(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", f"{width}")
    judgements = judge_all(REGISTER.claims, RESULTS)
    text = plain(overview(judgements, "reduced"))
    assert max(map(len, text.splitlines())) <= width
    summary, rows, hint = text.split("\n\n")
    counts = Counter(each.verdict for each in judgements)
    words = ", ".join(f"{counts[each]} {each}" for each in VERDICTS if counts[each])
    assert " ".join(summary.split()) == f"Profile reduced, {len(judgements)} claims: {words}."
    expected = []
    for each in judgements:
        expected.append((each.claim.id, each.verdict, each.claim.title))
        expected += [
            ("", verdict, f"the same, judged apart: {part}")
            for part, (verdict, _) in each.apart.items()
        ]
    lines = [re.fullmatch(r"(\w*) +([a-z ]+?)  +(.+)", row) for row in rows.splitlines()]
    assert [found and found.groups() for found in lines] == expected
    assert "pondering claims G1 --profile reduced" in hint


def test_a_claim_in_brief_has_the_papers_number_ours_and_what_would_change_the_verdict(
    project: Path,
) -> None:
    judgement = judge(REGISTER.claims[0], RESULTS)
    text = plain(detail(judgement))
    assert max(map(len, text.splitlines())) <= 80
    claim, remark = judgement.claim, judgement.remark
    assert " ".join(text.split()) == (
        f"G1 {judgement.verdict} {claim.title} ({claim.paper}, {claim.figure}) "
        f"paper {claim.paper_value} here {remark.why} would change {remark.change}"
    )


def test_a_whole_claim_has_its_criteria_and_what_would_flip_it() -> None:
    judgement = judge(REGISTER.claims[0], RESULTS)
    whole = " ".join(plain(full(judgement)).split())
    assert f"claim {judgement.claim.statement} paper " in whole
    assert " here median error of the plain network " in whole
    assert whole.endswith(f"would change {judgement.remark.change}")
    flipped = plain(full(replace(judgement, flips=("With ACT at 0.1: no.",))))
    assert "but          With ACT at 0.1: no." in flipped


def test_claims_are_chosen_by_their_ids(project: Path) -> None:
    blocks = output("claims", "B2", "q1", "g1").split("\n\n")
    assert [each.split()[0] for each in blocks] == ["B2", "Q1", "G1"]
    assert "here Comparison has not been run." in " ".join(blocks[1].split())
    assert blocks[2].splitlines()[-1].endswith("pondering claims B2 Q1 G1 --full --profile reduced")
    known = len(load_register(project / "claims.yaml").claims)
    overall = output("claims", "--profile", "quick")
    assert overall.startswith(f"Profile quick, {known} claims: {known} undecided.")


def test_a_whole_claim_lists_its_changes_since_the_registration(project: Path) -> None:
    printed = "".join(output("claims", "G9", "Q3", "--full").split())
    changes = [*REGISTER.changes_of("G9"), *REGISTER.changes_of("Q3")]
    texts = [f"{each.on}{each.what}".replace(" ", "") for each in changes]
    assert texts and all(text in printed for text in texts)
    assert "2026-11" not in output("claims", "B1", "--full")


def test_an_unknown_id_is_one_error_line(project: Path) -> None:
    line = refusal("claims", "G1", "G111")
    assert line.startswith("error: IDS: 'G111' is unknown; allowed: G1, G2, ")
