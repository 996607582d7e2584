"""The result files of one profile, read once for the figures, the claims and the report."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import TypeAdapter, ValidationError

from pondering.project.documents import read_text
from pondering.project.errors import UserError
from pondering.project.paths import PUBLISHED, Layout

WORDS = ("experiment", "mechanism", "split", "prediction", "rule", "status")
TABLE_COLUMNS = (
    "experiment", "mechanism", "setting", "seed", "split", "difficulty", "prediction", "examples",
    "error", "loss", "ponder_time", "ponder_sd", "remainder", "status",
)  # fmt: skip
EXIT_COLUMNS = (
    "experiment", "mechanism", "setting", "seed", "split", "rule", "threshold", "ponder_time",
    "trend", "error", "examples", "status",
)  # fmt: skip
READOUT_COLUMNS = ("experiment", "mechanism", "setting", "seed", "split", "own", "single", "depth")
CURVE_COLUMNS = (
    "experiment", "mechanism", "setting", "seed", "update", "loss", "error", "ponder_time",
    "remainder", "computed_steps",
)  # fmt: skip
"""The columns of each kind of table. Some evaluation tables have one more, `seen`."""


@dataclass(frozen=True)
class Card:
    """What a data card says of an experiment: all that figures and pages know of its task."""

    what: str  # the data in a few words
    stand_in: bool  # whether they stand in for those of the paper
    title: str  # what the pages call it
    question: str  # what it asks
    unit: str  # of an error
    worst_error: float  # of a replica that diverged; 1 where an error is a share of examples
    splits: dict[str, str]  # split -> what it tests on
    difficulty: dict[str, str]  # split -> what its difficulties count
    source: str  # where the data come from

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
    """What one profile has produced so far, by experiment; those without files are absent.

    Traces are single sequences, texts and images step by step; of kind "mixed", sequences whose
    vectors differ in difficulty.
    """

    profile: str  # quick, reduced or paper
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)  # tidy evaluation rows
    curves: dict[str, pd.DataFrame] = field(default_factory=dict)  # of all mechanisms
    traces: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    cards: dict[str, Card] = field(default_factory=dict)
    exits: dict[str, pd.DataFrame] = field(default_factory=dict)  # error, steps by every exit rule
    readouts: dict[str, pd.DataFrame] = field(default_factory=dict)  # by four readouts, as of v1

    @classmethod
    def read(cls, folder: Path, profile: str) -> Results:
        """Read a folder like reports/PROFILE, whoever has filled it.

        Returns:
            The results; a file that is missing, or holds no row yet, leaves its experiment absent.

        Raises:
            UserError: a file cannot be parsed, lacks a column or holds text where a number belongs.
        """

        curves = {
            path.name: pd.concat(tables.values(), ignore_index=True)
            for path in sorted(folder.glob("curves/*"))
            if (tables := _tables(path.glob("*.csv"), CURVE_COLUMNS))
        }
        return cls(
            profile,
            _tables(folder.glob("tables/*.csv"), TABLE_COLUMNS),
            curves,
            {path.stem: read_traces(path) for path in sorted(folder.glob("traces/*.json"))},
            {path.stem: read_card(path) for path in sorted(folder.glob("cards/*.json"))},
            _tables(folder.glob("exits/*.csv"), EXIT_COLUMNS),
            _readouts(folder),
        )

    @classmethod
    def of(cls, layout: Layout) -> Results:
        """A profile's results, with the readouts that are frozen where results are published."""
        published = Layout(layout.root, layout.profile, PUBLISHED).report
        return replace(cls.read(layout.report, layout.profile), readouts=_readouts(published))

    def filtered(self, keep: Callable[[str, pd.DataFrame], pd.DataFrame]) -> Results:
        """The same with the rows of every experiment's tables that are to be kept.

        Without a row the experiment is absent.
        """
        tables, curves, exits, readouts = (
            _with_rows({name: keep(name, rows) for name, rows in tables.items()})
            for tables in (self.tables, self.curves, self.exits, self.readouts)
        )
        return replace(self, tables=tables, curves=curves, exits=exits, readouts=readouts)

    def curves_of(self, experiment: str) -> pd.DataFrame:
        """The training curves of an experiment; no rows where it has none."""
        return self.curves.get(experiment, pd.DataFrame(columns=list(CURVE_COLUMNS)))

    def act_traces(self, experiment: str, kind: str) -> dict[int, list[dict[str, Any]]]:
        """The traces of ACT of one kind (sequence, text, mixed), by seed."""
        found: dict[int, list[dict[str, Any]]] = {}
        for trace in self.traces.get(experiment, []):
            if (trace["mechanism"], trace["kind"]) == ("act", kind) and trace["steps"]:
                found.setdefault(int(trace["seed"]), []).append(trace)
        return found

    def title(self, experiment: str) -> str:
        """The heading of an experiment; its own name where it has no card."""
        return self.cards[experiment].title if experiment in self.cards else experiment

    def stand_ins(self, experiments: Sequence[str]) -> list[str]:
        """What stands in for the real data behind these experiments, each said once."""
        known = [self.cards[name] for name in experiments if name in self.cards]
        return list(dict.fromkeys(card.what for card in known if card.stand_in))


def _readouts(folder: Path) -> dict[str, pd.DataFrame]:
    """The audits of the readout below a results folder, by experiment; v1 wrote them."""
    found = _tables(folder.glob("frozen/*-readout.csv"), READOUT_COLUMNS)
    return {name.removesuffix("-readout"): rows for name, rows in found.items()}


def _tables(paths: Iterable[Path], columns: Sequence[str]) -> dict[str, pd.DataFrame]:
    """By the names of their files, in order; one that holds no row yet is left out."""
    return _with_rows({path.stem: read_table(path, columns) for path in sorted(paths)})


def _with_rows(tables: dict[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    return {name: rows for name, rows in tables.items() if len(rows)}


def read_table(path: Path, columns: Sequence[str] = TABLE_COLUMNS) -> pd.DataFrame:
    """The rows of a file; further columns stay as pandas reads them.

    Raises:
        UserError: as of `read_csv`; or a line has no seed, as git's merge marks.
    """
    numbers = dict.fromkeys(set(columns).difference(WORDS, ["seed"]), float)
    rows = read_csv(path, columns, dict.fromkeys(WORDS, str) | numbers)
    if (lacking := rows["seed"].isna()).any():
        raise UserError(f"{path}: line {lacking.argmax() + 2}: no row of this table")
    return rows.astype({"seed": int})


def read_csv(path: Path, columns: Sequence[str], types: Any) -> pd.DataFrame:
    """A file by pandas, with at least these columns.

    Args:
        types: of columns by their names, or one of all.

    Raises:
        UserError: it cannot be parsed with these types, or lacks a column.
    """
    try:
        rows = pd.read_csv(path, dtype=types)
    except (OSError, ValueError, OverflowError) as problem:  # pandas' own errors are ValueErrors
        raise UserError(f"{path}: not a readable CSV table ({problem})") from None
    if lacking := [name for name in columns if name not in rows]:
        raise UserError(f"{path}: column {lacking[0]!r} is missing; it has {', '.join(rows)}")
    return rows


def read_traces(path: Path) -> list[dict[str, Any]]:
    """Single examples, each with a list of its steps; the file has a list for each value of steps.

    Raises:
        UserError: it is no JSON, or not of this form.
    """
    try:
        found: list[dict[str, Any]] = json.loads(read_text(path))["traces"]
        for each in found:
            steps = zip(*each["steps"].values(), strict=True)
            each["steps"] = [dict(zip(each["steps"], step, strict=True)) for step in steps]
    except (ValueError, LookupError, TypeError, AttributeError) as problem:  # a user's file
        raise UserError(f"{path}: no traces ({problem})") from None
    return found


def read_card(path: Path) -> Card:
    """A data card.

    Raises:
        UserError: it is no JSON, or lacks a key.
    """
    try:
        return _CARD.validate_json(read_text(path), strict=True)
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise UserError(f"{path}: {where}: {first['msg']}") from None


_CARD = TypeAdapter(Card)
