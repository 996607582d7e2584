"""Methods at their best settings by difficulty: digits by angle and class, and extrapolation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MultipleLocator

from pondering.report.figures import layout, scales, style
from pondering.report.figures.methods import COMPARED, best_methods, lines_by_difficulty
from pondering.results.results import Results
from pondering.results.tables import evaluated, headline, per_seed, splits_of

NESTED = (
    {"lw": 4.8, "markersize": 8.5, "alpha": 0.45},
    {"lw": 2.7, "markersize": 5.5, "alpha": 0.75},
    {"lw": 1.1, "markersize": 3.0},
)
"""Looks of three lines that nearly coincide: each is thinner than the one under it."""

CAPTION = (
    "Accuracy (above) and steps (below) of each method at its best setting: means over seeds, "
    "with one standard error either side."
)


def draw(results: Results, experiment: str, split: str | None = None) -> Figure | None:
    """Accuracy above and ponder steps below, for each method at its best setting.

    Args:
        results: the results of one profile.
        experiment: whose table.
        split: range, angle or test; None: all splits on one axis, of which the first is the trained
            range.

    Returns:
        The figure, axes linear: lines are means over seeds, bands one standard error either side;
        classes have no order, so by class these are points and whiskers. None without rows.
    """
    table, card = results.tables[experiment], results.cards[experiment]
    inside = headline(table)
    chosen = inside
    if splits_of(table)[0] == "range":  # of the ranges of rotation only the smallest was trained
        chosen = inside[inside["difficulty"] == inside["difficulty"].min()]
    rows, methods = evaluated(table, split=split), best_methods(per_seed(chosen), COMPARED)
    if rows.empty or not methods:
        return None
    figure, (upper, lower) = layout.new_figure([2.2, 2.0], sharex=True)
    handles: list[Line2D | Patch] = []
    for index, method in enumerate(methods):
        part, look = method.of(rows), dict[str, Any](method.look)
        if split == "test":
            # classes have no order: no line joins them, and the methods stand side by side
            aside = part["difficulty"] + 0.2 * (index - (len(methods) - 1) / 2)
            part, look = part.assign(difficulty=aside), look | {"ls": ""}
        elif split is not None:
            look |= NESTED[index]
        lines_by_difficulty(upper, part.assign(accuracy=1 - part["error"]), "accuracy", **look)
        handles.append(lines_by_difficulty(lower, part, "ponder_time", **look, label=method.legend))
    if split is None:
        handles.append(_shade_trained(figure, inside))
    upper.set_ylabel("accuracy")
    lower.set(ylabel="ponder steps", xlabel=card.difficulty[split or splits_of(table)[0]])
    ticks = np.sort(rows["difficulty"].unique())
    if split is None:
        scales.difficulty_axis(lower, rows)
    elif len(ticks) <= 10:
        lower.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    elif split == "angle":
        lower.xaxis.set_major_locator(MultipleLocator(45))
    layout.bottom_legend(figure, handles, 2)
    return figure


def _shade_trained(figure: Figure, inside: pd.DataFrame) -> Patch:
    """Shades the trained range in every panel; returns its entry in the legend."""
    low, high = inside["difficulty"].min() - 0.5, inside["difficulty"].max() + 0.5
    for axes in figure.axes:
        axes.axvspan(low, high, color=style.SKY, alpha=0.15, lw=0, zorder=0)
    return Patch(color=style.SKY, alpha=0.3, label="trained range")
