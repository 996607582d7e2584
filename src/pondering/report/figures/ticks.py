"""Ticks of axes that count steps or difficulty, which begin at one and not at zero."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

SQUEEZED = 8.0
"""Steps from which on a linear axis would leave no room between one and two."""


def steps_axis(axes: Axes, highest: float, which: str = "x") -> None:
    """Let an axis of steps begin at one, doubling from tick to tick where a seed took many.

    Args:
        axes: the panel, its data drawn.
        highest: the most steps of any seed.
        which: x or y.
    """
    axis: Any = axes.xaxis if which == "x" else axes.yaxis
    limits = axes.set_xlim if which == "x" else axes.set_ylim
    if not highest > SQUEEZED:  # nor where no seed has any
        axis.set_major_locator(MaxNLocator(nbins=7, steps=[1, 2, 2.5, 5, 10]))
        return
    axes.set(**{f"{which}scale": "log"})
    ticks = [2.0**power for power in range(11) if 2.0**power <= 1.1 * highest]
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    limits(0.9, 1.15 * highest)


def difficulty_axis(axes: Axes, lowest: float, highest: float) -> None:
    """Whole ticks from the lowest difficulty on: 1, 10, 20, ... 60."""
    ticks = MaxNLocator(integer=True, nbins=8, min_n_ticks=1).tick_values(lowest, highest)
    gap = 0.6 * (ticks[1] - ticks[0]) if len(ticks) > 1 else 0
    kept = [float(tick) for tick in ticks if lowest + gap <= tick <= highest]
    axes.xaxis.set_major_locator(FixedLocator(sorted({float(lowest), *kept})))
