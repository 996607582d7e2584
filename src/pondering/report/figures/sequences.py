"""Ponder in single sequences: Graves 2016, Figs. 15 and 20."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from pondering.report.figures import layout, style
from pondering.results.results import Results

Trace = dict[str, Any]
"""An example step by step, as `evaluate/traces.py` writes it."""

MOST = 3
"""Sequences of one figure."""

CAPTION = (
    "Steps at each time step of three sequences of one network, inputs below, outputs above, in "
    "purple where wrong."
)


def draw(results: Results, experiment: str) -> Figure | None:
    """Ponder at every time step of a few sequences, input below and output above the bars.

    Args:
        results: the results of one profile.
        experiment: whose traces.

    Returns:
        The figure, axes linear. A wrong output is purple, with its target beside it. A dotted line
        separates inputs from outputs asked for. None without such a trace.
    """
    traces = results.act_traces(experiment, "sequence")
    if not traces:
        return None
    chosen = traces[min(traces)][:MOST]  # a seed is never chosen by its result
    crowded = any(_crowded(trace) for trace in chosen)
    figure, panels = layout.new_figure([1.75 if crowded else 1.6] * len(chosen))
    highest = max(step["ponder_time"] for trace in chosen for step in trace["steps"])
    for axes, trace in zip(panels, chosen, strict=True):
        _sequence(axes, trace, crowded)
        axes.set_ylim(0, highest * 1.08)
        axes.yaxis.set_major_locator(MaxNLocator(integer=True, nbins=8, min_n_ticks=1))
    panels[-1].set_xlabel("input at each time step")
    handles = [Patch(color=style.MECHANISM_COLOUR["act"], label="ponder time N")]
    if any(_output(step)[1] for trace in chosen for step in trace["steps"]):
        handles.append(Patch(color=style.WRONG, label="wrong output (≠ its target)"))
    replica = f"{style.setting_symbol('act', chosen[0]['setting'])}, seed {chosen[0]['seed']}"
    layout.bottom_legend(figure, handles, 2, replica)
    return figure


def _sequence(axes: Axes, trace: Trace, crowded: bool) -> None:
    steps = trace["steps"]
    places = list(range(len(steps)))
    colour = style.MECHANISM_COLOUR[trace["mechanism"]]
    axes.bar(places, [step["ponder_time"] for step in steps], width=0.7, color=colour)
    size = 6.5 if crowded else 8.0
    asked = next((i for i, step in enumerate(steps) if not step["input"]), len(steps))
    labels = [step["input"] if place < asked else ordinal(place - asked + 1)
              for place, step in enumerate(steps)]  # fmt: skip
    axes.set_xticks(places, labels, fontsize=size, rotation=90 if crowded else 0)
    if asked < len(steps):
        axes.axvline(asked - 0.5, color=style.GREY, ls=":", lw=1.0)
    axes.tick_params(axis="x", length=0)
    axes.set(ylabel="ponder", xlim=(-0.6, len(steps) - 0.4))
    outputs = [_output(step) for step in steps]
    texts = layout.row_above(axes, "output", places, [text for text, _ in outputs], size)
    for text, (_, wrong) in zip(texts, outputs, strict=True):
        text.set_color(style.WRONG if wrong else style.INK)


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, ..."""
    endings = {1: "st", 2: "nd", 3: "rd"} if number % 100 not in (11, 12, 13) else {}
    return f"{number}{endings.get(number % 10, 'th')}"


def _output(step: Trace) -> tuple[str, bool]:
    """The output of a time step, empty where none is asked for, and whether it is wrong."""
    if not step["target"]:
        return "", False
    wrong = step["prediction"] != step["target"]
    prediction = step["prediction"] or "-"
    return (f"{prediction}\n≠{step['target']}" if wrong else prediction), wrong


def _crowded(trace: Trace) -> bool:
    """Whether the labels of a sequence, side by side, would touch."""
    longest = max((len(step["input"]) for step in trace["steps"]), default=0)
    return (longest + 1) * len(trace["steps"]) > 50
