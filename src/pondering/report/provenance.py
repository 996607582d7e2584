"""The page that says which commit, device and time each run came from.

All of it varies from one making of the same numbers to the next, so it stays off the other pages.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pondering.errors import UserError
from pondering.progress import duration


@dataclass(frozen=True)
class Origin:
    """Where one train stage ran; `facts` are (what, value) lines, empty if nothing was recorded."""

    run: str
    facts: tuple[tuple[str, str], ...]


NAMES = {
    "commit": "Commit",
    "params_hash": "Parameters",
    "data_hash": "Data",
    "device": "Device",
    "versions": "Versions",
    "wall_seconds": "Time",
    "updates": "Updates",
    "command": "Command",
}


def origins(folder: Path, runs: Sequence[str]) -> list[Origin]:
    """What is recorded of each run.

    Args:
        folder: holds EXPERIMENT-MECHANISM.json.
        runs: the train stages of the profile, as "experiment-mechanism".

    Returns:
        One entry per run, in order; recorded runs that are not in `runs` follow.

    Raises:
        UserError: a file is not a JSON object.
    """
    recorded = {path.stem: path for path in sorted(folder.glob("*.json"))}
    return [
        Origin(run, _facts(recorded[run]) if run in recorded else ())
        for run in [*runs, *(name for name in recorded if name not in runs)]
    ]


def _facts(path: Path) -> tuple[tuple[str, str], ...]:
    try:
        return _said(path, json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, RecursionError, OverflowError) as problem:
        raise UserError(f"{path}: not readable as JSON ({problem})") from None


def _said(path: Path, content: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(content, dict):
        raise UserError(f"{path}: must hold an object, not {type(content).__name__}")
    ordered = [key for key in NAMES if key in content]
    ordered += [key for key in content if key not in NAMES]
    return tuple(
        (NAMES.get(key, key.replace("_", " ").capitalize()), _text(key, content[key]))
        for key in ordered
    )


def _text(key: str, value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text('', each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(_text("", each) for each in value)
    if key == "wall_seconds" and isinstance(value, int | float):
        return duration(float(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)
