"""Steps by difficulty in the networks that have solved their task, a line each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from pondering.report.figures import layout, scales, style
from pondering.results.results import Results
from pondering.results.statistics import SOLVED_ERROR, Interval, interval
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
        one their mean with a 95% interval (`mean_of`). Below, points are networks, whiskers the
        same interval of the mean. None without rows.
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
        upper.set_title(f"{style.MECHANISM_NAME[mechanism]}: {_count(solved, others)} solved")
        upper.set_xlabel(card.difficulty[splits_of(table)[0]])
        scales.difficulty_axis(upper, rows)
        _gains(lower, -column, solved, style.MECHANISM_COLOUR[mechanism])
    assert first is not None
    first.set_ylabel("steps per input")
    lower.axvline(0, color=style.GREY, lw=0.8)
    names = [style.MECHANISM_NAME[each] for each in mechanisms]
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


def mean_of(solved: Sequence[pd.DataFrame], values: ArrayLike) -> Interval:
    """The mean of a number of each network, with the jackknife over seeds.

    Networks of one seed are left out together: they saw the same batches.

    Args:
        solved: rows of each network.
        values: a number of each; NaN is left out.
    """
    frame = pd.DataFrame([part[REPLICA].iloc[0] for part in solved], columns=REPLICA)
    frame["value"] = np.asarray(values, dtype=np.float64)
    wide = frame.pivot(index="seed", columns=["mechanism", "setting"], values="value")
    return interval(np.nanmean, wide.to_numpy(float))


def networks(rows: pd.DataFrame, mechanism: str) -> tuple[list[pd.DataFrame], list[pd.DataFrame]]:
    """The rows of each network of a mechanism by difficulty: those that solve the task, the others.

    Args:
        rows: evaluation rows of one split.
        mechanism: as the rows name it.
    """
    group = rows[rows["mechanism"] == mechanism]
    each = [part.sort_values("difficulty") for _, part in group.groupby(REPLICA)]
    return (
        [part for part in each if part["error"].mean() < SOLVED_ERROR],
        [part for part in each if not part["error"].mean() < SOLVED_ERROR],
    )


def gains(solved: Sequence[pd.DataFrame]) -> list[float]:
    """Steps on the hardest inputs less those on the easiest, network by network."""
    return [float(part["ponder_time"].iloc[-1] - part["ponder_time"].iloc[0]) for part in solved]


def _count(solved: Sequence[pd.DataFrame], others: Sequence[pd.DataFrame]) -> str:
    return f"{len(solved)} of {len(solved) + len(others)}"


def _lines(
    axes: Axes, solved: Sequence[pd.DataFrame], others: Sequence[pd.DataFrame], colour: str
) -> None:
    for part in others:
        axes.plot(part["difficulty"], part["ponder_time"], color=style.GREY, lw=0.5, alpha=0.35)
    for part in solved:
        axes.plot(part["difficulty"], part["ponder_time"], color=colour, lw=0.8, alpha=0.5)
    if not solved:
        return
    wide = pd.concat(solved).groupby("difficulty")["ponder_time"]
    means = {float(at): mean_of(solved, values) for at, values in wide}
    axes.plot(list(means), [each.estimate for each in means.values()], color=colour, lw=2.2)
    low, high = zip(*((each.low, each.high) for each in means.values()), strict=True)
    axes.fill_between(list(means), low, high, color=colour, alpha=0.2, lw=0)


def _gains(axes: Axes, place: float, solved: Sequence[pd.DataFrame], colour: str) -> None:
    values = gains(solved)
    if not values:
        return
    axes.scatter(values, layout.beside(place, values, 0.5), s=10, color=colour, alpha=0.6, lw=0)
    mean = mean_of(solved, values)
    if np.isfinite(mean.low):
        half = mean.high - mean.estimate
        axes.errorbar(mean.estimate, place, xerr=half, fmt="o", ms=5, color=style.INK, capsize=3)
