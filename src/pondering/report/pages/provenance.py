"""The page that says which commit, device and time each run and each evaluation came from.

All of it varies from one making of the same numbers to the next, so it stays off the other pages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pondering.project.errors import UserError
from pondering.project.paths import is_training
from pondering.project.progress import duration
from pondering.report.pages import names


@dataclass(frozen=True)
class StageRecord:
    """Where one stage ran; `facts` are (what, value) lines, empty if nothing was recorded.

    `run` is "experiment-mechanism" of a train stage, "experiment" of an evaluation; `experiment` is
    the title.
    """

    run: str
    experiment: str
    facts: tuple[tuple[str, str], ...]

    @property
    def stage(self) -> str:
        """The stage's name in dvc.yaml."""
        return "train" if is_training(self.run) else "evaluate"

    @property
    def part(self) -> str:
        """What of the experiment it is: a mechanism's training or the evaluation."""
        if not is_training(self.run):
            return "evaluation"
        mechanism = self.run.rsplit("-", 1)[1]
        return names.TITLES.get(mechanism, mechanism)

    @property
    def id(self) -> str:
        """What a page calls it; an experiment may be called as anything else on the page."""
        return self.run if is_training(self.run) else f"{self.run}-evaluation"


NAMES = {
    "commit": "Commit",
    "params_hash": "Parameters",
    "data_hash": "Data",
    "trained_hash": "Trained",
    "device": "Device",
    "versions": "Versions",
    "wall_seconds": "Time",
    "updates": "Updates",
    "command": "Command",
    "replicas": "Replicas",
    "earlier": "Earlier",
}
"""What everybody asks for, in the order of printing."""

MORE = {
    "threads": "Threads",
    "key": "Checkpoint",
    "lock_hash": "dvc.lock",
    "config": "Settings",
}
"""What follows; anything else comes last, by name."""


def origins(folder: Path, runs: Sequence[str], title_of: Callable[[str], str]) -> list[StageRecord]:
    """What is recorded of each run.

    Args:
        folder: holds EXPERIMENT-MECHANISM.json of trainings, EXPERIMENT.json of evaluations.
        runs: the stages that are asked for, as `StageRecord.run`.
        title_of: experiment -> its title.

    Returns:
        One entry per run, in order; recorded runs that are not in `runs` follow.

    Raises:
        UserError: a file is not a JSON object.
    """
    recorded = {path.stem: path for path in sorted(folder.glob("*.json"))}
    return [
        StageRecord(
            run, title_of(run.rsplit("-", 1)[0]), _facts(recorded[run]) if run in recorded else ()
        )
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
    known = NAMES | MORE
    ordered = [key for key in known if key in content]
    ordered += sorted(key for key in content if key not in known)
    return tuple(
        (known.get(key, key.replace("_", " ").capitalize()), text)
        for key in ordered
        for text in _texts(key, content[key])
    )


def _texts(key: str, value: Any) -> list[str]:
    """A line, but for the trainings before the last one, whose replicas were kept: one of each."""
    if key != "earlier" or not all(isinstance(each, dict) for each in value):
        return [_text(key, value)]
    said = ("replicas", "commit", "device", "wall_seconds", "updates")
    return [
        ", ".join(
            f"{name.replace('_', ' ')} {_text(name, each[name])}" for name in said if name in each
        )
        for each in value
    ]


def _text(key: str, value: Any) -> str:
    if key == "config" and isinstance(value, dict):
        return _settings(value)
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text('', each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ("; " if key == "replicas" else ", ").join(_text("", each) for each in value)
    if key == "wall_seconds" and isinstance(value, int | float):
        return duration(float(value))
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _settings(config: dict[str, Any]) -> str:
    """A line for each block of the configuration, without what was left open."""
    lines = []
    for block, values in config.items():
        if isinstance(values, dict):
            values = {key: each for key, each in values.items() if each not in (None, [], {})}
        lines.append(f"{block.replace('_', ' ')}: {_setting(values)}")
    return "\n".join(lines)


def _setting(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(
            f"{key.replace('_', ' ')} {_setting(each)}"
            for key, each in value.items()
            if each is not None
        )
    if isinstance(value, list | tuple):
        inner = " and ".join if len(value) == 2 else ", ".join
        return inner(map(_setting, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _text("", value)
