"""Steps by difficulty in the networks that have solved their task, a line each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from pondering.claims.measures.arrays import average
from pondering.claims.questions.networks import by_seed
from pondering.report.figures import style
from pondering.report.figures.shapes.training_length import unequal_training
from pondering.results.results import Results
from pondering.results.statistics import SOLVED_ERROR, Interval, interval, spearman
from pondering.results.tables import REPLICA, headline, splits_of

SAME = 0.5
"""Steps within which a mean gain counts as none."""


def draw(
    results: Results, experiment: str, mechanisms: Sequence[str], question: str
) -> Figure | None:
    """Steps by difficulty, a panel a mechanism; below, the steps gained from easiest to hardest.

    Args:
        results: the results of one profile.
        experiment: whose table.
        mechanisms: a panel each.
        question: the registered question that asks the same of fresh seeds.

    Returns:
        The figure, axes linear: lines are networks, those that solve the task in colour, the bold
        one their mean with a 95% interval (`mean_of`). Below, points are networks, whiskers the
        same interval of the mean. None without rows.
    """
    table = results.tables[experiment]
    rows, card = headline(table), results.cards[experiment]
    figure = Figure(figsize=(style.WIDTH, 4.3), layout="constrained")
    grid = figure.add_gridspec(2, len(mechanisms), height_ratios=[2.3, 1])
    lower = figure.add_subplot(grid[1, :])
    first: Axes | None = None
    for column, mechanism in enumerate(mechanisms):
        upper = figure.add_subplot(grid[0, column], sharey=first)
        first = first or upper
        solved, others = networks(rows, mechanism)
        _lines(upper, solved, others, style.MECHANISM_COLOUR[mechanism])
        upper.set_title(f"{style.MECHANISM_NAME[mechanism]}: {_count(solved, others)} solve it")
        upper.set_xlabel(card.difficulty[splits_of(table)[0]])
        style.difficulty_axis(
            upper, float(rows["difficulty"].min()), float(rows["difficulty"].max())
        )
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
    style.bottom_legend(figure, handles, 3)
    return figure


def words(results: Results, experiment: str, mechanisms: Sequence[str], question: str) -> str:
    """Of each mechanism the networks that solve it, their gain in steps and their correlation."""
    table = results.tables[experiment]
    rows, parts = headline(table), []
    for mechanism in mechanisms:
        solved, others = networks(rows, mechanism)
        told = f"{style.MECHANISM_NAME[mechanism]}: {_count(solved, others)} solve it"
        if len(solved):
            gained, turned = gains(solved), np.array(correlations(solved))
            of_steps = style.with_interval(mean_of(solved, gained))
            told += f", steps on the hardest less on the easiest inputs {of_steps}"
            found = mean_of(solved, turned).within(-1, 1)
            if found.count:
                told += (
                    f", rank correlation of steps with difficulty {style.with_interval(found)}, "
                    f"above zero in {np.sum(turned > 0)} and below in {np.sum(turned < 0)}"
                )
        parts.append(told)
    return f"Means over solved networks. {'; '.join(parts)}."


def caption(results: Results, experiment: str, mechanisms: Sequence[str], question: str) -> str:
    """What is seen, of which networks, and where it is tested."""
    table = results.tables[experiment]
    rows = headline(table)
    seen = [
        f"{style.MECHANISM_NAME[each]} {direction(mean_of(solved, gains(solved)))}"
        for each in mechanisms
        for solved in [networks(rows, each)[0]]
    ]
    return (
        f"In networks that have solved the task (error below 5%), {'; '.join(seen)}. Lines: "
        "networks of all settings. Below: points are solved networks, whiskers 95% intervals of "
        "their mean over seeds. This is the mean: single networks may go the other way. Question "
        f"{question} tests it on fresh seeds; some of these were known when it was registered. "
        f"{unequal_training(results, (experiment,), ('repeat', *mechanisms))}"
    )


def mean_of(solved: Sequence[pd.DataFrame], values: ArrayLike) -> Interval:
    """The mean of a number of each network, with the jackknife over seeds.

    Networks of one seed are left out together: they saw the same batches.

    Args:
        solved: rows of each network.
        values: a number of each; NaN is left out.
    """
    frame = pd.DataFrame([part[REPLICA].iloc[0] for part in solved], columns=REPLICA)
    return interval(average, by_seed(frame.assign(value=np.asarray(values)), "value"))


def direction(found: Interval) -> str:
    """What becomes of the steps on harder inputs, as far as the interval of the mean gain tells."""
    if found.low >= -SAME and found.high <= SAME:
        return "takes as many steps whatever the input, within half a step: it repeats"
    if found.low > 0:
        return "takes more steps on harder inputs"
    if found.high < 0:
        return "takes fewer steps on harder inputs"
    if np.isfinite(found.low):
        return "shows no clear direction"
    return "has too few to tell how steps follow difficulty"


def networks(rows: pd.DataFrame, mechanism: str) -> tuple[list[pd.DataFrame], list[pd.DataFrame]]:
    """The rows of each network of a mechanism by difficulty: those that solve the task, the others.

    Args:
        rows: evaluation rows of one split.
        mechanism: as the rows name it.
    """
    own = rows[rows["mechanism"] == mechanism]
    each = [part.sort_values("difficulty") for _, part in own.groupby(REPLICA)]
    return (
        [part for part in each if part["error"].mean() < SOLVED_ERROR],
        [part for part in each if not part["error"].mean() < SOLVED_ERROR],
    )


def gains(solved: Sequence[pd.DataFrame]) -> list[float]:
    """Steps on the hardest inputs less those on the easiest, network by network."""
    return [float(part["ponder_time"].iloc[-1] - part["ponder_time"].iloc[0]) for part in solved]


def correlations(solved: Sequence[pd.DataFrame]) -> list[float]:
    """Spearman's correlation of steps with difficulty; NaN where the steps never vary."""
    return [spearman(part["difficulty"], part["ponder_time"]) for part in solved]


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
    beside = place + (np.linspace(-0.25, 0.25, len(values)) if len(values) > 1 else np.zeros(1))
    axes.scatter(values, beside, s=10, color=colour, alpha=0.6, lw=0)
    mean = mean_of(solved, values)
    if np.isfinite(mean.low):
        half = mean.high - mean.estimate
        axes.errorbar(mean.estimate, place, xerr=half, fmt="o", ms=5, color=style.INK, capsize=3)
