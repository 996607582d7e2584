"""Accuracy of every seed by setting: Banino 2021, Figs. 2a and 2b."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pondering.params.replica import setting_text
from pondering.report.figures import layout, paper, style
from pondering.report.figures.methods import boxes
from pondering.results.results import Results
from pondering.results.statistics import SOLVED_ERROR, rate
from pondering.results.tables import headline, per_seed

LABELS = {"act": "time penalty τ", "pondernet": "prior λp"}

CAPTION = (
    "Above, accuracy: points are seeds, boxes their quartiles, hollow markers the paper's "
    "medians. Below, the share of seeds with an error below 5%, with Wilson's 95% interval."
)


def draw(results: Results, experiment: str, mechanism: str) -> Figure | None:
    """Boxes of accuracy over seeds by setting, and the share of seeds that solved the task.

    Args:
        results: the results of one profile.
        experiment: whose table.
        mechanism: act or pondernet.

    Returns:
        The figure: points are seeds, boxes their quartiles, whiskers at most 1.5 times as long,
        hollow markers the paper's medians, at its settings; below, solve rates with Wilson 95%
        intervals. None without rows.
    """
    table = results.tables[experiment]
    seeds = per_seed(headline(table))
    seeds = seeds[seeds["mechanism"] == mechanism]
    if seeds.empty:
        return None
    figure, (upper, lower) = layout.new_figure([2.6, 1.2], sharex=True)
    colour = style.MECHANISM_COLOUR[mechanism]
    medians = paper.MEDIANS[mechanism]
    ours = sorted(seeds["setting"].unique())
    settings = sorted({round(value, 9) for value in (*ours, *medians)})
    groups = [seeds.loc[seeds["setting"] == s, "error"].to_numpy() for s in ours]
    places = [settings.index(round(value, 9)) for value in ours]
    boxes(upper, [1 - errors for errors in groups], places, colour)
    upper.plot([settings.index(each) for each in medians], list(medians.values()),
               **(style.HOLLOW | {"ms": 5}))  # fmt: skip
    rates = [rate(errors < SOLVED_ERROR) for errors in groups]
    middle = np.array([each.estimate for each in rates])
    bounds = np.array([[r.estimate - r.low, r.high - r.estimate] for r in rates]).T
    lower.errorbar(places, middle, np.maximum(bounds, 0), fmt="o", color=colour, ms=5,
                   elinewidth=1.2, capsize=2)  # fmt: skip
    upper.axhline(0.5, color=style.INK, ls=":", lw=1.2)
    lowest = min(0.4, 1 - float(seeds["error"].max()))
    upper.set(ylabel="accuracy", ylim=(lowest - 0.03, 1.03))
    lower.set(ylabel="share with\nerror < 5%", xlabel=LABELS[mechanism], ylim=(-0.06, 1.06))
    labels = [setting_text(s) for s in settings]
    lower.set_xticks(range(len(settings)), labels)
    if len(settings) > 9:
        lower.tick_params(axis="x", rotation=90)
    handles: list[Line2D | Patch] = [
        Patch(color=colour, alpha=0.35, label="quartiles over seeds"),
        Line2D([], [], marker="o", ls="", ms=3, color=style.INK, label="one seed"),
        Line2D([], [], color=style.INK, ls=":", label="chance"),
        Line2D([], [], **(style.HOLLOW | {"ms": 5}), label="paper's median"),
    ]
    layout.bottom_legend(figure, handles, 2)
    return figure
