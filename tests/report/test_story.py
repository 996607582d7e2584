"""The README's section "What holds": its table and its findings."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.published import ROOT

from pondering.project.documents import read_yaml
from pondering.report.pages.story import story, table, what_holds, write_readme
from pondering.results.results import Results

FOLDER = ROOT / "reports" / "reduced"
SCREENS = FOLDER / "search"
FINDINGS = [
    each["text"] for each in read_yaml(ROOT / "src/pondering/report/pages/findings.yaml")["reduced"]
]


@pytest.fixture(scope="module")
def results() -> Results:
    return Results.read(ROOT / "reports/reduced", "reduced")


@pytest.fixture(scope="module")
def record() -> Any:
    return json.loads((FOLDER / "claims.json").read_text(encoding="utf-8"))


def test_every_finding_holds_in_the_published_tables(results: Results, record: Any) -> None:
    assert len(story(results, record, SCREENS)) == len(FINDINGS)


def test_the_readme_has_the_section_of_the_published_tables(results: Results, record: Any) -> None:
    """This fails if a table or a verdict has changed and the report was not built again."""
    assert what_holds(results, record) in (ROOT / "README.md").read_text(encoding="utf-8")


def test_a_finding_whose_verdict_has_changed_is_left_out(results: Results, record: Any) -> None:
    other = copy.deepcopy(record)
    (claim,) = (each for each in other["claims"] if each["id"] == "G1")
    claim["verdict"] = "reproduced"
    before, after = (story(results, each, SCREENS) for each in (record, other))
    assert after == [before[0], *before[2:]]


def test_without_results_only_findings_without_numbers_are_left(
    results: Results, record: Any, tmp_path: Path
) -> None:
    nothing = replace(results, tables={})
    unread = {"claims": [claim | {"estimates": []} for claim in record["claims"]]}
    assert story(nothing, unread, tmp_path) == [each for each in FINDINGS if "{" not in each]
    assert len(table(nothing, record).splitlines()) == 2
    assert len(table(results, record).splitlines()) == 2 + 7


def test_only_the_marked_section_of_the_readme_is_written(tmp_path: Path) -> None:
    path = tmp_path / "README.md"
    text = "a\n<!-- results of reduced: generated -->\nold\n<!-- end of results -->\nb\n"
    path.write_text(text, encoding="utf-8")
    write_readme(path, "quick", "new\n")
    assert path.read_text(encoding="utf-8") == text
    write_readme(path, "reduced", "new\n")
    assert path.read_text(encoding="utf-8") == text.replace("old", "new")
    write_readme(tmp_path / "absent.md", "reduced", "new\n")
    assert not (tmp_path / "absent.md").exists()


def test_the_row_of_a_claim_that_failed_shows_what_failed() -> None:
    rows = (ROOT / "reports/reduced/report.md").read_text(encoding="utf-8").splitlines()
    claims = json.loads((ROOT / "reports/reduced/claims.json").read_text(encoding="utf-8"))
    for claim in claims["claims"]:
        failed = [each for each in claim["criteria"] if each["core"] and each["outcome"] == "fails"]
        if failed and not claim["apart"]:
            (row,) = (each for each in rows if each.startswith(f"| {claim['id']} "))
            assert any(f": {each['label']}" in row for each in failed), claim["id"]
