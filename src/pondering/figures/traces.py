"""Single sequences: ponder at every step of time, with the input and the output along the axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from pondering.figures import style

Trace = dict[str, Any]

ROW_LENGTH = 44
"""Characters of text in one row of a figure."""

TEXT_ROWS = 3
MARKUP = frozenset("<>[]{}|=/&;0123456789")


def choose_traces(
    traces: Sequence[Trace], kind: str, setting: float, mechanism: str = "act"
) -> list[Trace]:
    """The traces of one replica, of the setting nearest to the paper's.

    Args:
        traces: all traces of an experiment.
        kind: sequence or text.
        setting: the paper's setting, for example its tau.
        mechanism: whose traces.

    Returns:
        The traces of the smallest seed at the setting nearest on a log scale; empty without any.
        The seed is never chosen by its result.
    """
    own = [t for t in traces if t["kind"] == kind and t["mechanism"] == mechanism and t["steps"]]
    if not own:
        return []
    floor = 1e-9  # a setting of 0 has no logarithm
    distance = {
        t["setting"]: abs(math.log(max(t["setting"], floor)) - math.log(setting)) for t in own
    }
    nearest = min(distance, key=lambda value: (distance[value], value))
    same = [t for t in own if t["setting"] == nearest]
    seed = min(t["seed"] for t in same)
    return [t for t in same if t["seed"] == seed]


def sequence_panels(
    traces: Sequence[Trace] | None, *, setting: float, most: int = 3
) -> Figure | None:
    """Ponder at every time step of a few sequences, input below and output above the bars.

    Args:
        traces: all traces of an experiment, or None.
        setting: the paper's time penalty; the nearest one trained is shown.
        most: number of sequences.

    Returns:
        The figure, axes linear; an output that differs from its target is set in red with the
        target beside it. None without such a trace.
    """
    chosen = choose_traces(traces or [], "sequence", setting)[:most]
    if not chosen:
        return None
    crowded = any(_crowded(trace) for trace in chosen)
    figure, panels = style.new_figure([1.75 if crowded else 1.6] * len(chosen))
    for axes, trace in zip(panels, chosen, strict=True):
        _sequence(axes, trace, crowded)
    panels[-1].set_xlabel("input at each time step")
    highest = max(step["ponder_time"] for trace in chosen for step in trace["steps"])
    for axes in panels:
        axes.set_ylim(0, highest * 1.08)
        style.whole_numbers(axes, "y")
    handles = [Patch(color=style.BLUE, label="ponder time N")]
    handles.append(Patch(color=style.VERMILION, label="wrong output (≠ its target)"))
    style.bottom_legend(figure, handles, 2, _replica(chosen[0]))
    return figure


def text_panels(traces: Sequence[Trace] | None, *, setting: float, markup: bool) -> Figure | None:
    """Ponder, loss and entropy at every character of a stretch of text.

    Args:
        traces: all traces of an experiment, or None.
        setting: the paper's time penalty; the nearest one trained is shown.
        markup: whether to show the stretch with the most tags and digits, or the one with the
            fewest.

    Returns:
        The figure, axes linear, rows of text one under the other: bars are ponder, lines loss and
        entropy of the prediction of the next character in bits. None without such a trace.
    """
    chosen = choose_traces(traces or [], "text", setting)
    if not chosen:
        return None
    trace, start = text_window(chosen, markup=markup)
    steps = trace["steps"][start : start + ROW_LENGTH * TEXT_ROWS]
    rows = [steps[i : i + ROW_LENGTH] for i in range(0, len(steps), ROW_LENGTH)]
    # the third of each group is left empty, so that rows of text stand apart
    figure, panels = style.new_figure(([0.6, 0.8, 0.08] * len(rows))[:-1])
    for index, row in enumerate(rows):
        _text_row(panels[3 * index], panels[3 * index + 1], row)
    tallest = max(step["ponder_time"] for step in steps)
    bits = np.nanmax([[_bits(step["loss"]), _bits(step["entropy"])] for step in steps])
    for index, axes in enumerate(panels):
        axes.set_ylim(0, float(bits if index % 3 else tallest) * 1.08)
        if index % 3 == 2:
            axes.set_axis_off()
    handles = [
        Patch(color=style.BLUE, label="ponder time N"),
        Line2D([], [], color=style.VERMILION, label="loss"),
        Line2D([], [], color=style.INK, ls="--", label="entropy of the prediction"),
    ]
    style.bottom_legend(figure, handles, 3, _replica(trace))
    return figure


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


def _sequence(axes: Axes, trace: Trace, crowded: bool) -> None:
    steps = trace["steps"]
    places = list(range(len(steps)))
    axes.bar(places, [step["ponder_time"] for step in steps], width=0.7, color=style.BLUE)
    size = 6.5 if crowded else 8.0
    axes.set_xticks(places, [step["input"] for step in steps], fontsize=size,
                    rotation=90 if crowded else 0)  # fmt: skip
    axes.tick_params(axis="x", length=0)
    axes.set(ylabel="ponder", xlim=(-0.6, len(steps) - 0.4))
    outputs = [_output(step) for step in steps]
    texts = style.row_above(axes, "output", places, [text for text, _ in outputs], size)
    for text, (_, wrong) in zip(texts, outputs, strict=True):
        text.set_color(style.VERMILION if wrong else style.INK)


def _output(step: Trace) -> tuple[str, bool]:
    """The output of a time step as text, and whether it is wrong; empty without a target."""
    if not step["target"]:
        return "", False
    wrong = step["prediction"] != step["target"]
    prediction = step["prediction"] or "-"
    return (f"{prediction}\n≠{step['target']}" if wrong else prediction), wrong


def _crowded(trace: Trace) -> bool:
    """Whether the labels of a sequence, side by side, would touch."""
    longest = max((len(step["input"]) for step in trace["steps"]), default=0)
    return (longest + 1) * len(trace["steps"]) > 50


def _text_row(ponder: Axes, loss: Axes, row: Sequence[Trace]) -> None:
    """One row of text: bars of ponder over lines of loss and entropy over the characters."""
    places = list(range(len(row)))
    ponder.bar(places, [step["ponder_time"] for step in row], width=0.75, color=style.BLUE)
    ponder.set_xticks([])
    guesses = [_visible(step["prediction"]) for step in row]
    for text, step in zip(style.row_above(ponder, "next?", places, guesses, 7.0), row, strict=True):
        text.set_fontfamily("monospace")
        text.set_color(style.INK if step["prediction"] == step["target"] else style.VERMILION)
    loss.annotate("read", (0, 0), (-4, -4), xycoords="axes fraction", fontsize=7, ha="right",
                  va="top", textcoords="offset points")  # fmt: skip
    ponder.set_ylabel("steps", fontsize=7.5)
    loss.plot(places, [_bits(step["loss"]) for step in row], color=style.VERMILION, lw=1.2)
    entropy = [_bits(step["entropy"]) for step in row]
    loss.plot(places, entropy, color=style.INK, lw=1.0, ls="--")
    loss.set_ylabel("bits", fontsize=7.5)
    loss.set_xticks(places, [_visible(step["input"]) for step in row],
                    fontfamily="monospace", fontsize=8)  # fmt: skip
    loss.tick_params(axis="x", length=0, pad=2)
    for axes in (ponder, loss):
        axes.set_xlim(-0.8, ROW_LENGTH - 0.2)
        axes.tick_params(axis="y", labelsize=7)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=3, integer=True))


def _visible(character: str) -> str:
    """A character as it can be printed: spaces and line ends as signs, other controls as a dot."""
    signs = {" ": "␣", "\n": "↵", "\t": "→"}
    return signs.get(character, character if character.isprintable() and character else "·")


def _bits(nats: float | None) -> float:
    return float("nan") if nats is None else nats / math.log(2)


def _replica(trace: Trace) -> str:
    return f"{style.setting_name(trace['mechanism'], trace['setting'])}, seed {trace['seed']}"
