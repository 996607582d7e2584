"""What a caption must add where mechanisms were not trained equally long."""

from __future__ import annotations

from collections.abc import Sequence

from pondering.params.mechanisms import MECHANISMS
from pondering.report.figures.style import count
from pondering.results.results import Results

TRAINED = {name: f"with {each.title}" for name, each in MECHANISMS.items()} | {
    "repeat": "for the plain network and fixed repeats"
}


def unequal_training(
    results: Results,
    experiments: Sequence[str],
    mechanisms: Sequence[str] = ("repeat", "act"),
    *,
    across: bool = False,
) -> str:
    """How many updates each mechanism was trained for, where they differ.

    Args:
        results: the results of one profile.
        experiments, mechanisms: those of a figure.
        across: whether the figure compares experiments too, not mechanisms alone.

    Returns:
        A sentence; empty where all were trained equally long. The longest training of each
        mechanism at any setting counts, for single seeds may have stopped early or diverged.
    """
    updates = {
        name: _updates(results, name, mechanisms) for name in experiments if name in results.curves
    }
    differ = [name for name, each in updates.items() if len(set(each.values())) > 1]
    if across and len({value for each in updates.values() for value in each.values()}) > 1:
        differ = list(updates)
    parts = []
    for name in differ:
        told = ", ".join(f"{value:,} {TRAINED[each]}" for each, value in updates[name].items())
        parts.append(f"{name.replace('_', ' ')} {told}" if len(experiments) > 1 else told)
    return f"Not trained equally long here; updates, at most: {'; '.join(parts)}." if parts else ""


def updates_in_short(results: Results, experiment: str) -> str:
    """The updates of mechanisms that were trained shorter than others, for above a panel.

    Returns:
        As "updates: PonderNet 10k; others 120k"; empty where all were trained equally long.
    """
    if experiment not in results.curves:
        return ""
    updates = _updates(results, experiment, tuple(MECHANISMS))
    most = max(updates.values(), default=0)
    shorter = [
        f"{MECHANISMS[name].title} {count(value)}"
        for name, value in updates.items()
        if value < most
    ]
    return f"updates: {', '.join(shorter)}; others {count(most)}" if shorter else ""


def _updates(results: Results, experiment: str, mechanisms: Sequence[str]) -> dict[str, int]:
    """The longest training of each mechanism that has curves."""
    ends = results.curves[experiment].groupby("mechanism")["update"].max()
    return {each: int(ends[each]) for each in mechanisms if each in ends}
