"""Ponder, loss and entropy in running text: Graves 2016, Figs. 23 and 24."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from pondering.report.figures import style
from pondering.report.figures.shapes.traces import Trace, choose_traces, replica_name, setting_shown
from pondering.results.results import Results

ROW_LENGTH = 32
"""Characters of text in one row of a figure, at most."""

TEXT_ROWS = 3

MOST_STRIPS = 5
"""Seeds whose steps are drawn one under the other; of more, the first."""

MARKUP = frozenset("<>[]{}|=/&;0123456789")


def draw(results: Results, experiment: str, setting: float, markup: bool) -> Figure | None:
    """Ponder of every seed, and loss and entropy of the first, at every character of a stretch.

    Args:
        results: the results of one profile.
        experiment: whose traces.
        setting: the paper's time penalty; the caption says whether it is shown.
        markup: whether to show the stretch with the most tags and digits, or the one with the
            fewest.

    Returns:
        The figure, axes linear, rows of text one under the other: a strip of bars a seed is its
        ponder, lines are loss and entropy of the first seed's prediction of the next character in
        bits. Seeds that took equally many steps at every character are named in the legend, unless
        all did. None without such a trace.
    """
    strips, start = text_strips(results, experiment, markup)
    if not strips:
        return None
    first_seed, most = shown_steps(strips[0], start), most_steps(strips)
    drawn, level = fold(strips, start)
    every = [shown_steps(trace, start) for trace in drawn]
    count = len(first_seed)
    length = -(-count // -(-count // ROW_LENGTH))
    places = range(0, count, length)
    group = [*[0.6 if len(drawn) == 1 else 0.4] * len(drawn), 0.8]
    # the last of each group is left empty, so that rows of text stand apart
    figure, panels = style.new_figure(([*group, 0.08] * len(places))[:-1])
    bits = np.nanmax([[_bits(step["loss"]), _bits(step["entropy"])] for step in first_seed])
    for row, first in enumerate(places):
        own = panels[row * (len(group) + 1) :]
        for axes, trace, steps in zip(own, drawn, every, strict=False):
            _strip(axes, trace, steps[first : first + length], most)
        _guesses(own[0], first_seed[first : first + length])
        _bits_of_row(own[len(drawn)], first_seed[first : first + length], float(bits))
        for axes in own[: len(group)]:
            axes.set_xlim(-0.8, length - 0.2)
    for axes in panels[len(group) :: len(group) + 1]:
        axes.set_axis_off()
    colour = style.MECHANISM_COLOUR[strips[0]["mechanism"]]
    handles = [
        Patch(color=colour, label="ponder time N"),
        Line2D([], [], color=style.INK, label="loss"),
        Line2D([], [], color=style.GREY, ls="--", label="entropy of the prediction"),
    ]
    title = [replica_name(strips[0]).partition(",")[0], *level]
    style.bottom_legend(figure, handles, 3, "\n".join(title))
    return figure


def words(results: Results, experiment: str, setting: float, markup: bool) -> str:
    """The steps of every seed on the stretch shown, and the characters each pondered most."""
    strips, start = text_strips(results, experiment, markup)
    if not strips:
        return ""
    parts = []
    for trace in strips:
        pairs = [(s["input"], s["ponder_time"]) for s in shown_steps(trace, start)]
        frame = pd.DataFrame(pairs, columns=["c", "n"])
        parts.append(f"seed {trace['seed']}: {_pondered(frame, most_steps(strips))}")
    tau = style.setting_symbol("act", strips[0]["setting"])
    return f"{tau}, {len(shown_steps(strips[0], start))} characters; {'; '.join(parts)}."


def caption(results: Results, experiment: str, setting: float, markup: bool) -> str:
    """What is drawn, of which time penalty and stretch of text."""
    return (
        "Bars: steps of each seed at each character, dotted the most that any took; a seed that "
        "took equally many at all of them is named in the legend alone; lines: loss "
        "and entropy of the first seed's prediction of the next character in bits. Under each row "
        "the text read, over it the first seed's guess at the next character (purple where "
        f"wrong). The stretch of the evaluation text with the {'most' if markup else 'fewest'} "
        f"tags and digits. {setting_shown(results, experiment, 'text', setting)}"
    )


def _pondered(frame: pd.DataFrame, most: float) -> str:
    """Mean steps and the characters with the most, from columns c and n; or that all are equal."""
    if frame["n"].max() - frame["n"].min() < 0.005:
        same = f"every character took {style.in_steps(frame['n'].iloc[0])}"
        return f"{same}, the most of any seed" if frame["n"].iloc[0] >= most > 1 else same
    top = frame.groupby("c")["n"].mean().sort_values(ascending=False, kind="stable").head(3)
    names = {" ": "space", "\n": "line end", ";": "semicolon", ":": "colon"}
    listed = ", ".join(f"{names.get(str(c), str(c))} ({n:.2f})" for c, n in top.items())
    return (
        f"{frame['n'].mean():.2f} steps on average, from {frame['n'].min():.3g} to "
        f"{frame['n'].max():.3g}, most at {listed}"
    )


def text_strips(results: Results, experiment: str, markup: bool) -> tuple[list[Trace], int]:
    """The stretch of text shown, as the first seeds read it.

    Args:
        results, experiment, markup: see `draw`.

    Returns:
        The traces, by seed, and the index of the first character; no trace where there is none.
    """
    chosen = choose_traces(results, experiment, "text")
    if not chosen:
        return [], 0
    trace, start = text_window(chosen, markup=markup)
    text = [step["input"] for step in trace["steps"]]
    same = {
        each["seed"]: each for each in results.traces[experiment]
        if each["kind"] == "text" and each["mechanism"] == trace["mechanism"]
        and each["setting"] == trace["setting"]
        and [step["input"] for step in each["steps"]] == text
    }  # fmt: skip
    return [same[seed] for seed in sorted(same)[:MOST_STRIPS]], start


def fold(strips: Sequence[Trace], start: int) -> tuple[list[Trace], list[str]]:
    """The seeds whose steps vary on the stretch shown, and a line for each that has none to show.

    Args:
        strips: one trace a seed; start: the index of the first character shown.

    Returns:
        The traces to draw, all of them where none varies, and lines such as "seed 0: 6 steps at
        every character".
    """
    steps = [{step["ponder_time"] for step in shown_steps(trace, start)} for trace in strips]
    varied = [trace for trace, own in zip(strips, steps, strict=True) if len(own) > 1]
    level = [
        f"seed {trace['seed']}: {style.in_steps(own.pop())} at every character"
        for trace, own in zip(strips, steps, strict=True)
        if len(own) == 1
    ]
    return (varied, level) if varied else (list(strips), [])


def shown_steps(trace: Trace, start: int) -> list[Trace]:
    """The characters of a trace that fit into a figure."""
    return list(trace["steps"][start : start + ROW_LENGTH * TEXT_ROWS])


def most_steps(traces: Sequence[Trace]) -> float:
    """The most steps that any character of these traces took."""
    return max(float(step["ponder_time"]) for trace in traces for step in trace["steps"])


def text_window(traces: Sequence[Trace], *, markup: bool) -> tuple[Trace, int]:
    """The stretch of text with the most, or the fewest, characters of markup and digits.

    Args:
        traces: text traces, at least one.
        markup: most or fewest.

    Returns:
        The trace and the index of the first character; between equals the earliest.
    """
    length = ROW_LENGTH * TEXT_ROWS
    found: tuple[int, Trace, int] | None = None
    for trace in traces:
        marks = np.cumsum([0] + [step["input"] in MARKUP for step in trace["steps"]])
        # the first characters are read without context, so the stretch starts after some if it can
        first = min(10, max(0, len(trace["steps"]) - length))
        for start in range(first, max(first, len(trace["steps"]) - length) + 1):
            count = int(marks[min(start + length, len(marks) - 1)] - marks[start])
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
    row = style.row_above(axes, "guess", range(len(steps)), texts, 7.0)
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
