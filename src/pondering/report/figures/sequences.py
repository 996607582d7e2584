"""Ponder in single sequences: Graves 2016, Figs. 15 and 20."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from pondering.report.figures import style
from pondering.report.figures.shapes.traces import Trace, choose_traces, replica_name, setting_shown
from pondering.results.results import Results

MOST = 3
"""Sequences of one figure."""


def draw(results: Results, experiment: str, setting: float) -> Figure | None:
    """Ponder at every time step of a few sequences, input below and output above the bars.

    Args:
        results: the results of one profile.
        experiment: whose traces.
        setting: the paper's time penalty; the caption says whether it is shown.

    Returns:
        The figure, axes linear; an output that differs from its target is set in purple with
        the target beside it. None without such a trace.
    """
    chosen = choose_traces(results, experiment, "sequence")[:MOST]
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


def words(results: Results, experiment: str, setting: float) -> str:
    """The ponder times of the sequences shown."""
    chosen = choose_traces(results, experiment, "sequence")[:MOST]
    lists = [", ".join(f"{s['ponder_time']:.3g}" for s in trace["steps"]) for trace in chosen]
    if not lists:
        return ""
    tau = style.setting_symbol("act", chosen[0]["setting"])
    return f"Ponder at each time step, {tau}: {'; '.join(lists)}."


def caption(results: Results, experiment: str, setting: float) -> str:
    """What is drawn, of which time penalty and seed."""
    return (
        "Bars: steps at each time step of single sequences drawn as in training, inputs below and "
        "outputs above (purple where wrong); of the first seed, not the best one. "
        f"{setting_shown(results, experiment, 'sequence', setting)}"
    )


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
