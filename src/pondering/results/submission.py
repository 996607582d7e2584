"""Tables of anyone's, checked whole; docs/library.md says what they must hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from sys import float_info

import pandas as pd

from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import Replica, read_variant
from pondering.project.errors import UserError
from pondering.results.results import Card, Results, line_of, read_card, read_table
from pondering.results.tables import REPLICA

WORDS = {
    "prediction": ("mixture", "sampled", "expected"),
    "status": ("finished", "running", "diverged"),
}
MOST = float_info.max  # an infinite number is none
SHARE = (0.0, 1.0)
RANGES = {
    "setting": (0.0, MOST),
    "difficulty": (-MOST, MOST),
    "examples": (1.0, MOST),
    "seen": SHARE,
    "error": (0.0, MOST),
    "error_seen": (0.0, MOST),
    "error_unseen": (0.0, MOST),
    "loss": (0.0, MOST),
    "ponder_time": (1.0, MOST),
    "ponder_sd": (0.0, MOST),
    "remainder": SHARE,
}
"""Where each number lies; errors that are shares of examples lie in 0 to 1."""
KEY = [*REPLICA, "split", "difficulty", "prediction"]


def load(paths: Sequence[Path], cards: Sequence[Path], profile: str) -> Results:
    """Read and check tables, with what else their folders hold.

    Args:
        paths: tables, and folders like reports/PROFILE with tables/ and cards/ (curves/ and
            traces/, where there are some).
        cards: of tables that have none in a folder, each file named EXPERIMENT.json.
        profile: whose size the runs are taken for.

    Raises:
        UserError: a file is refused; the line names it, and row and column of a table.
    """
    results = Results(profile)
    known = {path.stem: read_card(path) for path in cards}
    for path in paths:
        if path.is_dir():
            part, files = _folder(path, profile)
        else:
            rows = read_table(path)
            name = str(rows["experiment"].iloc[0]) if len(rows) else ""
            part, files = Results(profile, tables={name: rows}), {name: path}
        part = replace(part, cards=known | part.cards)
        for name, file in files.items():
            if name in results.tables:
                raise UserError(f"{file}: a second table of {name!r}")
            check(file, part.tables.get(name), name, part.cards.get(name))
        kinds = ("tables", "curves", "traces", "cards")
        results = replace(
            results, **{kind: getattr(results, kind) | getattr(part, kind) for kind in kinds}
        )
    return results


def _folder(path: Path, profile: str) -> tuple[Results, dict[str, Path]]:
    files = {file.stem: file for file in sorted((path / "tables").glob("*.csv"))}
    if not files:
        raise UserError(f"{path}: no tables in it (tables/EXPERIMENT.csv)")
    return Results.read(path, profile), files


def check(path: Path, rows: pd.DataFrame | None, experiment: str, card: Card | None) -> None:
    """Refuse a table that the measures would misread.

    Args:
        path: its file, for the message.
        rows: what `read_table` made of it.
        experiment: what it is a table of.
        card: of its data.

    Raises:
        UserError: one line with file, row and column.
    """
    if rows is None or not len(rows):
        raise UserError(f"{path}: no rows")
    if card is None:
        raise UserError(
            f"{path}: no data card of {experiment!r}: give one by --card {experiment}.json, as "
            "docs/library.md says"
        )
    _refuse(path, rows, "experiment", rows["experiment"] != experiment, f"not {experiment!r}")
    unknown = ~rows["mechanism"].map(lambda name: read_variant(name)[0] in MECHANISMS)
    _refuse(path, rows, "mechanism", unknown, f"unknown; allowed: {', '.join(MECHANISMS)}")
    for column, words in (WORDS | {"split": tuple(card.splits)}).items():
        _refuse(path, rows, column, ~rows[column].isin(words), f"not one of {', '.join(words)}")
    for column, (low, high) in RANGES.items():
        if column.startswith("error") and card.is_share:
            high = 1.0
        said = f"from {low:g}" if high == MOST else f"{low:g} to {high:g}"
        wrong = rows[column].notna() & ~rows[column].between(low, high)
        _refuse(path, rows, column, wrong, f"not {said}" if low > -MOST else "no finite number")
    _refuse(path, rows, "examples", rows["examples"] % 1 != 0, "not a whole number")
    _refuse(path, rows, "error", rows["error"].isna(), "missing")
    blank = rows["ponder_time"].isna() & (rows["status"] != "diverged")
    _refuse(path, rows, "ponder_time", blank, "missing, though the network has not diverged")
    twice = rows.duplicated(KEY)
    if twice.any():
        line = line_of(twice)
        same = (rows[KEY] == rows[KEY].iloc[line - 2]).all(axis=1)
        raise UserError(
            f"{path}: columns {', '.join(KEY)}, line {line}: the same as in line {line_of(same)}"
        )
    _whole(path, rows)


def _whole(path: Path, rows: pd.DataFrame) -> None:
    """Every network of a split is tested at the same difficulties."""
    for split, part in rows.groupby("split", sort=False):
        levels = set(part["difficulty"])
        for replica, own in part.groupby([*REPLICA, "prediction"], sort=False):
            if lacking := sorted(levels - set(own["difficulty"])):
                line, name = int(own.index[0]) + 2, Replica.of_row(*replica[:3]).text()
                raise UserError(
                    f"{path}: column 'difficulty', line {line}: {name} has no row of difficulty "
                    f"{lacking[0]:g} in split {str(split)!r}, where others have one"
                )


def _refuse(path: Path, rows: pd.DataFrame, column: str, wrong: pd.Series, why: str) -> None:
    if wrong.any():
        value = rows[column][wrong].iloc[0]
        text = f"{value:g}" if isinstance(value, float) else repr(value)
        said = why if pd.isna(value) else f"{text} is {why}"
        raise UserError(f"{path}: column {column!r}, line {line_of(wrong)}: {said}")
