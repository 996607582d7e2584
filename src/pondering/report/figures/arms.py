"""What a screen of recipes found: every network's error, arm by arm."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pondering.report.figures import style
from pondering.results.arms import last_errors, ranked

ROW = 0.34
"""Inches of height for an arm."""


def figure_arms(
    rows: pd.DataFrame, solved_below: float, worst_error: float, what: str, unit: str
) -> Figure:
    """A row for each arm, the best first, with a dot for each network.

    Args:
        rows: the screen's table: arm, mechanism, setting, seed, update, error.
        solved_below: the error below which a network counts as solved; a dashed line.
        worst_error: of a network that diverged.
        what: the task's size, to stand below the title.
        unit: of an error.
    """
    order, last = ranked(rows, solved_below, worst_error), last_errors(rows, worst_error)
    groups = list(last.groupby(["mechanism", "setting"], sort=True))
    looks = style.line_styles(list(range(len(groups))))
    with style.style():
        figure, (axes,) = style.new_figure([1.0 + ROW * len(order)])
        places = {arm: len(order) - number for number, arm in enumerate(order["arm"])}
        for ((mechanism, setting), own), (number, look) in zip(groups, looks.items(), strict=True):
            shift = 0.5 * ((number + 0.5) / len(groups) - 0.5)
            y = own["arm"].map(places).to_numpy(float) - shift
            name = style.setting_name(mechanism, setting)
            name = name if mechanism == "repeat" else f"{style.MECHANISM_NAME[mechanism]}, {name}"
            axes.plot(own["error"], y, look.marker, color=look.colour, ms=4, alpha=0.7, label=name)
        axes.axvline(solved_below, color="#999999", lw=1, ls="--")
        axes.set_yticks(list(places.values()), [
            f"{row.arm} ({row.solved} of {row.networks})" for row in order.itertuples()
        ])  # fmt: skip
        axes.set(xlabel=f"{unit}, in training", ylim=(0.4, len(order) + 0.6))
        axes.set_xlim(0, max(1.05 * float(np.max(last["error"])), 2 * solved_below))
        style.bottom_legend(figure, axes.get_legend_handles_labels()[0], 3)
        seeds = ", ".join(f"{seed:g}" for seed in sorted(last["seed"].unique()))
        style.heading(
            figure, "Recipes, and the networks that solve by them", f"{what}; seeds {seeds}"
        )
    return figure
