"""What holds: the table and the sentences of the README."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support.published import ROOT

from pondering.report.pages.story import story, table, what_holds, write_readme
from pondering.results.results import Results

FOLDER = ROOT / "reports" / "reduced"


@pytest.fixture(scope="module")
def results() -> Results:
    return Results.load(ROOT / "reports", "reduced")


@pytest.fixture(scope="module")
def judged() -> Any:
    return json.loads((FOLDER / "claims.json").read_text(encoding="utf-8"))


def test_every_sentence_holds_in_the_published_tables(results: Results, judged: Any) -> None:
    told = story(results, judged, FOLDER)
    assert len(told) == 10 and all(each.holds for each in told)


def test_the_readme_has_the_section_of_the_published_tables(results: Results, judged: Any) -> None:
    """Fails where a table or a verdict has changed and the report was not made since."""
    assert what_holds(results, judged, FOLDER) in (ROOT / "README.md").read_text(encoding="utf-8")


def test_networks_are_counted_as_the_tables_say(results: Results, judged: Any) -> None:
    rows = pd.read_csv(FOLDER / "tables" / "parity.csv")
    act = rows[(rows["mechanism"] == "act") & rows["setting"].isin([0.001, 0.003, 0.01])]
    errors = act[act["split"] == "test"].groupby(["setting", "seed"])["error"].mean()
    text = story(results, judged, FOLDER)[1].text
    assert f"{(errors < 0.05).sum()} of {len(errors)} networks" in text


def test_a_sentence_that_new_numbers_contradict_is_left_out(results: Results, judged: Any) -> None:
    parity = results.tables["parity"].copy()
    parity.loc[parity["mechanism"] == "repeat", "error"] = 0.01  # a plain network solves it too
    other = replace(results, tables={**results.tables, "parity": parity})
    before, after = (story(each, judged, FOLDER)[1] for each in (results, other))
    assert before.holds and not after.holds
    assert after.text not in what_holds(other, judged, FOLDER)


def test_what_was_not_run_is_not_told(results: Results, judged: Any, tmp_path: Path) -> None:
    nothing = replace(results, tables={})
    assert story(nothing, {"claims": []}, tmp_path) == []
    assert len(table(nothing, judged).splitlines()) == 2
    assert len(table(results, judged).splitlines()) == 2 + 9


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
