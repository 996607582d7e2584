"""Methods side by side at their best settings: Banino 2021, Figs. 1a and 1b."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pondering.report.figures import layout, paper, style
from pondering.report.figures.methods import COMPARED, best_methods
from pondering.results.results import Results
from pondering.results.statistics import SOLVED_ERROR, mean_interval
from pondering.results.tables import evaluated, per_seed

RANGES = {"interpolation": "trained range", "extrapolation": "beyond it"}

CAPTION = (
    "The plain network, ACT and PonderNet, each at its best setting: bars are means over seeds "
    "with 95% intervals, points are seeds, hollow markers the paper's values. Numbers above the "
    "bars count the seeds with an error below 5%."
)


def draw(results: Results, experiment: str, splits: Sequence[str]) -> Figure | None:
    """Bars of accuracy above and ponder steps below, for each method at its best setting.

    Args:
        results: the results of one profile.
        experiment: whose table.
        splits: the splits shown side by side; the first one chooses the settings.

    Returns:
        The figure: bars are means over seeds, whiskers 95% intervals (Student), points seeds, and
        above each bar how many seeds solved it, hollow markers the paper's values. None without
        rows.
    """
    table = results.tables[experiment]
    by_split = {split: per_seed(evaluated(table, split=split)) for split in splits}
    methods = best_methods(by_split[splits[0]], COMPARED)
    if not methods:
        return None
    figure, (upper, lower) = layout.new_figure([2.3, 2.0], sharex=True)
    width = 0.64 / len(splits)
    notes: list[tuple[float, str]] = []
    for index, method in enumerate(methods):
        for position, split in enumerate(splits):
            place = index + (position - (len(splits) - 1) / 2) * width * 1.1
            seeds, colour = method.of(by_split[split]), style.MECHANISM_COLOUR[method.name]
            if seeds.empty:
                continue
            look: dict[str, Any] = {"colour": colour, "width": width, "hollow": position > 0}
            _bar_with_seeds(upper, place, 1 - seeds["error"], limits=(0, 1), **look)
            _bar_with_seeds(lower, place, seeds["ponder_time"], limits=(1, math.inf), **look)
            notes.append((place, f"{(seeds['error'] < SOLVED_ERROR).sum()}/{len(seeds)}"))
            shown = paper.ACCURACY_AND_STEPS.get(split, {}).get(method.name)
            if shown is not None:
                _of_the_paper(upper, lower, place + 0.35 * width, shown)
    layout.row_above(upper, "error<5%", [at for at, _ in notes], [text for _, text in notes], 8.0)
    upper.axhline(0.5, color=style.INK, ls=":", lw=1.2)
    upper.set(ylabel="accuracy", ylim=(0, 1.03), yticks=[0, 0.25, 0.5, 0.75, 1.0])
    lower.set(ylabel="ponder steps")
    lower.set_xticks(range(len(methods)), [method.label for method in methods])
    lower.set_xlim(-0.6, len(methods) - 0.4)
    handles: list[Line2D | Patch] = [Line2D([], [], color=style.INK, ls=":", label="chance")]
    if len(splits) > 1:
        first, second = (RANGES[split] for split in splits)
        handles.append(Patch(color=style.GREY, alpha=0.75, label=first))
        handles.append(Patch(fc=style.PAPER, ec=style.GREY, hatch="////", label=second))
    handles.append(Line2D([], [], **style.HOLLOW, label="paper"))
    layout.bottom_legend(figure, handles, 3)
    return figure


def _bar_with_seeds(
    axes: Axes,
    place: float,
    values: pd.Series,
    *,
    colour: str,
    width: float,
    hollow: bool,
    limits: tuple[float, float],
) -> None:
    """A bar at the mean over seeds, its 95% interval (Student) in `limits`, seeds as points."""
    known = values.dropna()
    if known.empty:
        axes.annotate("none", (place, 0), (0, 2), textcoords="offset points", ha="center",
                      fontsize=7.5)  # fmt: skip
        return
    mean = mean_interval(known).within(*limits)
    look: dict[str, Any] = {"color": colour, "alpha": 0.75}
    if hollow:
        look = {"facecolor": style.PAPER, "edgecolor": colour, "hatch": "////", "linewidth": 1.2}
    axes.bar(place, mean.estimate, width=width, **look)
    if np.isfinite(mean.low):
        axes.errorbar(place, mean.estimate, [[mean.estimate - mean.low],
                      [mean.high - mean.estimate]], fmt="none", ecolor=style.INK, elinewidth=1.3,
                      capsize=3, zorder=4)  # fmt: skip
    places = layout.beside(place, known, 0.6 * width)
    axes.scatter(places, known, s=10, color=style.INK, alpha=0.6, lw=0, zorder=3)


def _of_the_paper(upper: Axes, lower: Axes, place: float, shown: paper.Point) -> None:
    """Hollow markers at the paper's accuracy and steps, with the spread where it tells one."""
    upper.plot(place, shown.accuracy, **style.HOLLOW)
    lower.plot(place, shown.steps, **style.HOLLOW)
    if shown.spread is not None:
        lower.vlines(place, *shown.spread, color=style.INK, lw=1.0, ls=":", zorder=5)
