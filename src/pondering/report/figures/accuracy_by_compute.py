"""Accuracy in training against forward passes spent: Banino 2021, Fig. 1c."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pondering.report.figures import style
from pondering.report.figures.curves import accuracy_by_compute, last_points, seed_lines
from pondering.report.figures.methods import COMPARED, best_methods
from pondering.results.results import Results
from pondering.results.tables import headline, per_seed

METHODS = (*COMPARED, "pondernet[epsilon=0.05]")
"""The last, where it was trained, stops in training too: B3 is judged by it."""

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
    table, curves = results.tables[experiment], results.curves.get(experiment)
    if curves is None:
        return None
    methods = best_methods(per_seed(headline(table)), METHODS)
    methods = [method for method in methods if len(method.of(curves))]
    if not methods:
        return None
    figure, (axes,) = style.new_figure([2.7])
    handles = []
    for method in methods:
        own = method.of(curves)
        colour = style.SKY if method.name == METHODS[-1] else method.look["color"]
        for x, y in seed_lines(own, "computed_steps"):
            axes.plot(x, 1 - y, color=colour, lw=0.6, alpha=0.3)
        handles += axes.plot(*accuracy_by_compute(own), color=colour, ls=DASHES[method.name],
                             lw=1.9, label=method.legend)  # fmt: skip
        ends, reached = last_points(own)
        axes.plot(ends, reached, ls="", marker="|", ms=9, mew=1.6, color=colour)
    handles.append(Line2D([], [], ls="", marker="|", ms=9, mew=1.6, color=style.GREY,
                          label="a seed's training ends"))  # fmt: skip
    axes.set(xlabel="forward passes of the step function, all examples", ylabel="accuracy")
    axes.set_ylim(top=1.02)
    style.large_counts(axes)
    style.bottom_legend(figure, handles, 2)
    return figure
