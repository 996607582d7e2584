"""How every figure looks: colours, markers, fonts and settings as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.colors import to_hex

from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import read_variant, setting_text, title_of

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

HOLLOW: Any = {
    "marker": "o", "ls": "", "mfc": "none", "mec": INK, "mew": 1.2, "ms": 7, "zorder": 6,
}  # fmt: skip
"""Of a value that a paper shows."""

MOST_LINES = 7
"""Settings drawn as lines in one panel; of a finer grid an even choice is shown."""

TIMES = "\N{MULTIPLICATION SIGN}"

STYLE: Any = {
    # DejaVu Sans is the widest of these, so text laid out with it fits with the others too
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Helvetica", "Arial", "sans-serif"],
    "font.monospace": ["DejaVu Sans Mono", "Menlo", "Consolas", "monospace"],
    "font.size": 9.0,
    "axes.titlesize": 9.0,
    "axes.titlelocation": "left",
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
    "figure.dpi": 180,  # texts are measured at it
    "figure.facecolor": PAPER,
    "axes.facecolor": PAPER,
    "svg.fonttype": "none",
    "svg.hashsalt": "pondering",
    "axes.formatter.limits": (-3, 7),
}


@contextmanager
def style() -> Iterator[None]:
    """The look of the figures inside the `with` block, whatever the user's matplotlib settings."""
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        yield


def spread(settings: Sequence[float], limit: int) -> list[float]:
    """At most `limit` of the sorted settings, evenly spaced and with both ends."""
    ordered = sorted(settings)
    if len(ordered) <= limit:
        return ordered
    return [ordered[round(i)] for i in np.linspace(0, len(ordered) - 1, limit)]


def line_styles(settings: Sequence[float]) -> dict[float, dict[str, Any]]:
    """Colour and marker of each setting: Okabe and Ito's for a few, a sequential scale for many."""
    ordered = sorted(settings)
    if len(ordered) <= len(PALETTE):
        pairs = zip(ordered, PALETTE, MARKERS, strict=False)
        return {value: {"color": colour, "marker": marker} for value, colour, marker in pairs}
    scale = mpl.colormaps["plasma"]  # its middle: the ends fade on a dark or on a light ground
    places = np.linspace(0.27, 0.76, len(ordered))
    markers = dict(zip(spread(ordered, MOST_LINES), MARKERS, strict=False))
    return {
        value: {"color": to_hex(scale(float(place))), "marker": markers.get(value, "o")}
        for value, place in zip(ordered, places, strict=True)
    }


def name_of(method: str) -> str:
    """A mechanism of a table in words, or the plain network."""
    return "Plain network" if method == "plain" else title_of(method)


def look_of(method: str) -> dict[str, Any]:
    """Colour and marker of a mechanism, with options or without, or of the plain network."""
    name, _ = read_variant(method)
    return {"color": MECHANISM_COLOUR[name], "marker": MECHANISM_MARKER[name]}


def setting_symbol(mechanism: str, setting: float) -> str:
    """A setting with its symbol: τ = 0.001, λp = 0.2, ρ = 3."""  # noqa: RUF002
    return f"{MECHANISMS[read_variant(mechanism)[0]].symbol} = {setting_text(setting)}"
