"""The table of results in the README."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from support.published import REGISTER, ROOT

from pondering.claims.claims import Claim
from pondering.claims.verdicts import judge_all
from pondering.params.read import load_params
from pondering.report.pages.overview import overview, write_readme
from pondering.report.pages.view import page_of
from pondering.results.results import Results

TWO = [each for each in REGISTER.claims if each.id in ("G4", "G9")]
"""Of logic and of the text: the table has the tasks that a claim is about."""


def table_of(results: Results, claims: Sequence[Claim]) -> str:
    judgements = judge_all(claims, results)
    settings = load_params(ROOT / "params.yaml", results.profile).experiments
    return overview(results, page_of(results, judgements, (), REGISTER, {}, settings, {}))


@cache
def published(profile: str) -> str:
    return table_of(Results.load(ROOT / "reports", profile), REGISTER.claims)


def test_the_readme_has_the_results_of_the_published_tables(tmp_path: Path) -> None:
    """Fails where a table has changed and the report stage has not run since."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (profile,) = re.findall(r"<!-- results of (\w+)", text)
    copy = tmp_path / "README.md"
    copy.write_text(text, encoding="utf-8")
    write_readme(copy, profile, published(profile))
    assert copy.read_text(encoding="utf-8") == text
    assert len(text.splitlines()) <= 150
    write_readme(copy, "another", "never")
    write_readme(tmp_path / "absent.md", profile, "never")
    assert copy.read_text(encoding="utf-8") == text and not (tmp_path / "absent.md").exists()
    write_readme(copy, profile, "new\n")
    assert "report stage -->\nnew\n<!-- end" in copy.read_text(encoding="utf-8")


def test_the_reports_stay_small() -> None:
    """As large as the plan needs: what still answers the questions is some 15 MB more."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "reports"], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    assert sum((ROOT / each).stat().st_size for each in listed) < 100_000_000


def test_a_row_tells_error_steps_and_who_solved_it(results: Results) -> None:
    rows = [line.split(" | ") for line in table_of(results, TWO).splitlines()]
    assert len({len(row) for row in rows}) == 1
    task, plain, act, *_ = next(row for row in rows if "report.md#logic)" in row[0])
    assert task.startswith("| [") and re.fullmatch(r"[\d.]+%, \d of 3", plain)
    assert re.fullmatch(r"[\d.]+%, [\d.]+ steps?, \d of 3", act)
    assert any(re.match(r"\d\.\d\d bits", row[1]) for row in rows)


def test_seeds_that_validation_stopped_were_trained_long_enough(results: Results) -> None:
    curves = results.curves["logic"]
    half, act = curves["update"].max() / 2, curves["mechanism"] == "act"
    early = act & (curves["update"] > half - 0.2 * half * curves["seed"])
    results = Results(**{**results.__dict__, "curves": {**results.curves, "logic": curves[~early]}})
    row = next(line for line in table_of(results, TWO).splitlines() if "report.md#logic)" in line)
    assert row.split(" | ")[2] != ""


def test_a_method_trained_for_less_has_no_cell(results: Results) -> None:
    curves = results.curves["logic"].copy()
    short = (curves["mechanism"] == "act") & (curves["update"] > curves["update"].max() / 2)
    results = Results(**{**results.__dict__, "curves": {**results.curves, "logic": curves[~short]}})
    row = next(line for line in table_of(results, TWO).splitlines() if "report.md#logic)" in line)
    assert row.split(" | ")[2] == ""


@pytest.mark.parametrize("profile", ["quick", "reduced"])
def test_links_to_sections_of_the_report_exist(profile: str) -> None:
    report = (ROOT / "reports" / profile / "report.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.+)$", report, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}
    found = re.findall(r"report\.md#([^)]+)", published(profile))
    assert found and set(found) <= anchors
