"""Tables of anyone's, checked whole; docs/library.md says what they must hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import Replica, read_variant
from pondering.project.errors import UserError
from pondering.results.results import TABLE_COLUMNS, Card, Results, read_card, read_csv, read_table
from pondering.results.tables import REPLICA

PREDICTIONS = ("mixture", "sampled", "expected")
STATUS = ("finished", "running", "diverged")
MOST = 1e300  # an infinite number is none
NUMBERS = {
    "setting": (0.0, MOST),
    "seed": (0.0, 2.0**53),  # from here on a float skips whole numbers
    "difficulty": (-MOST, MOST),
    "examples": (1.0, MOST),
    "error": (0.0, MOST),
    "loss": (0.0, MOST),
    "ponder_time": (1.0, MOST),
    "ponder_sd": (0.0, MOST),
    "remainder": (0.0, 1.0),
}
"""Where each number lies; an error that is a share of examples lies in 0 to 1."""
WHOLE = ("seed", "examples")
MAY_BE_BLANK = ("loss", "ponder_time", "ponder_sd", "remainder")
KEY = [*REPLICA, "split", "difficulty", "prediction"]


def load(paths: Sequence[Path], cards: Sequence[Path], profile: str) -> Results:
    """Read and check tables, with what else their folders hold.

    Args:
        paths: tables, and folders like reports/PROFILE with tables/ and cards/ (curves/ and
            traces/, where there are some).
        cards: of tables that have none in a folder, each file named EXPERIMENT.json.
        profile: whose size the runs are taken for.

    Raises:
        UserError: a file is refused; the line names it, and line and column of a table.
    """
    results = Results(profile)
    known = {path.stem: read_card(path) for path in cards}
    for path in paths:
        files = sorted((path / "tables").glob("*.csv")) if path.is_dir() else [path]
        if not files:
            raise UserError(f"{path}: no tables in it (tables/EXPERIMENT.csv)")
        known |= {file.stem: read_card(file) for file in sorted(path.glob("cards/*.json"))}
        for file in files:
            rows = read_csv(file, TABLE_COLUMNS, str)
            if not len(rows):
                raise UserError(f"{file}: no rows")
            name = file.stem if path.is_dir() else str(rows["experiment"].iloc[0])
            if name in results.tables:
                raise UserError(f"{file}: a second table of {name!r}")
            check(file, rows, name, known.get(name))
            results.tables[name] = read_table(file)
        if path.is_dir():
            part = Results.read(path, profile)
            results.curves.update(part.curves)
            results.traces.update(part.traces)
    results.cards.update(known)
    return results


def check(path: Path, rows: pd.DataFrame, experiment: str, card: Card | None) -> None:
    """Refuse a table of an experiment, its cells as words, that the measures would misread.

    Raises:
        UserError: one line with file, line and column.
    """
    if card is None:
        raise UserError(
            f"{path}: no data card of {experiment!r}: give one by --card {experiment}.json, as "
            "docs/library.md says"
        )

    def refuse(column: str, wrong: pd.Series, why: str) -> None:
        if wrong.any():
            value = "a blank" if pd.isna(first := rows[column][wrong].iloc[0]) else repr(first)
            line = _line(wrong)
            raise UserError(f"{path}: column {column!r}, line {line}: {value} is {why}")

    known = {"experiment": [experiment], "prediction": PREDICTIONS, "split": [*card.splits]}
    for column, words in (known | {"status": STATUS}).items():
        refuse(column, ~rows[column].isin(words), f"not one of {', '.join(words)}")
    unknown = ~rows["mechanism"].map(lambda name: read_variant(str(name))[0] in MECHANISMS)
    refuse("mechanism", unknown, f"unknown; allowed: {', '.join(MECHANISMS)}")
    numbers = rows.assign(**{each: pd.to_numeric(rows[each], errors="coerce") for each in NUMBERS})
    for column, (low, high) in NUMBERS.items():
        most = 1.0 if column == "error" and card.is_share else high
        right = numbers[column].between(low, most)
        right &= (numbers[column] % 1 == 0) | (column not in WHOLE)
        right |= rows[column].isna() & (column in MAY_BE_BLANK)
        kind = "whole number" if column in WHOLE else "number"
        refuse(column, ~right, f"no {kind} from {low:g} to {most:g}")
    blank = rows["ponder_time"].isna() & (rows["status"] != "diverged")
    refuse("ponder_time", blank, "for a network that diverged")
    key = numbers[KEY]
    if (twice := key.duplicated()).any():
        same = (key == key[twice].iloc[0]).all(axis=1)
        raise UserError(
            f"{path}: columns {', '.join(KEY)}, line {_line(twice)}: the same as in line "
            f"{_line(same)}"
        )
    _check_difficulties(path, key)


def _check_difficulties(path: Path, rows: pd.DataFrame) -> None:
    """Refuse a table in which a network of a split lacks a difficulty that another one has."""
    for split, part in rows.groupby("split", sort=False):
        levels = set(part["difficulty"])
        for replica, network_rows in part.groupby([*REPLICA, "prediction"], sort=False):
            if lacking := sorted(levels - set(network_rows["difficulty"])):
                line, name = int(network_rows.index[0]) + 2, Replica.of_row(*replica[:3]).text()
                raise UserError(
                    f"{path}: column 'difficulty', line {line}: {name} has no row of difficulty "
                    f"{lacking[0]:g} in split {str(split)!r}, where others have one"
                )


def _line(places: pd.Series) -> int:
    """The line of a file in which the first of these rows stands, below its heading."""
    return int(places.to_numpy().argmax()) + 2
