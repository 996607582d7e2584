"""`pondering claims`: a summary, a line for each claim, and all about some of them."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from support import question_cases as cases
from support.argv import refused, run, shown
from support.claim_cases import CASES

from pondering.claims.answers import answer, answer_all
from pondering.claims.claims import load_register
from pondering.claims.verdicts import judge, judge_all
from pondering.cli import answers_text
from pondering.cli.claims_text import detail, overview

ROOT = Path(__file__).parents[2]
REGISTER = load_register(ROOT / "claims.yaml")
RESULTS = CASES["G1"][0]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The claims and the parameters; nothing has been run."""
    for name in ("claims.yaml", "params.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


@pytest.mark.parametrize("width", [80, 120])
def test_a_summary_then_a_line_for_each_claim(width: int) -> None:
    judgements = judge_all(REGISTER.claims, RESULTS)
    text = re.sub(r"\x1b\[\d+m", "", overview(judgements, "reduced", width))
    assert max(map(len, text.splitlines())) <= width
    summary, rows, hint = text.split("\n\n")
    assert " ".join(summary.split()) == (
        f"Profile reduced: 1 of {len(judgements)} claims reproduced, 2 not reproduced, "
        f"1 cannot be judged at this scale, {len(judgements) - 4} not run."
    )
    labels = [re.fullmatch(r"(\w+) +(\S [a-z ]+?)  +(.+)", row) for row in rows.splitlines()]
    verdicts = {"+ reproduced": 1, "x not reproduced": 2, "? cannot be judged": 1}
    verdicts["- not run"] = len(judgements) - 4
    assert Counter(found and found[2] for found in labels) == verdicts
    told = [found and (found[1], found[3]) for found in labels]
    assert told == [(claim.id, claim.title) for claim in REGISTER.claims]
    assert "pondering claims G1 --profile reduced" in hint


@pytest.mark.parametrize("width", [80, 120])
def test_a_line_for_each_question_and_its_answer(width: int) -> None:
    answers = answer_all(REGISTER.questions, cases.q7(0.0, 1.0))
    text = re.sub(r"\x1b\[\d+m", "", answers_text.overview(answers, "reduced", width))
    assert max(map(len, text.splitlines())) <= width
    summary, rows, hint = text.split("\n\n")
    assert summary == "Questions beyond the papers: 1 of 8 answered."
    assert [row.split()[0] for row in rows.splitlines() if row[0] == "Q"] == [
        each.id for each in REGISTER.questions
    ]
    whole = " ".join(rows.split())
    assert "Q7 ! answered Does the reversed KL" in whole and "Q8 ? open How much" in whole
    assert (
        "The error is the same on average (Comparison; Comparison digits; Comparison rotated)"
        in whole
    )
    assert "`pondering claims Q1 --profile reduced`" in " ".join(hint.split())


def test_quick_only_shows_what_is_measured() -> None:
    answers = answer_all(REGISTER.questions, replace(cases.q7(0.0, 1.0), profile="quick"))
    text = answers_text.overview(answers, "quick", 80)
    assert "0 of 8 answered." in text and "is no evidence" in " ".join(text.split())


@pytest.mark.parametrize("width", [80, 120])
def test_the_detail_of_a_question_has_every_bound_and_its_outcome(width: int) -> None:
    found = answer(REGISTER.questions[6], cases.q7(0.0, 1.0))
    other = REGISTER.literature["Q7"][:1]
    text = answers_text.detail(found, width, "Not found.", other, Path("reports/q7.svg"))
    text = re.sub(r"\x1b\[\d+m", "", text)
    assert max(map(len, text.splitlines())) <= width
    whole = " ".join(text.split())
    assert whole.startswith(f"Q7 ! answered {found.question.question} {found.reason} 10 seeds a")
    for meaning, sign in {
        "the error is the same on average": "+",
        "the steps are the same on average": "x",
    }.items():
        findings = found.meanings[meaning]
        assert f"{meaning} {sign} Comparison: {findings[0].label} {findings[0].measured}" in whole
    beside = "beside it Comparison: pairs 90 networks Comparison: pairs both solved 90 networks"
    assert beside in whole and "Comparison rotated: pairs 30 networks" in whole
    assert whole.endswith(
        f"why Not found. what others found {other[0].text()} figure: reports/q7.svg"
    )
    unrun = answers_text.detail(answer(REGISTER.questions[0], cases.q7(0, 0)), width, "So.")
    assert (
        "Q1's" not in unrun
        and "So." not in unrun
        and " ".join(unrun.split()).count("- not measured") == 4
    )


def test_the_detail_says_what_was_measured_and_why() -> None:
    judgement = judge(REGISTER.claims[0], RESULTS)
    text = re.sub(r"\x1b\[\d+m", "", detail(judgement, 80))
    assert max(map(len, text.splitlines())) <= 80
    whole = " ".join(text.split())
    claim = judgement.claim
    assert whole.startswith(f"G1 + reproduced {claim.title} ({claim.paper}, {claim.figure}) paper:")
    assert f"paper: {claim.paper_value} here: median error of the plain network " in whole
    assert whole.endswith(f"{judgement.seeds} seeds a setting. {judgement.reason}")


@pytest.mark.parametrize(("words", "profile"), [((), "reduced"), (("--profile", "quick"), "quick")])
def test_published_verdicts_unless_a_profile_is_named(
    project: Path, words: tuple[str, ...], profile: str
) -> None:
    text = shown("claims", *words)
    assert text.startswith(f"Profile {profile}: 0 of 18 claims reproduced, 18 not run.\n")
    assert "Questions beyond the papers: 0 of 8 answered." in text


def test_claims_and_questions_by_their_ids(project: Path) -> None:
    blocks = shown("claims", "B2", "q1", "g1").split("\n\n")
    assert [each.split()[0] for each in blocks] == ["Profile", "B2", "Q1", "G1"]
    assert blocks[0] == "Profile reduced"
    told = " ".join(blocks[2].split())
    assert "Not run: comparison." in told
    assert "what others found Graves 2016 (arXiv 1603.08983): " in told
    run = "`dvc repro exits@reduced-comparison`, `dvc repro report@reduced`"
    assert told.replace("- ", "-").endswith(f"no figure yet; for one run {run}")


@pytest.mark.parametrize("name", ["G9", "Q3"])
def test_what_changed_since_the_registration_is_told(project: Path, name: str) -> None:
    told = " ".join(shown("claims", name).split())
    changes = REGISTER.changes_of(name)
    assert changes and all(f"changed {each.on}: {each.what}" in told for each in changes)
    assert "changed" not in shown("claims", "B1")


def test_an_unknown_id_is_one_line(project: Path) -> None:
    line = refused("claims", "G1", "G111")
    assert line.startswith("error: IDS: 'G111' is unknown; allowed: G1, G2, ")


def test_a_change_warns_until_its_hash_is_registered(project: Path) -> None:
    path = project / "claims.yaml"
    text = path.read_text(encoding="utf-8").replace("at_least: 0.30", "at_least: 0.31", 1)
    path.write_text(text, encoding="utf-8")
    register = load_register(path)
    done = run("claims")
    assert done.exit_code == 0 and register.content_hash() in done.stderr
    assert "; changed: G1. " in done.stderr and len(done.stderr.splitlines()) == 1
    path.write_text(text.replace(register.changes[-1].sha256, register.content_hash()))
    shown("claims")
