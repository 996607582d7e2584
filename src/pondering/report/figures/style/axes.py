"""Axes: their ticks, and texts above them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from pondering.report.figures.style.look import INK
from pondering.report.figures.style.text import count

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


def large_counts(axes: Axes, most: int = 6) -> None:
    """Ticks of the horizontal axis as 500, 20k, 1.5M or 3bn."""
    axes.xaxis.set_major_locator(MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: count(value)))


def whole_numbers(axes: Axes, which: str = "x") -> None:
    """Ticks at whole numbers only, for axes that count."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(integer=True, nbins=8, min_n_ticks=1))


def in_percent(figure: Figure, shares: Collection[str]) -> None:
    """Write percent at the ticks of every axis whose label names a share.

    Args:
        figure: its panels drawn.
        shares: the labels of axes that run from 0 to 1.
    """
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_label().get_text() in shares:
                axis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))


def from_zero(axes: Axes) -> None:
    """Let the vertical axis begin at zero, with room for the highest marker."""
    low, high = axes.get_ylim()
    low = min(0.0, low)
    axes.set_ylim(low, high + 0.04 * (high - low))


def cut_above(
    axes: Axes, top: float, points: Sequence[tuple[float, float]], share: bool = True
) -> None:
    """End the vertical axis at `top` and mark the points above it there, each with its value.

    Args:
        axes: the panel.
        top: where it ends.
        points: all points of the panel, of which those above are marked.
        share: whether the values are shares.
    """
    axes.set_ylim(top=top)
    for x, y in points:
        if y > top:
            axes.plot(x, top, marker="^", color=INK, ms=5, ls="", clip_on=False, zorder=6)
            axes.annotate(f"{y:.0%}" if share else f"{y:.1f}", (x, top), (4, -2), fontsize=7,
                          textcoords="offset points", va="top")  # fmt: skip


def share_log_axis(axes: Axes) -> None:
    """A logarithmic vertical axis of shares, with ticks at 50%, 20% and 10%, or closer."""
    axes.set_yscale("log")
    low, high = axes.get_ylim()
    subs = (1, 2, 5) if high > 8 * low else (1, 1.5, 2, 3, 4, 5, 7)
    axes.yaxis.set_major_locator(LogLocator(subs=subs, numticks=12))
    axes.yaxis.set_minor_locator(NullLocator())


def share_with_zero_axis(axes: Axes) -> None:
    """A vertical axis of shares that is logarithmic from 0.1% on, and linear from there to 0."""
    axes.set_yscale("symlog", linthresh=1e-3)
    axes.yaxis.set_major_locator(FixedLocator([0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1]))
    axes.set_ylim(bottom=0)


def sparse(labels: Sequence[str]) -> list[bool]:
    """Which labels of many time penalties to show: those that start with 1, 3 or 6."""
    few = len(labels) <= 20
    return [few or label.lstrip("0.")[:1] in ("", "1", "3", "6") for label in labels]


def row_above(
    axes: Axes, label: str, places: Sequence[float], texts: Sequence[str], size: float = 7.5
) -> list[Any]:
    """Short texts over the panel, each above its place, named at the left; returns them."""
    above: dict[str, Any] = {"textcoords": "offset points", "va": "bottom", "fontsize": size}
    axes.annotate(label, (0, 1), (-4, 2), xycoords="axes fraction", ha="right", **above)
    return [
        axes.annotate(text, (place, 1), (0, 2), xycoords=("data", "axes fraction"), ha="center",
                      **above)
        for place, text in zip(places, texts, strict=True)
    ]  # fmt: skip
