"""Steps by difficulty in the networks that have solved their task, a line each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pondering.claims.measures.halting import mean_over_networks
from pondering.report.figures import layout, scales, style
from pondering.results.results import Results
from pondering.results.statistics import SOLVED_ERROR
from pondering.results.tables import REPLICA, headline, splits_of

CAPTION = (
    "Above, steps by difficulty: networks that solve the task in colour, with their mean and "
    "its 95% interval. Below, the steps that each gains from the easiest to the hardest "
    "inputs."
)


def draw(results: Results, experiment: str, mechanisms: Sequence[str]) -> Figure | None:
    """Steps by difficulty, a panel a mechanism; below, the steps gained from easiest to hardest.

    Args:
        results: the results of one profile.
        experiment: whose table.
        mechanisms: a panel each.

    Returns:
        The figure, axes linear: lines are networks, those that solve the task in colour, the bold
        one their mean with a 95% interval over seeds. Below, points are networks, whiskers the same
        interval of the mean. None without rows.
    """
    table = results.tables[experiment]
    rows, card = headline(table), results.cards[experiment]
    figure = Figure(figsize=(layout.WIDTH, 4.3), layout="constrained")
    grid = figure.add_gridspec(2, len(mechanisms), height_ratios=[2.3, 1])
    lower = figure.add_subplot(grid[1, :])
    first: Axes | None = None
    for column, mechanism in enumerate(mechanisms):
        upper = figure.add_subplot(grid[0, column], sharey=first)
        first = first or upper
        solved, others = networks(rows, mechanism)
        _lines(upper, solved, others, style.MECHANISM_COLOUR[mechanism])
        there, missed = (part.groupby(REPLICA).ngroups for part in (solved, others))
        upper.set_title(f"{style.name_of(mechanism)}: {there} of {there + missed} solved")
        upper.set_xlabel(card.difficulty[splits_of(table)[0]])
        scales.difficulty_axis(upper, rows)
        _gains(lower, -column, solved, style.MECHANISM_COLOUR[mechanism])
    assert first is not None
    first.set_ylabel("steps per input")
    lower.axvline(0, color=style.GREY, lw=0.8)
    names = [style.name_of(each) for each in mechanisms]
    lower.set_yticks([-float(i) for i in range(len(names))], names)
    lower.set(
        ylim=(-len(names) + 0.4, 0.6), xlabel="steps on the hardest less on the easiest inputs"
    )
    lower.grid(True, axis="x")
    handles = [
        Line2D([], [], color=style.INK, lw=0.8, alpha=0.6, label="solved, one network"),
        Line2D([], [], color=style.INK, lw=2.2, label="their mean, 95% interval"),
        Line2D([], [], color=style.GREY, lw=0.5, alpha=0.5, label="not solved"),
    ]
    layout.bottom_legend(figure, handles, 3)
    return figure


def networks(rows: pd.DataFrame, mechanism: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The rows of the networks of a mechanism by difficulty: of those that solve it, of the others.

    Args:
        rows: evaluation rows of one split.
        mechanism: as the rows name it.
    """
    group = rows[rows["mechanism"] == mechanism].sort_values("difficulty")
    solved = group.groupby(REPLICA)["error"].transform("mean") < SOLVED_ERROR
    return group[solved], group[~solved]


def _lines(axes: Axes, solved: pd.DataFrame, others: pd.DataFrame, colour: str) -> None:
    for _, part in others.groupby(REPLICA):
        axes.plot(part["difficulty"], part["ponder_time"], color=style.GREY, lw=0.5, alpha=0.35)
    for _, part in solved.groupby(REPLICA):
        axes.plot(part["difficulty"], part["ponder_time"], color=colour, lw=0.8, alpha=0.5)
    if solved.empty:
        return
    means = {
        float(at): mean_over_networks(each, "ponder_time")
        for at, each in solved.groupby("difficulty")
    }
    axes.plot(list(means), [each.estimate for each in means.values()], color=colour, lw=2.2)
    low, high = zip(*((each.low, each.high) for each in means.values()), strict=True)
    axes.fill_between(list(means), low, high, color=colour, alpha=0.2, lw=0)


def _gains(axes: Axes, place: float, solved: pd.DataFrame, colour: str) -> None:
    """Steps on the hardest inputs less those on the easiest, network by network."""
    if solved.empty:
        return
    steps = solved.groupby(REPLICA)["ponder_time"]
    gained = (steps.last() - steps.first()).reset_index()
    values = gained["ponder_time"]
    axes.scatter(values, layout.beside(place, values, 0.5), s=10, color=colour, alpha=0.6, lw=0)
    mean = mean_over_networks(gained, "ponder_time")
    if np.isfinite(mean.low):
        half = mean.high - mean.estimate
        axes.errorbar(mean.estimate, place, xerr=half, fmt="o", ms=5, color=style.INK, capsize=3)
