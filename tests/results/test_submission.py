"""docs/library.md agrees with code and committed tables; wrong tables are refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, fields
from pathlib import Path

import pandas as pd
import pytest
from support.synthetic_results import FEW, card_of, table_of

from pondering.project.errors import UserError
from pondering.results import submission
from pondering.results.results import TABLE_COLUMNS, Card

ROOT = Path(__file__).parents[2]
LIBRARY = (ROOT / "docs/library.md").read_text(encoding="utf-8")
DOCUMENT = LIBRARY.partition("## Your own results, judged")[2]
ROWS = {
    line.split(" | ")[0].strip("| "): [each.strip(" |") for each in line.split(" | ")[1:]]
    for line in DOCUMENT.splitlines()
    if line.startswith("| ")
}
del ROWS["Column"]
ALLOWED = {name: cells[2] for name, cells in ROWS.items()}
BLANK = {name: cells[3] for name, cells in ROWS.items()}
TABLES = sorted(ROOT.glob("reports/reduced/tables/*.csv"))
KEY = ["mechanism", "setting", "seed", "split", "difficulty", "prediction"]


def test_the_document_names_the_columns_that_are_written() -> None:
    assert tuple(ROWS) == TABLE_COLUMNS
    assert {name for name, words in BLANK.items() if words != "no"} == {*submission.MAY_BE_BLANK}
    keys = re.search(r"at least the keys(.*?)\n\n", DOCUMENT, re.S)
    assert keys and {f"`{each.name}`" for each in fields(Card)} <= set(
        re.findall(r"`\w+`", keys[1])
    )


def test_committed_folders_are_accepted() -> None:
    for folder in {path.parents[1] for path in TABLES}:
        found = submission.load([folder], [], "reduced")
        assert sorted(found.tables) == [p.stem for p in TABLES if p.parents[1] == folder]
        assert found.curves and found.traces


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A table of parity and its card."""
    table_of("parity", FEW, 2, diverged=("act", 0.1, 1)).to_csv(tmp_path / "m.csv", index=False)
    (tmp_path / "parity.json").write_text(json.dumps(asdict(card_of("parity"))))
    return tmp_path


def refusal(folder: Path, change: Callable[[pd.DataFrame], pd.DataFrame]) -> str:
    """The error line for a table after a change; its values are text."""
    path = folder / "m.csv"
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    change(table).to_csv(path, index=False)
    with pytest.raises(UserError) as caught:
        submission.load([path], [folder / "parity.json"], "reduced")
    line = str(caught.value)
    assert line.startswith(f"{path}: ") and "\n" not in line
    return line.removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    ("change", "begins"),
    [
        (lambda table: table.drop(columns="loss"), "column 'loss' is missing; it has "),
        (
            lambda table: pd.concat([table, table.iloc[[7]]]),
            f"columns {', '.join(KEY)}, line 450: the same as in line 9",
        ),
        (  # row 20 belongs to the second seed, whose rows begin in line 18
            lambda table: table.drop(index=20),
            "column 'difficulty', line 18: repeat, rho 1, seed 1 has no row of difficulty 5 in ",
        ),
        (lambda table: table.head(0), "no rows"),
    ],
)
def test_a_column_or_a_row_that_is_missing_or_twice_there_is_refused(
    folder: Path, change: Callable[[pd.DataFrame], pd.DataFrame], begins: str
) -> None:
    assert refusal(folder, change).startswith(begins)


@pytest.mark.parametrize(
    ("column", "value", "expected"),
    [
        ("experiment", "logic", "'logic' is not one of parity"),
        ("mechanism", "atc[halt_bias=1]", "'atc[halt_bias=1]' is unknown; allowed: repeat, "),
        ("setting", "-0.1", "'-0.1' is no number from 0 to "),
        ("seed", "0.5", "'0.5' is no whole number from 0"),
        ("split", "Test", "'Test' is not one of test, train, "),
        ("difficulty", "inf", "'inf' is no number"),
        ("prediction", "mode", "'mode' is not one of mixture, sampled, expected"),
        ("examples", "0", "'0' is no whole number from 1"),
        ("error", "40", "'40' is no number from 0 to 1"),
        ("error", "", "a blank is no number"),
        ("ponder_time", "0.9", "'0.9' is no number from 1"),
        ("ponder_time", "", "a blank is for a network that diverged"),
        ("remainder", "1.5", "'1.5' is no number from 0 to 1"),
        ("status", "done", "'done' is not one of finished, running, diverged"),
    ],
)
def test_a_wrong_value_is_refused_with_its_line(
    folder: Path, column: str, value: str, expected: str
) -> None:
    def change(table: pd.DataFrame) -> pd.DataFrame:
        table.loc[4, column] = value
        return table

    assert refusal(folder, change).startswith(f"column '{column}', line 6: {expected}")


def test_missing_cards_and_repeated_tables_are_refused(folder: Path) -> None:
    table, card = folder / "m.csv", folder / "parity.json"
    with pytest.raises(
        UserError, match=r"m.csv: no data card of 'parity': give one by --card pari"
    ):
        submission.load([table], [], "reduced")
    with pytest.raises(UserError, match=r"m.csv: a second table of 'parity'"):
        submission.load([table, table], [card], "reduced")
    with pytest.raises(UserError, match="no tables in it"):
        submission.load([folder], [card], "reduced")
    card.write_text("{}")
    with pytest.raises(UserError, match=r"parity.json: what: Field required"):
        submission.load([table], [card], "reduced")


def test_a_table_in_a_folder_must_have_the_name_of_its_experiment(folder: Path) -> None:
    for name in ("tables", "cards"):
        (folder / name).mkdir()
    (folder / "m.csv").rename(folder / "tables/logic.csv")
    (folder / "cards/logic.json").write_text(json.dumps(asdict(card_of("logic"))))
    with pytest.raises(UserError, match=r"logic.csv: column 'experiment', line 2: 'parity' is not"):
        submission.load([folder], [], "reduced")
