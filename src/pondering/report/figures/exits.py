"""Every way to halt and every exit rule: accuracy against mean steps, a panel a mechanism."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pondering.params.mechanisms import MECHANISMS
from pondering.report.figures import layout, scales, style
from pondering.report.figures.methods import Method
from pondering.results.exits import (
    at_best_settings,
    best_fixed,
    error_at,
    fixed,
    point,
    with_curve,
    with_point,
)
from pondering.results.results import Results
from pondering.results.tables import headline, per_seed, per_setting

MARKERS = ("*", "P", "X", "d", "h", "p")
"""Of the rules without threshold, the oracle's first."""
POINTS_ON_A_CURVE = 80
CAPTION = (
    "Accuracy against mean steps: small rings are settings that halt by themselves, the rest "
    "the same networks under each exit rule. The oracle stops at the first step from which "
    "the answer stays right."
)


def draw(results: Results, experiment: str) -> Figure | None:
    """A panel a mechanism, with the same axes in all.

    Args:
        results: the results of one profile.
        experiment: whose table of exit rules.

    Returns:
        The figure: curves are means over seeds. Each network's thresholds are chosen on a
        validation set, at the mechanism's setting with the lowest mean error. Dotted: every input
        stops at step n; the circle is the n with the highest accuracy. A rule below that line's
        highest point so far gains nothing over a fixed step. Rules beat the oracle where networks
        lose right answers. None without a table of exit rules.
    """
    ruled = at_best_settings(results.exits.get(experiment), results.tables.get(experiment))
    if not ruled:
        return None
    means = per_setting(per_seed(headline(results.tables[experiment])))
    means = means.dropna(subset=["ponder_time"])  # diverged ones have no steps
    found = [each for each in MECHANISMS if each in ruled or (means["mechanism"] == each).any()]
    columns = min(len(found), 2)
    rows = -(-len(found) // columns)
    figure = Figure(figsize=(layout.WIDTH, 1.7 * rows + 1.4), layout="constrained")
    cells = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
    every = pd.concat(ruled.values())
    curves, points = with_curve(every), with_point(every)
    looks = dict(zip(curves, style.line_styles(range(len(curves))).values(), strict=True))
    markers = dict(zip(points, cycle(MARKERS), strict=False))
    taken = pd.concat([means["ponder_time"], every["ponder_time"].dropna()])
    most = float(taken.max()) if len(taken) else 1.0
    for axes, mechanism in zip(cells, found, strict=False):
        title = style.name_of(mechanism)
        if mechanism in ruled:
            _panel(axes, ruled[mechanism], looks, markers)
            title = Method(mechanism, float(ruled[mechanism]["setting"].iloc[0])).legend
        line = means[means["mechanism"] == mechanism].sort_values("ponder_time")
        axes.plot(line["ponder_time"], 1 - line["error"], "-o", color=style.INK, mfc=style.PAPER,
                  lw=0.8, ms=4.5, zorder=5)  # fmt: skip
        axes.set_title(title)
    for number, axes in enumerate(cells):
        if number >= len(found):
            axes.set_axis_off()
            continue
        scales.steps_axis(axes, most)
        if number % columns == 0:
            axes.set_ylabel("accuracy")
        if number >= len(found) - columns:
            axes.tick_params(labelbottom=True)
            axes.set_xlabel("mean steps")
    room = 0.06 * (1 - cells[0].get_ylim()[0])
    cells[0].set_ylim(cells[0].get_ylim()[0] - room, 1 + room)
    handles = [Line2D([], [], **look, label=rule) for rule, look in looks.items()]
    handles += [
        Line2D([], [], color=style.INK, marker=marker, ls="", label=rule)
        for rule, marker in markers.items()
    ]
    handles += [
        Line2D([], [], color=style.GREY, ls=":", marker="o", mfc=style.PAPER, ms=8,
               label="fixed n, best"),
        Line2D([], [], color=style.INK, marker="o", mfc=style.PAPER, lw=0.8, ms=4.5,
               label="by itself"),
    ]  # fmt: skip
    layout.bottom_legend(figure, handles, 3)
    return figure


def _panel(
    axes: Axes,
    rows: pd.DataFrame,
    looks: Mapping[str, Mapping[str, Any]],
    markers: Mapping[str, str],
) -> None:
    """The curves and points of one mechanism, the best fixed n under them."""
    depths = fixed(rows)
    axes.plot(depths.index, 1 - depths, ":", color=style.GREY, lw=1.4, zorder=1)
    best, error = best_fixed(rows, float("inf"))
    axes.plot(best, 1 - error, "o", color=style.GREY, mfc=style.PAPER, ms=8, zorder=1)
    most = float(depths.index.max()) if len(depths) else 1.0
    grid = np.geomspace(1, most, POINTS_ON_A_CURVE)
    for number, (rule, look) in enumerate(looks.items()):
        if (rows["rule"] == rule).any():
            axes.plot(grid, 1 - error_at(rows, rule, grid), **look,
                      lw=1.2, ms=3.5, markevery=(3 * number, 20))  # fmt: skip
    for rule, marker in markers.items():
        steps, error = point(rows, rule)
        axes.plot(steps, 1 - error, marker, color=style.INK, ms=6, zorder=4, mew=0)
