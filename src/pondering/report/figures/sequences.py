"""Ponder in single sequences: Graves 2016, Figs. 15 and 20."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from pondering.report.figures import style
from pondering.report.figures.shapes.traces import Trace, choose_traces, replica_name, setting_shown
from pondering.results.results import Results

MOST = 3
"""Sequences of one figure."""


SUMS = {"addition"}
"""Experiments whose sequences are chosen by the carries of their sums."""

TOLD = {
    "addition": "Numbers are read one a step, and from the second on the sum so far is asked for. "
    "Shown are the sequences with the most carries; where only steps were kept of them, the "
    "right sum stands in the output's place.",
    "sort": "First the numbers are read, one a step. Then, at 1st, 2nd and so on, the output is "
    "the place (0 is the first number read) of the smallest number, of the next larger and so on.",
}
"""Experiment -> what its positions are."""


def draw(results: Results, experiment: str, setting: float) -> Figure | None:
    """Ponder at every time step of a few sequences, input below and output above the bars.

    Args:
        results: the results of one profile.
        experiment: whose traces.
        setting: the paper's time penalty; the caption says whether it is shown.

    Returns:
        The figure, axes linear; an output that differs from its target is set in purple with
        the target beside it; a dotted line parts what is read from what is asked. None without such
        a trace.
    """
    chosen = shown(results, experiment)
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
    chosen = shown(results, experiment)
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
        f"{TOLD.get(experiment, '')} "
        f"{setting_shown(results, experiment, 'sequence', setting)}"
    )


def shown(results: Results, experiment: str) -> list[Trace]:
    """The sequences of a figure: the first that were traced, or those with the most carries.

    Carries are of the inputs alone. The many sequences of which only the steps were kept are among
    those to choose from, behind the same ones traced in full.
    """
    chosen = choose_traces(results, experiment, "sequence")
    if experiment not in SUMS or not chosen:
        return chosen[:MOST]
    many = choose_traces(results, experiment, "mixed")
    known = {read(trace) for trace in chosen}
    many = [trace for trace in many if trace["seed"] == chosen[0]["seed"]]
    chosen += [trace for trace in many if read(trace) not in known]
    return sorted(chosen, key=lambda trace: -carries(read(trace)))[:MOST]


def read(trace: Trace) -> tuple[str, ...]:
    """The inputs of a sequence."""
    return tuple(step["input"] for step in trace["steps"])


def carries(numbers: Sequence[str]) -> int:
    """The carries of a sum of decimal numbers, added one after the other."""
    total, found = 0, 0
    for number in map(int, numbers):
        place = 1
        while place <= max(total, number):
            place *= 10
            found += total % place + number % place >= place
        total += number
    return found


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
    name = "output" if "prediction" in steps[-1] else "right sum"
    texts = style.row_above(axes, name, places, [text for text, _ in outputs], size)
    for text, (_, wrong) in zip(texts, outputs, strict=True):
        text.set_color(style.WRONG if wrong else style.INK)


def ordinal(number: int) -> str:
    """1st, 2nd, 3rd, 4th, ..."""
    endings = {1: "st", 2: "nd", 3: "rd"} if number % 100 not in (11, 12, 13) else {}
    return f"{number}{endings.get(number % 10, 'th')}"


def _output(step: Trace) -> tuple[str, bool]:
    """The output of a time step, and whether it is wrong; else its target, empty without one."""
    if not step["target"] or "prediction" not in step:
        return step["target"], False
    wrong = step["prediction"] != step["target"]
    prediction = step["prediction"] or "-"
    return (f"{prediction}\n≠{step['target']}" if wrong else prediction), wrong


def _crowded(trace: Trace) -> bool:
    """Whether the labels of a sequence, side by side, would touch."""
    longest = max((len(step["input"]) for step in trace["steps"]), default=0)
    return (longest + 1) * len(trace["steps"]) > 50
