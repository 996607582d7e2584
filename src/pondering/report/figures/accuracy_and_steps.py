"""Methods side by side at their best settings: Banino 2021, Figs. 1a and 1b."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pondering.report.figures import paper, style
from pondering.report.figures.shapes.methods import (
    BEST,
    COMPARED,
    TRAINED_FOR_IT,
    bars_with_seeds,
    best_methods,
)
from pondering.report.figures.shapes.training_length import unequal_training
from pondering.results.results import Results
from pondering.results.statistics import mean_interval, solve_rate
from pondering.results.tables import evaluated, per_seed

RANGES = {"interpolation": "trained range", "extrapolation": "beyond it"}


def draw(results: Results, experiment: str, splits: Sequence[str]) -> Figure | None:
    """Bars of accuracy above and ponder steps below, for each method at its best setting.

    Args:
        results: the results of one profile.
        experiment: whose table.
        splits: the splits shown side by side; the first one chooses the settings.

    Returns:
        The figure: bars are means over seeds, whiskers 95% intervals (Student), points seeds, and
        above each bar how many seeds solved it, hollow markers the paper's values. None without
        rows.
    """
    table = results.tables[experiment]
    by_split = {split: per_seed(evaluated(table, split=split)) for split in splits}
    methods = best_methods(by_split[splits[0]], COMPARED)
    if not methods:
        return None
    figure, (upper, lower) = style.new_figure([2.3, 2.0], sharex=True)
    width = 0.64 / len(splits)
    notes: list[tuple[float, str]] = []
    for index, method in enumerate(methods):
        for position, split in enumerate(splits):
            place = index + (position - (len(splits) - 1) / 2) * width * 1.1
            own, colour = method.of(by_split[split]), style.MECHANISM_COLOUR[method.name]
            if own.empty:
                continue
            look: dict[str, Any] = {"colour": colour, "width": width, "hollow": position > 0}
            bars_with_seeds(upper, place, 1 - own["error"], limits=(0, 1), **look)
            bars_with_seeds(lower, place, own["ponder_time"], limits=(1, math.inf), **look)
            solved = solve_rate(own["error"].to_numpy())
            note = f"{round(solved.estimate * solved.count)}/{solved.count}"
            notes.append((place, note))
            shown = paper.ACCURACY_AND_STEPS.get(split, {}).get(method.name)
            if shown is not None:
                _of_the_paper(upper, lower, place + 0.35 * width, shown)
    style.row_above(upper, "error<5%", [at for at, _ in notes], [text for _, text in notes], 8.0)
    upper.axhline(0.5, color=style.INK, ls=":", lw=1.2)
    upper.set(ylabel="accuracy", ylim=(0, 1.03), yticks=[0, 0.25, 0.5, 0.75, 1.0])
    lower.set(ylabel="ponder steps")
    lower.set_xticks(range(len(methods)), [method.label for method in methods])
    lower.set_xlim(-0.6, len(methods) - 0.4)
    handles: list[Line2D | Patch] = [Line2D([], [], color=style.INK, ls=":", label="chance")]
    if len(splits) > 1:
        handles += _split_handles(splits)
    handles.append(Line2D([], [], **style.HOLLOW, label="paper"))
    style.bottom_legend(figure, handles, 3)
    return figure


def words(results: Results, experiment: str, splits: Sequence[str]) -> str:
    """Accuracy, its 95% interval, steps and solve rate of each method at its best setting."""
    table = results.tables[experiment]
    by_split = {split: per_seed(evaluated(table, split=split)) for split in splits}
    parts = []
    for split, seeds in by_split.items():
        told = [
            f"{method.legend}: {_accuracy(own)}, {style.in_steps(own['ponder_time'].mean())}"
            for method in best_methods(by_split[splits[0]], COMPARED)
            if len(own := method.of(seeds))
        ]
        if told:
            where = RANGES.get(split, split)
            where = f"in the {where}" if split == splits[0] else where
            parts.append(f"{where}, {'; '.join(told)}")
    if len(splits) == 1:
        parts = [part.partition(", ")[2] for part in parts]
    return f"{'. '.join(part[:1].upper() + part[1:] for part in parts)}." if parts else ""


def caption(results: Results, experiment: str, splits: Sequence[str]) -> str:
    """What is drawn, and whether the mechanisms were trained equally long."""
    drawn = paper.ACCURACY_AND_STEPS.get(splits[-1], {}).values()
    spread = "; dotted through it the spread of its steps" if any(p.spread for p in drawn) else ""
    hatched = (
        "Filled: difficulties in the trained range, by which settings are chosen; hatched: beyond "
        "it. "
    )
    return (
        f"Bars: mean over seeds, {BEST}; whiskers: 95% intervals (Student); points: seeds; above "
        "the bars the number of seeds with an error below 5%. Halting is sampled in PonderNet. "
        f"{paper.hollow(experiment, more=spread)} "
        f"{hatched if len(splits) > 1 else ''}"
        f"{unequal_training(results, (experiment,), TRAINED_FOR_IT)}"
    )


def _of_the_paper(upper: Axes, lower: Axes, place: float, shown: paper.Point) -> None:
    """Hollow markers at the paper's accuracy and steps, with the spread where it tells one."""
    upper.plot(place, shown.accuracy, **style.HOLLOW)
    lower.plot(place, shown.steps, **style.HOLLOW)
    if shown.spread is not None:
        lower.vlines(place, *shown.spread, color=style.INK, lw=1.0, ls=":", zorder=5)


def _accuracy(own: pd.DataFrame) -> str:
    """Mean accuracy over seeds, its interval where there is one, and how many solved the task."""
    found = mean_interval(1 - own["error"]).within(0, 1)
    solved = solve_rate(own["error"].to_numpy())
    return (
        f"accuracy {style.with_interval(found, of_shares=True)}, error below 5% in "
        f"{round(solved.estimate * solved.count)} of {solved.count} seeds"
    )


def _split_handles(splits: Sequence[str]) -> list[Line2D | Patch]:
    filled = Patch(color=style.GREY, alpha=0.75, label=RANGES.get(splits[0], splits[0]))
    hollow = Patch(fc=style.PAPER, ec=style.GREY, hatch="////",
                   label=RANGES.get(splits[1], splits[1]))  # fmt: skip
    return [filled, hollow]
