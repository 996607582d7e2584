"""`pondering compare`: a table and a figure of what changed since a commit."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pytest
from support.argv import refused, shown
from support.repository import commit, path_with_git
from support.synthetic_results import FEW, card_of, table_of

ROOT = Path(__file__).parents[2]
TABLES = Path("reports/quick/tables")
PARITY, SORT = TABLES / "parity.csv", TABLES / "sort.csv"


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two experiments whose tables are committed; another commit before has none."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "params.yaml", tmp_path)
    edit(r"^profile: \w+", "profile: quick")
    commit(Path())
    for path in (PARITY, SORT):
        card = tmp_path / "reports/quick/cards" / f"{path.stem}.json"
        for folder in (path.parent, card.parent):
            folder.mkdir(parents=True, exist_ok=True)
        card.write_text(json.dumps(asdict(card_of(path.stem))))
        table_of(path.stem, FEW, 3).assign(error=0.2).to_csv(path, index=False)
    commit(Path())


def edit(old: str, new: str) -> None:
    path = Path("params.yaml")
    text, count = re.subn(old, new, path.read_text(), count=1, flags=re.MULTILINE)
    assert count == 1
    path.write_text(text)


def rerun(path: Path = PARITY) -> None:
    """ACT's highest penalty is another; errors rise by 10, 20 and 30 points."""
    rows = pd.read_csv(path)
    own = (rows["mechanism"] == "act") & (rows["setting"] == 0.1)
    rows.loc[own, "setting"] = 0.2
    rows.loc[own, "error"] += 0.1 * (1 + rows["seed"])
    rows.to_csv(path, index=False)


def test_the_setting_that_replaced_another_has_its_paired_difference() -> None:
    rerun()
    edit(r"act: \{tau: \[0.001, 0.01, 0.1\]", "act: {tau: [0.001, 0.01, 0.2]")
    first, blank, head, title, setting, error, steps, *_, last = shown("compare").splitlines()
    assert first == "parity.quick.act.tau: [0.001, 0.01, 0.1] → [0.001, 0.01, 0.2]"
    assert (blank, head.split()) == ("", ["before", "after", "difference"])
    assert (title, setting) == ("Parity: test", "  ACT, tau 0.1 → tau 0.2; seeds: 3")
    # Student's t of two degrees of freedom: 4.303 times 10 points by the root of three
    cells = ["error", "20.0% (no spread)", "40.0% (15.2 to 64.8)", "20.0 points (-4.8 to 44.8)"]
    assert re.split(r"  +", error.strip().replace("\N{MINUS SIGN}", "-")) == cells
    assert steps.endswith("0.00 (no spread)")
    assert last == "The figure: open reports/compare.svg"
    assert "before (HEAD)" in Path("reports/compare.svg").read_text()


def test_no_mean_of_steps_begins_below_the_first() -> None:
    rows = pd.read_csv(PARITY)
    own = (rows["mechanism"] == "act") & (rows["setting"] == 0.1)
    rows.loc[own, "ponder_time"] = 1.0 + rows["seed"]  # 2 +- 2.5, by a t of 4.303
    rows.to_csv(PARITY, index=False)
    (steps,) = (line for line in shown("compare").splitlines() if line.startswith("    steps"))
    assert re.search(r"  2\.00 \(1\.00 to 4\.48\)  ", steps), steps


def test_an_experiment_a_commit_and_a_file_can_be_named() -> None:
    rerun()
    rerun(SORT)
    said = shown("compare", "HEAD", "sort", "--out", "figures/sort.png")
    assert "Sort: test" in said and "Parity" not in said
    assert "No value of params.yaml changed" in said
    assert Path("figures/sort.png").read_bytes().startswith(b"\x89PNG")
    commit(Path())
    assert "Sort: test" in shown("compare", "HEAD~1")
    assert shown("compare").startswith("compare: the errors and steps of profile quick are")


def test_without_other_numbers_a_line_says_what_to_do() -> None:
    same = "compare: the errors and steps of parity are those of HEAD; "
    said = shown("compare", "HEAD", "parity")
    assert said == f"{same}edit params.yaml and run `make repro`, or name an older commit\n"
    edit(r"updates: 1500", "updates: 1600")
    said = shown("compare", "HEAD", "parity")
    assert said == f"{same}run `make repro`, or name an older commit\n"
    assert not Path("reports/compare.svg").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "nowhere",
            "REV: git knows no commit 'nowhere'; `git log --oneline` lists those there are",
        ),
        ("parity", "REV: git knows no commit 'parity'; `pondering compare HEAD parity` compares"),
        (
            "HEAD~1",
            "HEAD~1 has no reports/quick/tables; `git log --oneline -- reports/quick/tables`",
        ),
        ("HEAD~1 sort", "HEAD~1 has no reports/quick/tables/sort.csv; `git log"),
        ("HEAD logic", "reports/quick/tables/logic.csv: no table; `make repro` makes it"),
        ("HEAD partiy", "did you mean 'parity'?"),
        ("--out figure.pdf", "--out: figure.pdf must end in .svg or .png"),
    ],
)
def test_a_mistake_is_one_line(words: str, said: str) -> None:
    assert said in refused("compare", *words.split())


def test_files_without_a_status_are_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That there is a commit is asked alone: a status may take long."""
    rerun()
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", path_with_git(tmp_path / "bin", "exit 1"))
    assert "ACT, tau 0.1" in shown("compare")


def test_without_git_there_is_nothing_to_compare_with() -> None:
    shutil.rmtree(".git")
    said = "there is no commit here to compare with; run it in a checkout"
    assert said in refused("compare")
