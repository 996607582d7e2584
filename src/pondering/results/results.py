"""The result files of one profile, read once for the figures, the claims and the report."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from pondering.project.documents import read_text
from pondering.project.errors import UserError
from pondering.project.paths import PUBLISHED, Layout, to_run


class Columns(NamedTuple):
    """The columns of a kind of table: text, numbers, and numbers that earlier tables lack."""

    text: tuple[str, ...]
    numbers: tuple[str, ...]
    later: tuple[str, ...] = ()


SEEN = ("seen", "error_seen", "error_unseen")
READINGS = ("own", "single", "depth", "refitted")
LONGER = {"twice": 2, "fourfold": 4}  # readings at so many times the depth N
TABLE = Columns(
    ("experiment", "mechanism", "split", "prediction", "status"),
    ("setting", "seed", "difficulty", "examples", "error", "loss", "ponder_time", "ponder_sd",
     "remainder"),
    SEEN,
)  # fmt: skip
EXITS = Columns(
    ("experiment", "mechanism", "split", "rule", "status"),
    ("setting", "seed", "threshold", "ponder_time", "error", "examples"),
    ("trend",),
)
READOUT = Columns(
    ("experiment", "mechanism", "split", "status"),
    ("setting", "seed", *READINGS, "examples"),
    ("mean_halting", *LONGER, "ponder_time", "ponder_sd", "max_steps"),
)
CURVES = Columns(
    ("experiment", "mechanism"),
    ("setting", "seed", "update", "loss", "error", "ponder_time", "remainder", "computed_steps"),
)
MAY_BE_BLANK = {
    "loss", "error", "ponder_time", "ponder_sd", "remainder", "computed_steps", "threshold",
    "single", "refitted", *TABLE.later, *EXITS.later, *READOUT.later,
}  # fmt: skip
FLOAT_SKIPS = 2**53  # from here on a float skips whole numbers
KINDS = {"str": str, "bool": bool, "float": float, "dict": dict}


@dataclass(frozen=True)
class Card:
    """What a data card says of an experiment: all that figures and pages know of its task.

    Args:
        what: the data in a few words; source: where they come from.
        stand_in: whether they stand in for those of the paper.
        title, question: what the pages call it, and what it asks.
        unit: of an error.
        worst_error: of a replica that diverged; 1 where an error is a share of examples.
        splits: split -> what it tests on.
        difficulty: split -> what its difficulties count.
    """

    what: str
    stand_in: bool
    title: str
    question: str
    unit: str
    worst_error: float
    splits: dict[str, str]
    difficulty: dict[str, str]
    source: str

    @property
    def is_share(self) -> bool:
        """Whether an error is a share of examples, and not for example bits."""
        return self.worst_error == 1

    @property
    def measure(self) -> str:
        """What is small where a network does well: "error", or the unit."""
        return "error" if self.is_share else self.unit

    @property
    def in_training(self) -> str:
        """The label of an axis of errors in training."""
        return "error rate in training" if self.is_share else f"{self.unit}\nin training"


@dataclass(frozen=True)
class Results:
    """What one profile has produced so far; experiments without files are absent.

    Args:
        profile: quick, reduced or paper.
        tables: experiment -> tidy evaluation rows.
        curves: experiment -> training curves of all its mechanisms.
        traces: experiment -> single sequences, texts and images step by step; of kind "mixed",
            many sequences of mixed difficulty with their steps alone.
        cards: experiment -> data card.
        exits: experiment -> error and steps by every exit rule.
        readouts: experiment -> published errors by four readouts, as of v1.
    """

    profile: str
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    curves: dict[str, pd.DataFrame] = field(default_factory=dict)
    traces: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    cards: dict[str, Card] = field(default_factory=dict)
    exits: dict[str, pd.DataFrame] = field(default_factory=dict)
    readouts: dict[str, pd.DataFrame] = field(default_factory=dict)

    @classmethod
    def load(cls, reports_folder: Path, profile: str) -> Results:
        """Read what the stages have written for a profile.

        Args:
            reports_folder: holds PROFILE/tables, curves, traces, cards, exits and frozen.
            profile: quick, reduced or paper.

        Returns:
            The results; a file that is missing, or holds no row yet, leaves its experiment absent.

        Raises:
            UserError: a file cannot be parsed, lacks a column or holds text where a number belongs;
                an experiment has no card.
        """
        folder = Path(reports_folder) / profile
        results = cls.read(folder, profile)
        for name in (*results.tables, *results.curves):
            if name not in results.cards:
                todo = to_run("datasets", profile, name)
                raise UserError(f"{folder / 'cards' / name}.json: no such file; {todo}")
        return results

    @classmethod
    def read(cls, folder: Path, profile: str) -> Results:
        """Read a folder like reports/PROFILE, whoever has filled it; cards may be missing.

        Raises:
            UserError: as of `load`.
        """

        def files(pattern: str) -> list[Path]:
            return sorted(folder.glob(pattern))

        parts: dict[str, list[pd.DataFrame]] = {}
        for folder_of_one in files("curves/*"):
            own = _tables(sorted(folder_of_one.glob("*.csv")), CURVES)
            parts |= {folder_of_one.name: list(own.values())} if own else {}
        return cls(
            profile,
            _tables(files("tables/*.csv"), TABLE),
            {name: pd.concat(rows, ignore_index=True) for name, rows in parts.items()},
            {path.stem: _read_json(path)["traces"] for path in files("traces/*.json")},
            {path.stem: read_card(path) for path in files("cards/*.json")},
            _tables(files("exits/*.csv"), EXITS),
            readouts_of(folder),
        )

    @classmethod
    def of(cls, layout: Layout) -> Results:
        """A profile's results, with the readouts that are frozen where results are published.

        Raises:
            UserError: as of `load`.
        """
        results = cls.load(layout.report.parent, layout.profile)
        published = Layout(layout.root, layout.profile, PUBLISHED).report
        return replace(results, readouts=readouts_of(published))

    def title(self, experiment: str) -> str:
        """The heading of an experiment; its own name where it has no card."""
        return self.cards[experiment].title if experiment in self.cards else experiment

    def stand_ins(self, experiments: Sequence[str]) -> list[str]:
        """What stands in for the real data behind these experiments, each said once."""
        texts = [
            self.cards[name].what
            for name in experiments
            if name in self.cards and self.cards[name].stand_in
        ]
        return list(dict.fromkeys(texts))


def readouts_of(folder: Path) -> dict[str, pd.DataFrame]:
    """The audits of the readout below a results folder, by experiment; v1 wrote them."""
    found = _tables(sorted(folder.glob("frozen/*-readout.csv")), READOUT)
    return {name.removesuffix("-readout"): rows for name, rows in found.items()}


def _tables(paths: list[Path], columns: Columns) -> dict[str, pd.DataFrame]:
    """By the names of their files; one that holds no row yet is left out."""
    read = {path.stem: _read_csv(path, columns) for path in paths}
    return {name: rows for name, rows in read.items() if len(rows)}


def read_table(path: Path) -> pd.DataFrame:
    """The tidy evaluation rows of a file.

    Raises:
        UserError: it cannot be parsed, lacks a column or a value, or holds text where a number
            belongs.
    """
    return _read_csv(path, TABLE)


def line_of(places: pd.Series) -> int:
    """The line of a file in which the first of these places lies; the first is its header."""
    return int(places.to_numpy().argmax()) + 2


def _read_csv(path: Path, columns: Columns) -> pd.DataFrame:
    """A table; one of its later columns that it lacks is left blank."""

    def refuse(name: str, wrong: pd.Series, what: str) -> UserError:
        return UserError(f"{path}: column {name!r}, line {line_of(wrong)}: {what}")

    try:
        rows = pd.read_csv(io.StringIO(read_text(path)), dtype=dict.fromkeys(columns.text, str))
    except (ValueError, OverflowError) as problem:  # pandas' own errors are ValueErrors
        reason = " ".join(str(problem).split())
        raise UserError(f"{path}: not a readable CSV table ({reason})") from problem
    for name in set(columns.later).difference(rows.columns):
        rows[name] = float("nan")
    numbers = (*columns.numbers, *columns.later)
    for name in (*columns.text, *numbers):
        if name not in rows.columns:
            raise UserError(f"{path}: column {name!r} is missing; it has {', '.join(rows.columns)}")
    for name in (*columns.text, *numbers):
        if name not in MAY_BE_BLANK and rows[name].isna().any():
            raise refuse(name, rows[name].isna(), "a value is missing")
    for name in numbers:
        try:
            values = pd.to_numeric(rows[name], errors="coerce")
        except OverflowError:
            raise UserError(f"{path}: column {name!r}: a number is too large") from None
        wrong = values.isna() & rows[name].notna()
        if wrong.any():
            raise refuse(name, wrong, f"{rows[name][wrong].iloc[0]!r} is not a number")
        rows[name] = values.astype(float)
    wrong = ~(rows["seed"].abs() < FLOAT_SKIPS) | (rows["seed"] % 1 != 0)
    if wrong.any():
        raise refuse("seed", wrong, f"{rows['seed'][wrong].iloc[0]:g} is not a whole number")
    rows["seed"] = rows["seed"].astype(int)
    return rows


def _read_json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as problem:
        raise UserError(f"{path}: not readable as JSON ({problem})") from problem


def read_card(path: Path) -> Card:
    """A data card.

    Raises:
        UserError: it is no JSON, or lacks a key.
    """
    content = _read_json(path)
    for each in fields(Card):
        value = content.get(each.name) if isinstance(content, dict) else None
        kind = KINDS[str(each.type).partition("[")[0]]
        if not isinstance(value, kind):
            raise UserError(f"{path}: key {each.name!r} is missing or not a {kind.__name__}")
    return Card(**{each.name: content[each.name] for each in fields(Card)})
