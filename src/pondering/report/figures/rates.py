"""What a search of the learning rate found: learning curves by rate, for each setting."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pondering.report.figures import style
from pondering.report.figures.shapes.curves import errors_by_update

PANEL = 1.9
"""Inches of height."""


def figure_rates(rows: pd.DataFrame, what: str, unit: str, worst_error: float) -> Figure:
    """Training error against updates: a panel for each setting, a colour for each rate.

    Args:
        rows: the table of a search: experiment, mechanism, seed, learning_rate, setting, update,
            error; one experiment and one mechanism.
        what: the task's size, to stand below the title.
        unit: of an error.
        worst_error: of a diverged replica.

    Returns:
        Every seed as a line, and over several their mean as a heavy one; a diverged replica has
        the error of a failure from then on.
    """
    experiment, mechanism = str(rows["experiment"].iloc[0]), str(rows["mechanism"].iloc[0])
    found = sorted(rows["setting"].unique())
    looks = style.line_styles(sorted(rows["learning_rate"].unique()))
    with style.style():
        figure, panels = style.new_figure([PANEL] * len(found), sharex=True, sharey=True)
        for axes, setting in zip(panels, found, strict=True):
            for rate, look in looks.items():
                own = rows[(rows["setting"] == setting) & (rows["learning_rate"] == rate)]
                wide = errors_by_update(own, worst_error)
                alone = wide.shape[1] == 1
                axes.plot(
                    wide.index, wide, color=look.colour, lw=1.6 if alone else 0.8,
                    alpha=1 if alone else 0.5,
                )  # fmt: skip
                if not alone:
                    axes.plot(wide.index, wide.mean(axis=1), color=look.colour, lw=2.0)
            name = style.setting_name(mechanism, setting)
            axes.set(title=name, ylabel=f"{unit}\nin training")
            axes.set_ylim(0, None)
        panels[-1].set_xlabel("updates")
        style.large_counts(panels[-1])
        handles = [
            Line2D([], [], color=look.colour, label=f"learning rate {style.number(rate)}")
            for rate, look in looks.items()
        ]
        style.bottom_legend(figure, handles, 3)
        title = style.MECHANISM_NAME[mechanism]
        title = title.lower() if mechanism == "repeat" else title
        name = f"{experiment.replace('_', ' ').capitalize()}, {title}"
        tried = "learning rates tried" if len(looks) > 1 else "learning curves"
        seeds = ", ".join(f"{seed:g}" for seed in sorted(rows["seed"].unique()))
        style.heading(figure, f"{name}: {tried}", f"{what}; seeds {seeds}")
    return figure
