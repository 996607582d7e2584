"""How every figure looks and is saved: colours, markers, sizes, number formats, stable bytes."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from pondering.params.mechanisms import MECHANISMS
from pondering.project.atomic import atomic_write

# Okabe and Ito's colours; their yellow is too faint on white and is left out
BLUE, ORANGE, GREEN = "#0072B2", "#E69F00", "#009E73"
VERMILION, PURPLE, SKY = "#D55E00", "#CC79A7", "#56B4E9"
GREY, INK, PAPER = "#6E6E6E", "#222222", "#FDFDFD"
PALETTE = (BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")

WRONG = "#9C1F6B"
"""Marks what a network got wrong: no mechanism's colour, and dark enough for small text."""

MECHANISM_COLOUR = {"repeat": GREEN, "act": VERMILION, "pondernet": BLUE, "plain": GREY}
MECHANISM_MARKER = {"repeat": "D", "act": "s", "pondernet": "o", "plain": "X"}
_OTHERS = [name for name in MECHANISMS if name not in MECHANISM_COLOUR]
MECHANISM_COLOUR |= zip(_OTHERS, cycle((PURPLE, ORANGE, SKY)))
MECHANISM_MARKER |= zip(_OTHERS, cycle(("^", "v", "P")))
MECHANISM_NAME = {name: each.title for name, each in MECHANISMS.items()}
MECHANISM_NAME |= {"plain": "Plain network"}
SYMBOL = {name: each.symbol for name, each in MECHANISMS.items()}

TIMES = "\N{MULTIPLICATION SIGN}"

WIDTH = 5.0
"""Inches: 360 points, so that text keeps its printed size on a telephone 360 pixels wide."""

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
    "grid.color": "#E2E2E2",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "hatch.linewidth": 0.7,
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "savefig.facecolor": PAPER,
    "svg.fonttype": "none",
    "svg.hashsalt": "pondering",
    "axes.formatter.use_mathtext": False,
    "axes.formatter.limits": (-3, 7),
}


MOST_LINES = 7
"""Settings drawn as lines in one panel; of a finer grid an even choice is shown."""


@dataclass(frozen=True)
class LineStyle:
    """Colour and marker of one setting, the same in every panel of a figure."""

    colour: str
    marker: str


@contextmanager
def style() -> Iterator[None]:
    """Matplotlib's settings for the figures, in force inside the `with` block alone."""
    # font.* lists end in a generic name for the browser, which is no file matplotlib could look for
    with mpl.rc_context(STYLE):
        yield


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
    lines += [(line, "bold", "#A84300", 8.0) for line in _clipped(warning, 68)]
    lines += [(line, "normal", "#555555", 8.0) for line in _clipped(settings, 80)]
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
    figure.set_layout_engine("none")
    for axes in figure.axes:
        # the solver's last digits vary from call to call, and would show in the names inside an SVG
        left, bottom, width, height = axes.get_position(original=True).bounds
        axes.set_position((round(left, 5), round(bottom, 5), round(width, 5), round(height, 5)))


def save(figure: Figure, path_stem: str | Path) -> tuple[Path, Path]:
    """Write a figure as SVG, with its text as text, and as PNG; equal figures give equal bytes.

    Args:
        figure: what a figure function returned.
        path_stem: the path without its ending.

    Returns:
        The paths of the SVG and of the PNG.

    Raises:
        OSError: the folder cannot be written.
    """
    stem = Path(path_stem)
    paths = (stem.with_name(f"{stem.name}.svg"), stem.with_name(f"{stem.name}.png"))
    with style():
        for path, metadata in zip(paths, ({"Date": None}, {"Software": None}), strict=True):
            content = io.BytesIO()
            kind = path.suffix[1:]
            figure.savefig(content, format=kind, dpi=180, metadata=metadata)
            atomic_write(path, content.getvalue())
    return paths


def number(value: float) -> str:
    """A setting as the papers write it: 0.03, 1e-3, 0, 5."""
    if value == 0 or abs(value) >= 0.01:
        return f"{value:.3g}"
    digits, exponent = f"{value:.2e}".split("e")
    return f"{digits.rstrip('0').rstrip('.')}e{int(exponent)}"


def setting_name(mechanism: str, setting: float) -> str:
    """A setting with its symbol, for a legend: τ = 1e-3, λp = 0.2, repeat 3, plain network."""
    if mechanism == "repeat":
        return MECHANISM_NAME["plain"] if setting == 1 else f"Repeat {number(setting)}"
    return f"{SYMBOL[mechanism]} = {number(setting)}"


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
    scale = mpl.colormaps["viridis"]
    places = np.linspace(0.0, 0.88, len(ordered))
    markers = dict(zip(spread(ordered, MOST_LINES), MARKERS, strict=False))
    return {
        value: LineStyle(to_hex(scale(float(place))), markers.get(value, "o"))
        for value, place in zip(ordered, places, strict=True)
    }


def bottom_legend(figure: Figure, handles: Sequence[Any], columns: int, title: str = "") -> None:
    """A legend under all panels, where it covers no data."""
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


def sparse(labels: Sequence[str], most: int = 20) -> list[bool]:
    """Which labels of many time penalties to show: those that start with 1, 3 or 6."""
    few = len(labels) <= most
    return [few or label.lstrip("0.")[:1] in ("", "1", "3", "6") for label in labels]


def large_counts(axes: Axes, most: int = 6) -> None:
    """Ticks of the horizontal axis as 500, 20k, 1.5M or 3bn."""
    axes.xaxis.set_major_locator(MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: count(value)))


def count(value: float) -> str:
    """A large count in short: 500, 20k, 1.5M, 3bn."""
    for size, unit in ((1e9, "bn"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"


def whole_numbers(axes: Axes, which: str = "x") -> None:
    """Ticks at whole numbers only, for axes that count."""
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(integer=True, nbins=8, min_n_ticks=1))


def _clipped(text: str, width: int, most: int = 3) -> list[str]:
    return textwrap.wrap(text, width, max_lines=most, placeholder=" …") if text else []


def from_zero(axes: Axes) -> None:
    """Let the vertical axis begin at zero, with room for the highest marker."""
    low, high = axes.get_ylim()
    low = min(0.0, low)
    axes.set_ylim(low, high + 0.04 * (high - low))
