"""Single sequences: ponder at every step of time, with the input and the output along the axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from pondering.report.figures import style

Trace = dict[str, Any]


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
        The figure, axes linear; an output that differs from its target is set in purple with
        the target beside it. None without such a trace.
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
    colour = style.MECHANISM_COLOUR[chosen[0]["mechanism"]]
    handles = [Patch(color=colour, label="ponder time N")]
    if any(_output(step)[1] for trace in chosen for step in trace["steps"]):
        handles.append(Patch(color=style.WRONG, label="wrong output (≠ its target)"))
    style.bottom_legend(figure, handles, 2, replica_name(chosen[0]))
    return figure


def _sequence(axes: Axes, trace: Trace, crowded: bool) -> None:
    steps = trace["steps"]
    places = list(range(len(steps)))
    colour = style.MECHANISM_COLOUR[trace["mechanism"]]
    axes.bar(places, [step["ponder_time"] for step in steps], width=0.7, color=colour)
    size = 6.5 if crowded else 8.0
    axes.set_xticks(places, [step["input"] for step in steps], fontsize=size,
                    rotation=90 if crowded else 0)  # fmt: skip
    axes.tick_params(axis="x", length=0)
    axes.set(ylabel="ponder", xlim=(-0.6, len(steps) - 0.4))
    outputs = [_output(step) for step in steps]
    texts = style.row_above(axes, "output", places, [text for text, _ in outputs], size)
    for text, (_, wrong) in zip(texts, outputs, strict=True):
        text.set_color(style.WRONG if wrong else style.INK)


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


def replica_name(trace: Trace) -> str:
    """Setting and seed of a trace, for the title of a legend."""
    return f"{style.setting_name(trace['mechanism'], trace['setting'])}, seed {trace['seed']}"
