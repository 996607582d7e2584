"""Learning curves, and final error against ponder: Graves 2016, Figs. 5, 9, 13, 18 and 22."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse
from numpy.typing import NDArray

from pondering.report.figures import layout, scales, style
from pondering.report.figures.methods import counted
from pondering.results.results import Card, Results
from pondering.results.tables import headline, per_seed, per_setting, plain

FLOOR = 1e-3
"""Lowest error of a logarithmic axis; an error of 0 is drawn there."""

MOST_POINTS = 120
"""Points of one faint line; more would enlarge the file and show nothing new."""

PLAIN = style.name_of("plain")

CAPTION = (
    "Above, error in training: faint lines are seeds, bold lines medians. Below, final error "
    "against mean steps: large points are means, ellipses one standard error."
)


def draw(results: Results, experiment: str) -> Figure | None:
    """Learning curves above; below, final error against ponder with ellipses of standard error.

    Args:
        results: the results of one profile.
        experiment: whose curves and table.

    Returns:
        The figure: above, faint lines are seeds and bold lines medians, shares on a logarithmic
        axis; below, small points are seeds, large ones means (in bits those of seeds that did not
        diverge), the half axes of an ellipse the standard errors, the dotted line the plain
        network; shares that lie far apart on a logarithmic axis too, and steps double from tick to
        tick where a seed took many. None without rows of ACT.
    """
    curves, rows = results.curves_of(experiment), headline(results.tables[experiment])
    settings = sorted(rows.loc[rows["mechanism"] == "act", "setting"].unique().tolist())
    if not settings:
        return None
    card = results.cards[experiment]
    styles = style.line_styles(settings)
    shown = style.spread(settings, style.MOST_LINES)
    figure, (upper, lower) = layout.new_figure([2.3, 2.4])
    if curves["mechanism"].isin(["repeat", "act"]).any():
        _learning(upper, curves, card, {value: styles[value] for value in shown})
    upper.set(xlabel="updates", ylabel=card.in_training)
    scales.large_counts(upper)
    if card.is_share:
        scales.share_log_axis(upper)
    seeds = counted(per_seed(rows), card)
    means = per_setting(seeds)
    drawn = pd.concat([means[means["mechanism"] == "act"], plain(means)])
    apart = card.is_share and scales.far_apart(drawn["error"])
    _error_against_ponder(lower, seeds, means, styles, FLOOR if apart else 0.0)
    if apart:
        scales.share_log_axis(lower)
    elif card.is_share:
        scales.from_zero(lower)
    lower.set(xlabel="ponder: mean steps per input", ylabel=card.unit)
    handles = [
        Line2D([], [], color=styles[s]["color"], marker=styles[s]["marker"], markersize=5,
               label=style.setting_symbol("act", s))
        for s in shown
    ]  # fmt: skip
    if len(plain(curves)) or len(plain(rows)):
        handles.append(Line2D([], [], color=style.INK, ls=":", label=PLAIN))
    layout.bottom_legend(figure, handles, 3, subset_note(shown, settings))
    return figure


def subset_note(shown: Sequence[float], settings: Sequence[float]) -> str:
    """That not all settings are drawn, for the title of a legend; empty where they are."""
    return f"{len(shown)} of {len(settings)} settings" if len(shown) < len(settings) else ""


def _learning(
    axes: Axes, curves: pd.DataFrame, card: Card, styles: dict[float, dict[str, Any]]
) -> None:
    """Faint seeds and bold medians of each setting, and the median of the plain network.

    No single lost seed moves a median.
    """
    failure, lowest = card.worst_error, FLOOR if card.is_share else 0.0
    for setting, look in styles.items():
        group = curves[(curves["mechanism"] == "act") & (curves["setting"] == setting)]
        for x, y in seed_lines(group):
            axes.plot(x, np.maximum(y, lowest), color=look["color"], lw=0.5, alpha=0.3)
        middle = errors_by_update(group, failure).median(axis=1)
        axes.plot(middle.index, np.maximum(middle, lowest), color=look["color"], lw=1.3)
    if len(plain(curves)):
        middle = errors_by_update(plain(curves), failure).median(axis=1)
        axes.plot(middle.index, np.maximum(middle, lowest), color=style.INK, lw=1.5, ls=":",
                  zorder=5)  # fmt: skip


def _error_against_ponder(
    axes: Axes,
    seeds: pd.DataFrame,
    means: pd.DataFrame,
    styles: dict[float, dict[str, Any]],
    lowest: float,
) -> None:
    for row in means[means["mechanism"] == "act"].itertuples():
        look = styles[float(row.setting)]
        group = seeds[(seeds["mechanism"] == "act") & (seeds["setting"] == row.setting)]
        errors = np.maximum(group["error"], lowest)
        axes.scatter(group["ponder_time"], errors, s=10, color=look["color"], alpha=0.55, lw=0)
        axes.plot(row.ponder_time, row.error, color=look["color"], marker=look["marker"], ms=7,
                  mec=style.INK, mew=0.7, ls="")  # fmt: skip
        if np.isfinite([row.ponder_se, row.error_se]).all():
            axes.add_patch(
                Ellipse((row.ponder_time, row.error), 2 * row.ponder_se, 2 * row.error_se,
                        fc=look["color"], ec=look["color"], alpha=0.25)
            )  # fmt: skip
    level = plain(means)
    if len(level):
        axes.axhline(float(level["error"].iloc[0]), color=style.INK, lw=1.3, ls=":")
    scales.steps_axis(axes, float(seeds.loc[seeds["mechanism"] == "act", "ponder_time"].max()))


def errors_by_update(curves: pd.DataFrame, failure: float) -> pd.DataFrame:
    """Errors of the seeds of one setting side by side.

    Args:
        curves: training curves of one mechanism and setting; NaN errors mean the replica diverged.
        failure: the error a diverged replica has from then on.

    Returns:
        Indexed by update, one column per seed. A replica that stopped early keeps its last error.
    """
    filled = curves.assign(error=curves["error"].fillna(failure))
    wide = filled.pivot_table(index="update", columns="seed", values="error", aggfunc="last")
    return wide.ffill()


def seed_lines(
    curves: pd.DataFrame, across: str = "update", value: str = "error"
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """The thinned line of each seed of one setting, without the rows after it diverged."""
    for _, curve in curves.groupby("seed", sort=True):
        line = curve.sort_values("update")[[across, value]].dropna()
        thinned = line.iloc[:: max(1, -(-len(line) // MOST_POINTS))]
        yield thinned[across].to_numpy(dtype=float), thinned[value].to_numpy(dtype=float)
