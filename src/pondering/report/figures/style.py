"""How every figure looks: colours, panels, axes, numbers as text. Nothing here knows a figure."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from pondering.params.mechanisms import MECHANISMS, is_plain
from pondering.params.replica import read_variant

# Okabe and Ito's colours; their yellow is too faint on white and is left out
BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"
VERMILION, PURPLE, SKY = "#D55E00", "#CC79A7", "#56B4E9"
GREY, INK, PAPER, GRID, SOFT, WARNING = (
    "#6E6E6E", "#222222", "#FDFDFD", "#E2E2E2", "#555555", "#A84300",
)  # fmt: skip
PALETTE = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
WRONG = "#9C1F6B"
"""Marks what a network got wrong: no mechanism's colour, and dark enough for small text."""

MECHANISM_COLOUR = {"repeat": GREEN, "act": VERMILION, "pondernet": BLUE, "plain": GREY}
MECHANISM_MARKER = {"repeat": "D", "act": "s", "pondernet": "o", "plain": "X"}
_OTHERS = [name for name in MECHANISMS if name not in MECHANISM_COLOUR]
MECHANISM_COLOUR |= zip(_OTHERS, cycle((PURPLE, ORANGE, SKY)))
MECHANISM_MARKER |= zip(_OTHERS, cycle(("^", "v", "P", "<")))
MECHANISM_NAME = {name: each.title for name, each in MECHANISMS.items()}
MECHANISM_NAME |= {"plain": "Plain network"}
SYMBOL = {name: each.symbol for name, each in MECHANISMS.items()}

HOLLOW: Any = {
    "marker": "o", "ls": "", "mfc": "none", "mec": INK, "mew": 1.2, "ms": 7, "zorder": 6,
}  # fmt: skip
"""Of a value that a paper shows."""

WIDTH = 5.0
"""Inches: 360 points, so that text keeps its printed size on a telephone 360 pixels wide."""

MOST_LINES = 7
"""Settings drawn as lines in one panel; of a finer grid an even choice is shown."""

SQUEEZED = 8.0
"""Steps from which on a linear axis would leave no room between one and two."""

TIMES = "\N{MULTIPLICATION SIGN}"

STYLE: Any = {
    "font.family": ["sans-serif"],
    # DejaVu Sans is the widest of these, so text laid out with it fits with the others too
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Helvetica", "Arial", "sans-serif"],
    "font.monospace": ["DejaVu Sans Mono", "Menlo", "Consolas", "monospace"],
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.titlelocation": "left",
    "axes.labelsize": 9.0,
    "xtick.labelsize": 8.0,
    "ytick.labelsize": 8.0,
    "legend.fontsize": 8.0,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.linewidth": 0.8,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "hatch.linewidth": 0.7,
    "figure.dpi": 180,  # texts are measured as the PNG has them
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "svg.fonttype": "none",
    "svg.hashsalt": "pondering",
    "axes.formatter.use_mathtext": False,
    "axes.formatter.limits": (-3, 7),
}


@contextmanager
def style() -> Iterator[None]:
    """The look of the figures inside the `with` block, whatever the user's matplotlib settings."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


@dataclass(frozen=True)
class LineStyle:
    """Colour and marker of one setting, the same in every panel of a figure."""

    colour: str
    marker: str


def spread(settings: Sequence[float], limit: int) -> list[float]:
    """At most `limit` of the sorted settings, evenly spaced and with both ends."""
    ordered = sorted(settings)
    if len(ordered) <= limit:
        return ordered
    return [ordered[round(i)] for i in np.linspace(0, len(ordered) - 1, limit)]


def line_styles(settings: Sequence[float]) -> dict[float, LineStyle]:
    """A style for each setting: Okabe-Ito colours for a few, a sequential scale for many."""
    ordered = sorted(settings)
    if len(ordered) <= len(PALETTE):
        pairs = zip(ordered, PALETTE, MARKERS, strict=False)
        return {value: LineStyle(colour, marker) for value, colour, marker in pairs}
    scale = mpl.colormaps["plasma"]  # its middle: the ends fade on a dark or on a light ground
    places = np.linspace(0.27, 0.76, len(ordered))
    markers = dict(zip(spread(ordered, MOST_LINES), MARKERS, strict=False))
    return {
        value: LineStyle(to_hex(scale(float(place))), markers.get(value, "o"))
        for value, place in zip(ordered, places, strict=True)
    }


def number(value: float) -> str:
    """A setting as the papers write it: 0.03, 1e-3, 0, 5."""
    if value == 0 or abs(value) >= 0.01:
        return f"{value:.3g}"
    digits, exponent = f"{value:.2e}".split("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}"


def setting_symbol(mechanism: str, setting: float) -> str:
    """A setting with its symbol: τ = 1e-3, λp = 0.2, ρ = 3."""  # noqa: RUF002
    return f"{SYMBOL[read_variant(mechanism)[0]]} = {number(setting)}"


def setting_name(mechanism: str, setting: float) -> str:
    """A setting for a legend that names no mechanism: τ = 1e-3, Repeat 3, Plain network."""
    if mechanism != "repeat":
        return setting_symbol(mechanism, setting)
    return MECHANISM_NAME["plain"] if is_plain(mechanism, setting) else f"Repeat {number(setting)}"


def setting_in_short(mechanism: str, setting: float) -> str:
    """A setting beside a point: τ 1e-3, times 3, plain."""
    if mechanism != "repeat":
        return f"{SYMBOL[mechanism]} {number(setting)}"
    return "plain" if is_plain(mechanism, setting) else f"{TIMES}{number(setting)}"


def count(value: float) -> str:
    """A large count in short: 500, 20k, 1.5M, 3bn."""
    for size, unit in ((1e9, "bn"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def seed_count(seeds: pd.Series) -> str:
    """The number of seeds, or its range."""
    low, high = int(seeds.min()), int(seeds.max())
    return f"{low} seed{'s' if high > 1 else ''}" if low == high else f"{low} to {high} seeds"


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


def beside(place: float, values: Collection[Any], width: float) -> np.ndarray:
    """Places side by side for some points, `width` from the first to the last around `place`."""
    steps = np.linspace(-0.5, 0.5, len(values)) if len(values) > 1 else np.zeros(len(values))
    return place + width * steps


def new_figure(heights: Sequence[float], **subplots: Any) -> tuple[Figure, list[Axes]]:
    """A figure of panels stacked from top to bottom.

    Args:
        heights: the panels' heights in inches.
        subplots: passed on to `Figure.subplots`, for example sharex=True.

    Returns:
        The figure and its axes from the top.
    """
    # the legend and the lowest axis label take the same height however many panels there are
    figure = Figure(figsize=(WIDTH, float(sum(heights)) + 0.3), layout="constrained")
    ratios = {"height_ratios": list(heights)}
    axes = figure.subplots(len(heights), 1, squeeze=False, gridspec_kw=ratios, **subplots)
    return figure, list(axes[:, 0])


def heading(figure: Figure, title: str, settings: str, warning: str = "") -> None:
    """Write title, settings and, in a warning colour, a stand-in note above all panels.

    The figure grows by the height of the text, so the panels keep theirs.
    """
    lines = [(line, "bold", INK, 10.0) for line in textwrap.wrap(title, 55)]
    warned = textwrap.wrap(warning, 68, max_lines=3, placeholder=" …")
    lines += [(line, "bold", WARNING, 8.0) for line in warned]
    said = textwrap.wrap(settings, 80, max_lines=3, placeholder=" …")
    lines += [(line, "normal", SOFT, 8.0) for line in said]
    tall = sum(size * 1.35 for *_, size in lines) / 72 + 0.1
    height = figure.get_figheight() + tall
    figure.set_figheight(height)
    top = height - 0.05
    for text, weight, colour, size in lines:
        figure.text(0.015, top / height, text, fontweight=weight, color=colour, fontsize=size,
                    ha="left", va="top", in_layout=False)  # fmt: skip
        top -= size * 1.35 / 72
    engine = figure.get_layout_engine()
    assert engine is not None
    engine.set(rect=(0.01, 0.01, 0.98, (height - tall) / height - 0.01))  # type: ignore[call-arg]
    engine.execute(figure)
    figure.set_layout_engine(None)  # settled: saving need not draw twice
    for axes in figure.axes:
        # the solver's last digits vary from call to call, and would show in the names inside an SVG
        left, bottom, width, height = axes.get_position(original=True).bounds
        axes.set_position((round(left, 5), round(bottom, 5), round(width, 5), round(height, 5)))


def bottom_legend(figure: Figure, handles: Sequence[Any], columns: int, title: str = "") -> None:
    """A legend under all panels of a figure, where it covers no data."""
    figure.legend(
        handles=list(handles), loc="outside lower center", ncols=columns, title=title or None,
        title_fontsize=8.0, handlelength=1.8, columnspacing=1.2, handletextpad=0.5,
    )  # fmt: skip


def mark_empty(figure: Figure) -> None:
    """Say so in every panel that has nothing to show, rather than leave bare axes."""
    for axes in figure.axes:
        if axes.axison and not axes.has_data():
            axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", va="center",
                      color=GREY)  # fmt: skip
