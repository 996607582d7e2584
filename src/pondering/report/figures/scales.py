"""Axes of steps, difficulty, counts and errors."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

SQUEEZED = 8.0
"""Steps from which on a linear axis would leave no room between one and two."""

FAR_APART = 8.0
"""From this ratio of highest to lowest error on, low errors would overlap on a linear axis."""


def count(value: float) -> str:
    """A large count in short: 500, 20k, 1.5M, 3bn."""
    for size, unit in ((1e9, "bn"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def steps_axis(axes: Axes, highest: float, which: str = "x") -> None:
    """Let an axis of steps begin at one, doubling from tick to tick where a seed took many.

    Args:
        axes: the panel, its data drawn.
        highest: the most steps of any seed.
        which: x or y.
    """
    axis: Any = axes.xaxis if which == "x" else axes.yaxis
    limits = axes.set_xlim if which == "x" else axes.set_ylim
    if not highest > SQUEEZED:  # also where the highest is NaN: no seed has steps
        axis.set_major_locator(MaxNLocator(nbins=7, steps=[1, 2, 2.5, 5, 10]))
        return
    axes.set(**{f"{which}scale": "log"})
    ticks = [2.0**power for power in range(11) if 2.0**power <= 1.1 * highest]
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    limits(0.9, 1.15 * highest)


def difficulty_axis(axes: Axes, rows: pd.DataFrame) -> None:
    """Whole ticks from the lowest difficulty of some rows on: 1, 10, 20, ... 60."""
    lowest, highest = float(rows["difficulty"].min()), float(rows["difficulty"].max())
    ticks = MaxNLocator(integer=True, nbins=8, min_n_ticks=1).tick_values(lowest, highest)
    gap = 0.6 * (ticks[1] - ticks[0]) if len(ticks) > 1 else 0
    kept = [float(tick) for tick in ticks if lowest + gap <= tick <= highest]
    axes.xaxis.set_major_locator(FixedLocator(sorted({lowest, *kept})))


def large_counts(axes: Axes) -> None:
    """Ticks of the horizontal axis as 500, 20k, 1.5M or 3bn."""
    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: count(value)))


def from_zero(axes: Axes) -> None:
    """Let the vertical axis begin at zero, with room for the highest marker."""
    low, high = axes.get_ylim()
    low = min(0.0, low)
    axes.set_ylim(low, high + 0.04 * (high - low))


def share_log_axis(axes: Axes) -> None:
    """A logarithmic vertical axis of shares, with ticks at 50%, 20% and 10%, or closer."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    subs = (1, 2, 5) if high > 8 * low else (1, 1.5, 2, 3, 4, 5, 7)
    axes.yaxis.set_major_locator(LogLocator(subs=subs, numticks=12))
    axes.yaxis.set_minor_locator(NullLocator())


def far_apart(errors: Iterable[float]) -> bool:
    """Whether the errors of settings need a logarithmic axis; never where one of them is 0."""
    known = [error for error in errors if not math.isnan(error)]
    return bool(known) and 0 < FAR_APART * min(known) < max(known)
