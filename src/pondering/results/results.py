"""The result files of one profile, read once for the figures, the claims and the report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from pondering.project.errors import UserError

TABLE_TEXT = ("experiment", "mechanism", "split", "prediction", "status")
TABLE_NUMBERS = (
    "setting", "seed", "difficulty", "examples", "error", "loss", "ponder_time", "ponder_sd",
    "remainder",
)  # fmt: skip
CURVE_TEXT = ("experiment", "mechanism")
CURVE_NUMBERS = (
    "setting", "seed", "update", "loss", "error", "ponder_time", "remainder", "active_share",
    "computed_steps",
)  # fmt: skip
MAY_BE_BLANK = frozenset(
    ("loss", "error", "ponder_time", "ponder_sd", "remainder", "active_share", "computed_steps")
)
FLOAT_SKIPS = 2**53  # from here on a float skips whole numbers
TRACE_KEYS = ("mechanism", "setting", "seed", "kind", "steps")


@dataclass(frozen=True)
class Results:
    """What one profile has produced so far; experiments without files are absent.

    Args:
        profile: quick, reduced or paper.
        tables: experiment -> tidy evaluation rows.
        curves: experiment -> training curves of all its mechanisms.
        traces: experiment -> single sequences, texts and images step by step; of kind "mixed",
            many sequences of mixed difficulty with their steps alone.
        cards: experiment -> data card, with at least `what` (text) and `stand_in` (bool).
    """

    profile: str
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    curves: dict[str, pd.DataFrame] = field(default_factory=dict)
    traces: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    cards: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def load(cls, reports_folder: Path, profile: str, tasks_folder: Path | None = None) -> Results:
        """Read what the stages have written for a profile.

        Args:
            reports_folder: holds PROFILE/tables, PROFILE/curves, PROFILE/traces, PROFILE/cards.
            profile: quick, reduced or paper.
            tasks_folder: where cards lie as PROFILE/EXPERIMENT.json if not with the reports.

        Returns:
            The results; a file that is missing, or holds no row yet, leaves its experiment absent.

        Raises:
            UserError: a file cannot be parsed, lacks a column or holds text where a number belongs.
        """
        folder = Path(reports_folder) / profile
        tables: dict[str, pd.DataFrame] = {}
        for path in sorted((folder / "tables").glob("*.csv")):
            rows = _read_csv(path, TABLE_TEXT, TABLE_NUMBERS)
            if len(rows):
                tables[path.stem] = rows
        parts: dict[str, list[pd.DataFrame]] = {}
        for path in sorted((folder / "curves").glob("*-*.csv")):
            rows = _read_csv(path, CURVE_TEXT, CURVE_NUMBERS)
            if len(rows):
                parts.setdefault(path.stem.rsplit("-", 1)[0], []).append(rows)
        curves = {name: pd.concat(rows, ignore_index=True) for name, rows in parts.items()}
        traces = {path.stem: _read_traces(path) for path in _json_files(folder / "traces")}
        paths = _json_files(Path(tasks_folder) / profile) if tasks_folder is not None else []
        paths += _json_files(folder / "cards")
        cards = {path.stem: _read_card(path) for path in paths}
        return cls(profile, tables, curves, traces, cards)

    def stand_ins(self, experiments: Sequence[str]) -> list[str]:
        """What stands in for the real data behind these experiments, each said once."""
        texts = [
            str(self.cards[name]["what"])
            for name in experiments
            if name in self.cards and self.cards[name]["stand_in"]
        ]
        return list(dict.fromkeys(texts))


def _json_files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"))


def _read_csv(path: Path, text: Sequence[str], numbers: Sequence[str]) -> pd.DataFrame:
    try:
        rows = pd.read_csv(path, dtype={name: str for name in text})
    except (ValueError, OverflowError) as problem:  # pandas' own errors are ValueErrors
        reason = " ".join(str(problem).split())
        raise UserError(f"{path}: not a readable CSV table ({reason})") from problem
    for name in (*text, *numbers):
        if name not in rows.columns:
            raise UserError(f"{path}: column {name!r} is missing; it has {', '.join(rows.columns)}")
    for name in (*text, *numbers):
        if name not in MAY_BE_BLANK and rows[name].isna().any():
            line = int(rows[name].isna().to_numpy().argmax()) + 2
            raise UserError(f"{path}: column {name!r}, line {line}: a value is missing")
    for name in numbers:
        try:
            values = pd.to_numeric(rows[name], errors="coerce")
        except OverflowError:
            raise UserError(f"{path}: column {name!r}: a number is too large") from None
        wrong = values.isna() & rows[name].notna()
        if wrong.any():
            value = rows[name][wrong].iloc[0]
            line = int(wrong.to_numpy().argmax()) + 2
            raise UserError(f"{path}: column {name!r}, line {line}: {value!r} is not a number")
        rows[name] = values.astype(float)
    wrong = ~(rows["seed"].abs() < FLOAT_SKIPS) | (rows["seed"] % 1 != 0)
    if wrong.any():
        line = int(wrong.to_numpy().argmax()) + 2
        value = float(rows["seed"][wrong].iloc[0])
        raise UserError(f"{path}: column 'seed', line {line}: {value:g} is not a whole number")
    rows["seed"] = rows["seed"].astype(int)
    return rows


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as problem:
        raise UserError(f"{path}: not readable as JSON ({problem})") from problem


def _read_traces(path: Path) -> list[dict[str, Any]]:
    content = _read_json(path)
    traces = content.get("traces") if isinstance(content, dict) else None
    if not isinstance(traces, list):
        raise UserError(f"{path}: key 'traces' is missing or not a list")
    for index, trace in enumerate(traces):
        for key in TRACE_KEYS:
            if not isinstance(trace, dict) or key not in trace:
                raise UserError(f"{path}: traces[{index}]: key {key!r} is missing")
    return traces


def _read_card(path: Path) -> dict[str, Any]:
    card: dict[str, Any] = _read_json(path)
    for key, kind in (("what", str), ("stand_in", bool)):
        if not isinstance(card, dict) or not isinstance(card.get(key), kind):
            raise UserError(f"{path}: key {key!r} is missing or not a {kind.__name__}")
    return card
