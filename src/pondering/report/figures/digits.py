"""Handwritten digits: accuracy and steps by angle and by class; the public notebook on MNIST."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from pondering.report.figures import style
from pondering.report.figures.shapes.methods import (
    BEST,
    COMPARED,
    TRAINED_FOR_IT,
    best_methods,
    lines_by_difficulty,
)
from pondering.report.figures.shapes.training_length import unequal_training
from pondering.results.results import Results
from pondering.results.tables import evaluated, per_seed, per_setting

NESTED = (
    {"lw": 4.8, "markersize": 8.5, "alpha": 0.45},
    {"lw": 2.7, "markersize": 5.5, "alpha": 0.75},
    {"lw": 1.1, "markersize": 3.0},
)
"""Of three lines that nearly coincide each later one is thinner, so that none hides another."""


def draw(results: Results, experiment: str, split: str) -> Figure | None:
    """Accuracy above and ponder steps below, for each method at its best setting.

    Args:
        results: the results of one profile.
        experiment: whose table.
        split: range, angle or test.

    Returns:
        The figure, axes linear: lines are means over seeds, bands one standard error either side;
        classes have no order, so by class these are points and whiskers. None without rows of the
        split.
    """
    table = results.tables[experiment]
    card = results.cards[experiment]
    rows = evaluated(table, split=split)
    if rows.empty:
        return None
    methods = best_methods(per_seed(choosing_rows(table)), COMPARED)
    if not methods:
        return None
    figure, (upper, lower) = style.new_figure([2.2, 2.0], sharex=True)
    handles = []
    for index, method in enumerate(methods):
        own, look = method.of(rows), method.look | NESTED[index]
        if split == "test":
            # classes have no order: no line joins them, and the methods stand side by side
            beside = own["difficulty"] + 0.2 * (index - (len(methods) - 1) / 2)
            own, look = own.assign(difficulty=beside), {**method.look, "ls": ""}
        lines_by_difficulty(upper, own.assign(accuracy=1 - own["error"]), "accuracy", **look)
        handles.append(lines_by_difficulty(lower, own, "ponder_time", **look, label=method.legend))
    upper.set_ylabel("accuracy")
    lower.set(ylabel="ponder steps", xlabel=card.difficulty[split])
    ticks = np.sort(rows["difficulty"].unique())
    if len(ticks) <= 10:
        lower.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    elif split == "angle":
        lower.xaxis.set_major_locator(MultipleLocator(45))
    style.bottom_legend(figure, handles, 2)
    return figure


def words(results: Results, experiment: str, split: str) -> str:
    """Accuracy and steps of each method at the first and the last difficulty."""
    table = results.tables[experiment]
    rows = evaluated(table, split=split)
    if rows.empty:
        return ""
    parts = []
    for method in best_methods(per_seed(choosing_rows(table)), COMPARED):
        means = per_setting(method.of(rows), by=["difficulty"])
        ends = [means.iloc[i] for i in (0, -1)] if len(means) else []
        told = " and ".join(
            f"{style.share(1 - r['error'])} with {style.in_steps(r['ponder_time'])} "
            f"at {r['difficulty']:g}"
            for r in ends
        )
        parts += [f"{method.legend}: {told}"] if told else []
    return f"Accuracy: {'; '.join(parts)}." if parts else ""


def caption(results: Results, experiment: str, split: str) -> str:
    """What is drawn, and whether the mechanisms were trained equally long."""
    lines = "bands: one standard error over seeds either side"
    above, chosen = "above", f"{BEST} on the digits as trained"
    if split == "test":
        lines = "points: means over seeds, whiskers: one standard error either side"
        above, chosen = "above, on an axis that does not start at zero", BEST
    return (
        f"Accuracy ({above}) and ponder steps (below), {chosen}; {lines}. A seed stops training "
        "once its validation accuracy no longer rises. "
        f"{unequal_training(results, (experiment,), TRAINED_FOR_IT)}"
    )


def choosing_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that choose a method's setting: rotations as in training, or all there are."""
    rows = evaluated(table)
    ranges = rows[rows["split"] == "range"]
    if len(ranges):
        return ranges[ranges["difficulty"] == ranges["difficulty"].min()]
    return rows
