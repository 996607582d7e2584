"""Accuracy in training against forward passes spent: Banino 2021, Fig. 1c."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from pondering.report.figures import layout, scales, style
from pondering.report.figures.learning import seed_lines
from pondering.report.figures.methods import COMPARED, best_methods
from pondering.results.results import Results
from pondering.results.tables import headline, per_seed

METHODS = (*COMPARED, "pondernet[epsilon=0.05]")
"""The last method, if it was trained, stops in training too; B3 is judged by it."""

CAPTION = (
    "Accuracy in training against the forward passes spent so far, each method at its best "
    "setting. Faint lines are seeds, bold lines their means."
)
DASHES = {"plain": ":", "act": "--", "pondernet": "-", METHODS[-1]: "-."}


def draw(results: Results, experiment: str) -> Figure | None:
    """Accuracy of each method at its best setting against the forward passes spent so far.

    A seed whose training has ended keeps its last accuracy. PonderNet computes all its N steps for
    every example; ACT, and PonderNet with an epsilon, compute steps until they halt.
    """
    table, curves = results.tables[experiment], results.curves_of(experiment)
    methods = best_methods(per_seed(headline(table)), METHODS)
    methods = [method for method in methods if len(method.of(curves))]
    if not methods:
        return None
    figure, (axes,) = layout.new_figure([2.7])
    handles = []
    for method in methods:
        curve = method.of(curves)
        colour = style.SKY if method.name == METHODS[-1] else method.look["color"]
        for x, y in seed_lines(curve, "computed_steps"):
            axes.plot(x, 1 - y, color=colour, lw=0.6, alpha=0.3)
        handles += axes.plot(*mean_accuracy(curve), color=colour, ls=DASHES[method.name],
                             lw=1.9, label=method.legend)  # fmt: skip
        ends, reached = last_points(curve)
        axes.plot(ends, reached, ls="", marker="|", ms=9, mew=1.6, color=colour)
    handles.append(Line2D([], [], ls="", marker="|", ms=9, mew=1.6, color=style.GREY,
                          label="a seed's training ends"))  # fmt: skip
    axes.set(xlabel="forward passes of the step function, all examples", ylabel="accuracy")
    axes.set_ylim(top=1.02)
    scales.large_counts(axes)
    layout.bottom_legend(figure, handles, 2)
    return figure


def last_points(curves: pd.DataFrame) -> tuple[list[float], list[float]]:
    """Forward passes and accuracy at the end of every seed of a setting that did not diverge."""
    ends = [curve.sort_values("update").iloc[-1] for _, curve in curves.groupby("seed", sort=True)]
    kept = [end for end in ends if end[["computed_steps", "error"]].notna().all()]
    return [float(end["computed_steps"]) for end in kept], [float(1 - end["error"]) for end in kept]


def mean_accuracy(
    curves: pd.DataFrame, points: int = 150
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean accuracy over the seeds of one setting against the forward passes spent so far.

    Args:
        curves: training curves of one mechanism and setting.
        points: length of the common grid of forward passes.

    Returns:
        Forward passes [points] and mean accuracy [points]. A replica that has ended keeps its last
        accuracy; one that diverged has accuracy 0 from there on.
    """
    lines, stillborn = [], 0
    for _, curve in curves.groupby("seed", sort=True):
        ordered = curve.sort_values("update")
        alive = ordered[["computed_steps", "error"]].notna().all(axis=1)
        line = ordered[alive]
        if line.empty:
            stillborn += 1
            continue
        after = float(1 - line["error"].iloc[-1]) if alive.all() else 0.0
        lines.append((line["computed_steps"].to_numpy(), 1 - line["error"].to_numpy(), after))
    if not lines:
        return np.empty(0), np.empty(0)
    grid = np.linspace(min(x[0] for x, _, _ in lines), max(x[-1] for x, _, _ in lines), points)
    rows = [np.interp(grid, x, y, right=after) for x, y, after in lines]
    return grid, np.sum(rows, axis=0) / (len(rows) + stillborn)
