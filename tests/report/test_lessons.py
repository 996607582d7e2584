"""What the verdicts come to in words."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from support.published import CLAIMS, hostile_results, publish

from pondering.claims.verdicts import VERDICTS, Judgement, Verdict, judge
from pondering.report.pages.lessons import (
    experiments_of,
    lessons,
    solved_errors,
    solved_in_words,
)
from pondering.results.results import Results


def judged(**verdicts: Verdict) -> list[Judgement]:
    """The first claims with these verdicts, in their order."""
    blank = {claim.id: judge(claim, Results("quick")) for claim in CLAIMS}
    return [replace(blank[name], verdict=verdict) for name, verdict in verdicts.items()]


def told(**verdicts: Verdict) -> list[tuple[list[str], str, bool]]:
    found = lessons(judged(**verdicts))
    return [([claim.id for claim in each.claims], each.predicate, each.decided) for each in found]


def test_a_changed_verdict_changes_the_sentence() -> None:
    assert told(G1="cannot be judged at this scale", G2="not reproduced", G3="not reproduced") == [
        (["G2", "G3"], "are not reproduced", True),
        (["G1"], "cannot be judged at this scale", False),
    ]
    assert told(G1="reproduced", G2="not reproduced", G3="partly") == [
        (["G1"], "is reproduced", True),
        (["G3"], "is reproduced in part", True),
        (["G2"], "is not reproduced", True),
    ]
    assert all(lessons(judged(G1=verdict)) for verdict in VERDICTS)
    assert lessons([]) == ()


def test_claims_belong_to_their_experiments_and_say_what_solved_is() -> None:
    by_id = {claim.id: experiments_of(claim) for claim in CLAIMS}
    assert by_id["G3"] == {"parity", "parity_interpolation"}
    assert {"parity", "addition"} <= by_id["F1"]
    errors = solved_errors(CLAIMS)
    assert errors["logic"] == 0.02 and errors["parity"] == 0.05
    words = solved_in_words(errors, str.upper)
    assert words.endswith("below 5%, in LOGIC below 2%.")


def test_every_section_ends_with_what_its_claims_came_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("site", "view"):
        monkeypatch.setattr(f"pondering.report.pages.{module}.FIGURES", ())
    folder = publish(hostile_results(), tmp_path)
    html = (folder / "index.html").read_text(encoding="utf-8")
    text = (folder / "report.md").read_text(encoding="utf-8")
    for name in ("parity", "wikipedia"):
        section = html[html.index(f'<section id="{name}"') :]
        section = section[: section.index("</section>")]
        sentence = section[section.index("What we learn:") :]
        assert "<figure" not in sentence
        named = set(re.findall(r'href="#claim-(\w+)"', sentence))
        assert named == {claim.id for claim in CLAIMS if name in experiments_of(claim)}
    assert text.count("**What we learn:**") == html.count("What we learn:")
    opening = html[: html.index("<main")]
    assert set(re.findall(r'href="#claim-(\w+)"', opening)) == {claim.id for claim in CLAIMS}
    assert opening.count("solved") == 1
