"""Ponder, loss and entropy in running text: Graves 2016, Figs. 23 and 24."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from pondering.report.figures import layout, style
from pondering.report.figures.sequences import Trace
from pondering.results.results import Results

ROW_LENGTH = 32
"""Characters of text in one row of a figure, at most."""

LENGTH = 3 * ROW_LENGTH
"""Characters of a figure, at most."""

MOST_STRIPS = 5
"""Seeds whose steps are drawn one under the other; of more, the first."""

MARKUP = frozenset("<>[]{}|=/&;0123456789")

CAPTION = (
    "Bars are the steps of each seed at each character, lines loss and entropy of the first "
    "seed's prediction. The text read stands below, that seed's guess above, in purple where "
    "it is wrong."
)


def draw(results: Results, experiment: str, markup: bool) -> Figure | None:
    """Ponder of every seed, and loss and entropy of the first, at every character of a stretch.

    Args:
        results: the results of one profile.
        experiment: whose traces.
        markup: whether to show the stretch with the most tags and digits, or the one with the
            fewest.

    Returns:
        The figure, axes linear, rows of text one under the other: a strip of bars a seed is its
        ponder, lines are loss and entropy of the first seed's prediction of the next character in
        bits. None without such a trace.
    """
    traces = results.act_traces(experiment, "text")
    if not traces:
        return None
    window, start = text_window(traces[min(traces)], markup=markup)
    readings = [each for seed in sorted(traces) for each in traces[seed] if _same(each, window)]
    strips = readings[:MOST_STRIPS]
    every = [trace["steps"][start : start + LENGTH] for trace in strips]
    first_seed = every[0]
    most = max(float(step["ponder_time"]) for trace in strips for step in trace["steps"])
    count = len(first_seed)
    length = -(-count // -(-count // ROW_LENGTH))
    places = range(0, count, length)
    group = [*[0.6 if len(strips) == 1 else 0.4] * len(strips), 0.8]
    # the last of each group is left empty, so that rows of text stand apart
    figure, panels = layout.new_figure(([*group, 0.08] * len(places))[:-1])
    bits = np.nanmax([[_bits(step["loss"]), _bits(step["entropy"])] for step in first_seed])
    for row, first in enumerate(places):
        cells = panels[row * (len(group) + 1) :]
        for axes, trace, steps in zip(cells, strips, every, strict=False):
            _strip(axes, trace, steps[first : first + length], most)
        _guesses(cells[0], first_seed[first : first + length])
        _bits_of_row(cells[len(strips)], first_seed[first : first + length], float(bits))
        for axes in cells[: len(group)]:
            axes.set_xlim(-0.8, length - 0.2)
    for axes in panels[len(group) :: len(group) + 1]:
        axes.set_axis_off()
    colour = style.MECHANISM_COLOUR[strips[0]["mechanism"]]
    handles = [
        Patch(color=colour, label="ponder time N"),
        Line2D([], [], color=style.INK, label="loss"),
        Line2D([], [], color=style.GREY, ls="--", label="entropy of the prediction"),
    ]
    layout.bottom_legend(figure, handles, 3, style.setting_symbol("act", strips[0]["setting"]))
    return figure


def _same(first: Trace, second: Trace) -> bool:
    """Whether two traces are of the same text."""
    texts = ([step["input"] for step in trace["steps"]] for trace in (first, second))
    return next(texts) == next(texts)


def text_window(traces: Sequence[Trace], *, markup: bool) -> tuple[Trace, int]:
    """The stretch of text with the most, or the fewest, characters of markup and digits.

    Args:
        traces: text traces, at least one.
        markup: most or fewest.

    Returns:
        The trace and the index of the first character; between equals the earliest.
    """
    found: tuple[int, Trace, int] | None = None
    for trace in traces:
        marks = np.cumsum([0] + [step["input"] in MARKUP for step in trace["steps"]])
        # the first characters are read without context, so the stretch starts after some if it can
        first = min(10, max(0, len(trace["steps"]) - LENGTH))
        for start in range(first, max(first, len(trace["steps"]) - LENGTH) + 1):
            count = int(marks[min(start + LENGTH, len(marks) - 1)] - marks[start])
            score = -count if markup else count
            if found is None or score < found[0]:
                found = (score, trace, start)
    assert found is not None
    return found[1], found[2]


def _strip(axes: Axes, trace: Trace, steps: Sequence[Trace], most: float) -> None:
    """Bars of one seed's steps at each character, below a line at the most there are."""
    heights = [step["ponder_time"] for step in steps]
    colour = style.MECHANISM_COLOUR[trace["mechanism"]]
    axes.bar(range(len(steps)), heights, width=0.75, color=colour)
    axes.axhline(most, color=style.INK, ls=":", lw=0.9)
    axes.set(ylim=(0, most * 1.15), xticks=[], yticks=[0, most])
    axes.set_yticklabels(["0", f"{most:.3g}"], fontsize=7)
    axes.set_ylabel(f"seed {trace['seed']}", fontsize=7, rotation=0, ha="right", va="center")


def _guesses(axes: Axes, steps: Sequence[Trace]) -> None:
    """The predicted next characters over a panel, wrong ones in their colour."""
    texts = [_visible(step["prediction"]) for step in steps]
    row = layout.row_above(axes, "guess", range(len(steps)), texts, 7.0)
    for text, step in zip(row, steps, strict=True):
        text.set_fontfamily("monospace")
        text.set_color(style.INK if step["prediction"] == step["target"] else style.WRONG)


def _bits_of_row(axes: Axes, steps: Sequence[Trace], most: float) -> None:
    """Loss and entropy in bits over the characters read."""
    places = list(range(len(steps)))
    axes.annotate("read", (0, 0), (-4, -4), xycoords="axes fraction", fontsize=7, ha="right",
                  va="top", textcoords="offset points")  # fmt: skip
    axes.plot(places, [_bits(step["loss"]) for step in steps], color=style.INK, lw=1.2)
    entropy = [_bits(step["entropy"]) for step in steps]
    axes.plot(places, entropy, color=style.GREY, lw=1.0, ls="--")
    axes.set_ylabel("bits", fontsize=7.5)
    axes.set_ylim(0, most * 1.08)
    axes.set_xticks(places, [_visible(step["input"]) for step in steps],
                    fontfamily="monospace", fontsize=8)  # fmt: skip
    axes.tick_params(axis="x", length=0, pad=2)
    axes.tick_params(axis="y", labelsize=7)
    axes.yaxis.set_major_locator(MaxNLocator(nbins=3, integer=True))


def _visible(character: str) -> str:
    """A character as it can be printed: spaces and line ends as signs, other controls as a dot."""
    signs = {" ": "␣", "\n": "↵", "\t": "→"}
    return signs.get(character, character if character.isprintable() and character else "·")


def _bits(nats: float | None) -> float:
    return float("nan") if nats is None else nats / math.log(2)
