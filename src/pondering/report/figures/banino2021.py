"""The figures of Banino, Balaguer and Blundell 2021, "PonderNet: Learning to Ponder".

PonderNet is evaluated as in the paper, by sampling when to halt. All axes are linear.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pondering.report.figures import style
from pondering.report.figures.curves import accuracy_by_compute, first_end, seed_lines
from pondering.report.figures.methods import (
    ENOUGH_FOR_A_BOX,
    accuracy,
    bars_with_seeds,
    best_methods,
    boxes,
    ponder,
)
from pondering.results.aggregates import evaluated, per_seed
from pondering.results.results import Results
from pondering.results.statistics import solve_rate

COMPARED = ("plain", "act", "pondernet")


def figure_1a(results: Results) -> Figure | None:
    """Interpolation: accuracy and ponder, ACT against PonderNet. Source: Banino 2021, Fig. 1a."""
    table = results.tables.get("parity_interpolation")
    return accuracy_and_ponder(table, ("test",))


def figure_1b(results: Results) -> Figure | None:
    """Extrapolation: accuracy and ponder, ACT against PonderNet. Source: Banino 2021, Fig. 1b."""
    table = results.tables.get("parity_extrapolation")
    return accuracy_and_ponder(table, ("interpolation", "extrapolation"))


def figure_1c(results: Results) -> Figure | None:
    """Accuracy in training against forward passes spent. Source: Banino 2021, Fig. 1c."""
    table = results.tables.get("parity_interpolation")
    curves = results.curves.get("parity_interpolation")
    if table is None or curves is None:
        return None
    methods = best_methods(per_seed(evaluated(table, split="test")), COMPARED)
    methods = [method for method in methods if len(method.of(curves))]
    if not methods:
        return None
    figure, (axes,) = style.new_figure([2.7])
    handles = []
    for method in methods:
        own, colour = method.of(curves), style.MECHANISM_COLOUR[method.name]
        for x, y in seed_lines(own, "computed_steps"):
            axes.plot(x, 1 - y, color=colour, lw=0.6, alpha=0.3)
        dashes = {"plain": ":", "act": "--", "pondernet": "-"}[method.name]
        spent, mean = accuracy_by_compute(own)
        shown = spent <= first_end(own) * (1 + 1e-9)
        handles += axes.plot(spent[shown], mean[shown], color=colour, ls=dashes, lw=1.9,
                             label=method.legend)  # fmt: skip
    axes.set(xlabel="forward passes of the step function, all examples", ylabel="accuracy")
    axes.set_ylim(top=1.02)
    style.large_counts(axes)
    style.bottom_legend(figure, handles, 2)
    return figure


def figure_2a(results: Results) -> Figure | None:
    """ACT: accuracy over seeds by time penalty. Source: Banino 2021, Fig. 2a."""
    return accuracy_boxes(results.tables.get("parity_interpolation"), "act", "time penalty τ")


def figure_2b(results: Results) -> Figure | None:
    """PonderNet: accuracy over seeds by prior. Source: Banino 2021, Fig. 2b."""
    return accuracy_boxes(results.tables.get("parity_interpolation"), "pondernet", "prior λp")


def accuracy_and_ponder(table: pd.DataFrame | None, splits: Sequence[str]) -> Figure | None:
    """Bars of accuracy above and ponder steps below, for each method at its best setting.

    Args:
        table: evaluation rows of one experiment, or None.
        splits: the splits shown side by side; the first one chooses the settings.

    Returns:
        The figure: bars are means over seeds, whiskers bootstrap 95% intervals, points seeds, and
        above each bar how many seeds solved it. None without rows.
    """
    if table is None:
        return None
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
            style_of_bar = {"colour": colour, "width": width, "hollow": position > 0}
            bars_with_seeds(upper, place, accuracy(own), **style_of_bar)  # type: ignore[arg-type]
            bars_with_seeds(lower, place, ponder(own), **style_of_bar)  # type: ignore[arg-type]
            solved = solve_rate(own["error"].to_numpy())
            note = f"{round(solved.estimate * solved.count)}/{solved.count}"
            notes.append((place, note))
    style.row_above(upper, "error<5%", [at for at, _ in notes], [text for _, text in notes], 8.0)
    upper.axhline(0.5, color=style.INK, ls=":", lw=1.2)
    upper.set(ylabel="accuracy", ylim=(0, 1.03), yticks=[0, 0.25, 0.5, 0.75, 1.0])
    lower.set(ylabel="ponder steps")
    lower.set_xticks(range(len(methods)), [method.label for method in methods])
    lower.set_xlim(-0.6, len(methods) - 0.4)
    handles: list[Line2D | Patch] = [Line2D([], [], color=style.INK, ls=":", label="chance")]
    if len(splits) > 1:
        handles += _split_handles(splits)
    style.bottom_legend(figure, handles, 3)
    return figure


def accuracy_boxes(table: pd.DataFrame | None, mechanism: str, label: str) -> Figure | None:
    """Boxes of accuracy over seeds by setting, and the share of seeds that solved the task.

    Args:
        table: evaluation rows of parity_interpolation, or None.
        mechanism: act or pondernet.
        label: name of the setting, the label of the shared axis.

    Returns:
        The figure: points are seeds, boxes their quartiles, whiskers at most 1.5 times as long;
        below, solve rates with Wilson 95% intervals. None without rows.
    """
    if table is None:
        return None
    seeds = per_seed(evaluated(table, split="test"))
    seeds = seeds[seeds["mechanism"] == mechanism]
    if seeds.empty:
        return None
    figure, (upper, lower) = style.new_figure([2.6, 1.2], sharex=True)
    colour = style.MECHANISM_COLOUR[mechanism]
    settings = sorted(seeds["setting"].unique())
    groups = [seeds.loc[seeds["setting"] == s, "error"].to_numpy() for s in settings]
    places = list(range(len(settings)))
    boxes(upper, [1 - errors for errors in groups], places, colour)
    rates = [solve_rate(errors) for errors in groups]
    middle = np.array([rate.estimate for rate in rates])
    bounds = np.array([[r.estimate - r.low, r.high - r.estimate] for r in rates]).T
    lower.errorbar(places, middle, np.maximum(bounds, 0), fmt="o", color=colour, ms=5,
                   elinewidth=1.2, capsize=2)  # fmt: skip
    upper.axhline(0.5, color=style.INK, ls=":", lw=1.2)
    lowest = min(0.4, 1 - float(seeds["error"].max()))
    upper.set(ylabel="accuracy", ylim=(lowest - 0.03, 1.03))
    lower.set(ylabel="share with\nerror < 5%", xlabel=label, ylim=(-0.06, 1.06))
    labels = [style.number(s) for s in settings]
    shown = style.sparse(labels)
    lower.set_xticks([p for p, show in zip(places, shown, strict=True) if show],
                     [text for text, show in zip(labels, shown, strict=True) if show])  # fmt: skip
    if len(settings) > 9:
        lower.tick_params(axis="x", rotation=90)
    handles: list[Line2D | Patch] = [
        Line2D([], [], marker="o", ls="", ms=3, color=style.INK, label="one seed"),
        Line2D([], [], color=style.INK, ls=":", label="chance"),
    ]
    boxed = any(len(errors) >= ENOUGH_FOR_A_BOX for errors in groups)
    quartiles = Patch(color=colour, alpha=0.35, label="quartiles over seeds")
    handles.insert(0, quartiles if boxed else Line2D([], [], color=colour, label="median"))
    style.bottom_legend(figure, handles, 3)
    return figure


def _split_handles(splits: Sequence[str]) -> list[Line2D | Patch]:
    names = {"interpolation": "trained range", "extrapolation": "beyond it"}
    filled = Patch(color=style.GREY, alpha=0.75, label=names.get(splits[0], splits[0]))
    hollow = Patch(fc=style.PAPER, ec=style.GREY, hatch="////",
                   label=names.get(splits[1], splits[1]))  # fmt: skip
    return [filled, hollow]
