"""`pondering exits`: a block for each mechanism, at most 80 characters wide."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pytest
from support.argv import output, refusal
from support.synthetic_results import FEW, card_of, exits_of, table_of

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The parameters, and the tables of one experiment."""
    shutil.copy(ROOT / "params.yaml", tmp_path)
    folder = tmp_path / "reports/quick"
    for name in ("tables", "exits", "cards"):
        (folder / name).mkdir(parents=True)
    table_of("comparison", FEW, 3).to_csv(folder / "tables/comparison.csv", index=False)
    exits_of("comparison", FEW, 3).to_csv(folder / "exits/comparison.csv", index=False)
    (folder / "cards/comparison.json").write_text(json.dumps(asdict(card_of("comparison"))))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    return tmp_path


def table() -> str:
    return output("exits", "comparison", "--profile", "quick")


def test_each_rule_has_its_errors_at_two_three_and_four_steps(project: Path) -> None:
    text = table()
    assert max(map(len, text.splitlines())) <= 80
    assert "PonderNet, lambda_p 0.1, 3 seeds, 1,600 inputs each" in text
    lines = {words[0]: " ".join(words[1:]) for each in text.splitlines() if (words := each.split())}
    # The error is 0.4 / n + 0.02 a rule + 0.005 a seed; one of three seeds diverged and has 1.
    assert lines["best"] == "fixed n 59.0% 54.6% 52.3% 50.1% at n = 6"
    assert lines["cumulated"] == "51.0% 46.6% 44.3%"
    assert lines["oracle"] == "53.7% at 4.0 steps"


def test_a_rule_worse_than_the_best_fixed_n_is_marked(project: Path) -> None:
    path = project / "reports/quick/exits/comparison.csv"
    rows = pd.read_csv(path)
    rows.loc[rows["rule"].isin(["state", "sampled"]), "error"] += 0.3
    late = (rows["rule"] == "patience") & (rows["ponder_time"] >= 4)
    rows.loc[late, "error"] = 0.9
    rows.loc[rows["rule"] == "certainty", "ponder_time"] += 5  # says nothing at these steps
    rows.to_csv(path, index=False)
    text = table()
    marked = re.findall(r"^  (\w+).*decides nothing$", text, re.MULTILINE)
    assert marked == ["sampled", "state"]
    assert re.search(r"^  patience .*   loses at 4$", text, re.MULTILINE)


def test_an_experiment_without_a_table_is_refused(project: Path) -> None:
    line = refusal("exits", "parity", "--profile", "reduced")
    assert line.startswith("error: reports/reduced/exits/parity.csv: no rows; ")
    assert "'comparision' is no experiment; allowed: parity, " in refusal("exits", "comparision")
