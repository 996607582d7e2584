"""Where a number came from: a line for each training and evaluation of an experiment."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from pondering.project.paths import Layout
from pondering.project.progress import duration


def origins(layout: Layout, experiment: str, mechanisms: Sequence[str]) -> dict[str, str]:
    """Commit, command, device and time of the trainings and of the evaluation.

    Args:
        layout: where the records lie.
        experiment: whose runs.
        mechanisms: those that were trained.

    Returns:
        A mechanism, or "evaluation" -> a line, for the runs that left a record.
    """
    files = {each: layout.provenance(experiment, each) for each in mechanisms}
    files["evaluation"] = layout.provenance(experiment)
    return {run: _line(path) for run, path in files.items() if path.is_file()}


def _line(path: Path) -> str:
    record = json.loads(path.read_text(encoding="utf-8"))
    facts = [str(record[key]) for key in ("command", "device") if key in record]
    if "commit" in record:
        commit, _, changed = record["commit"].partition("+")
        facts.insert(0, f"commit {commit[:10]}{' with changes' if changed else ''}")
    if "wall_seconds" in record:
        facts.append(duration(float(record["wall_seconds"])))
    return ", ".join(facts)
