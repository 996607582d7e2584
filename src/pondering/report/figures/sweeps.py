"""Two shapes many figures share: learning with ponder, and ponder with error by difficulty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Ellipse

from pondering.report.figures import style
from pondering.report.figures.bars import BITS, ERROR_RATE, IN_TRAINING
from pondering.report.figures.curves import errors_by_update, mean_line, seed_lines
from pondering.report.figures.methods import error, lines_by_difficulty, ponder
from pondering.report.figures.ticks import SQUEEZED, difficulty_axis, steps_axis
from pondering.results.aggregates import evaluated, failure_error, per_seed, per_setting, plain

PLAIN = style.MECHANISM_NAME["plain"]


def learning_and_ponder(
    curves: pd.DataFrame | None,
    table: pd.DataFrame | None,
    *,
    split: str = "test",
    unit: str = ERROR_RATE,
    mechanism: str = "act",
) -> Figure | None:
    """Learning curves above; below, final error against ponder with ellipses of standard error.

    Args:
        curves: training curves of one experiment, or None.
        table: its evaluation rows, or None.
        split: the split of the lower panel.
        unit: label of the error axes.
        mechanism: whose settings are shown, act or pondernet.

    Returns:
        The figure, axes linear, but that of steps doubles from tick to tick where a seed took many:
        above, faint lines are seeds and bold lines means; below, small points are seeds, large ones
        means, the half axes of an ellipse the standard errors, the dotted line the plain network.
        None without curves and rows.
    """
    chosen = None if curves is None else curves[curves["mechanism"].isin(["repeat", mechanism])]
    rows = None if table is None else evaluated(table, split=split)
    settings = _settings(mechanism, chosen, rows)
    if not settings:
        return None
    styles = style.line_styles(settings)
    shown = style.spread(settings, style.MOST_LINES)
    figure, (upper, lower) = style.new_figure([2.3, 2.4])
    if chosen is not None and len(chosen):
        _learning(upper, chosen, mechanism, {value: styles[value] for value in shown})
    lowest = None if unit == BITS else 0
    upper.set(xlabel="updates", ylabel=IN_TRAINING[unit], ylim=(lowest, None))
    style.large_counts(upper)
    if rows is not None and len(rows):
        _error_against_ponder(lower, per_seed(rows), mechanism, styles)
        if unit != BITS:
            style.from_zero(lower)
    lower.set(xlabel="ponder: mean steps per input", ylabel=unit)
    handles = [
        Line2D([], [], color=styles[s].colour, marker=styles[s].marker, markersize=5,
               label=style.setting_name(mechanism, s))
        for s in shown
    ]  # fmt: skip
    if any(source is not None and len(plain(source)) for source in (chosen, rows)):
        handles.append(Line2D([], [], color=style.INK, ls=":", label=PLAIN))
    style.bottom_legend(figure, handles, 3, _subset_note(shown, settings))
    return figure


def by_difficulty(
    table: pd.DataFrame | None,
    *,
    label: str,
    split: str = "test",
    unit: str = ERROR_RATE,
    mechanism: str = "act",
) -> Figure | None:
    """Ponder above and error below against difficulty, one line per setting and the plain network.

    Args:
        table: evaluation rows of one experiment.
        label: what difficulty is, the label of the shared axis.
        split: the split shown.
        unit: label of the error axis.
        mechanism: whose settings are shown.

    Returns:
        The figure, axes linear: lines are means over seeds, bands one standard error either side.
        None without rows.
    """
    if table is None:
        return None
    rows = evaluated(table, split=split)
    settings = _settings(mechanism, None, rows)
    if rows.empty or not (settings or len(plain(rows))):
        return None
    styles, shown = style.line_styles(settings), style.spread(settings, style.MOST_LINES)
    figure, (upper, lower) = style.new_figure([2.2, 2.2], sharex=True)
    handles = []
    for setting in shown:
        own = rows[(rows["mechanism"] == mechanism) & (rows["setting"] == setting)]
        look = {"color": styles[setting].colour, "marker": styles[setting].marker}
        look["label"] = style.setting_name(mechanism, setting)
        lines_by_difficulty(upper, own, ponder, **look)
        handles.append(lines_by_difficulty(lower, own, error, **look))
    if len(plain(rows)):
        look = {"color": style.INK, "marker": "x", "ls": ":", "label": PLAIN}
        lines_by_difficulty(upper, plain(rows), ponder, **look)
        handles.append(lines_by_difficulty(lower, plain(rows), error, **look))
    upper.set_ylabel("ponder: steps per input")
    lower.set(xlabel=label, ylabel=unit, ylim=(0, None))
    highest = float(rows.loc[rows["mechanism"] == mechanism, "ponder_time"].max())
    if not highest > SQUEEZED and upper.get_ylim()[0] > 0.5:
        upper.set_ylim(bottom=min(1.0, upper.get_ylim()[0]) - 0.1)
    steps_axis(upper, highest, "y")
    difficulty_axis(lower, float(rows["difficulty"].min()), float(rows["difficulty"].max()))
    style.bottom_legend(figure, handles, 3, _subset_note(shown, settings))
    return figure


def _settings(
    mechanism: str, curves: pd.DataFrame | None, rows: pd.DataFrame | None
) -> list[float]:
    """The settings of a mechanism in either source, sorted."""
    found: set[float] = set()
    for source in (curves, rows):
        if source is not None:
            found |= {float(s) for s in source.loc[source["mechanism"] == mechanism, "setting"]}
    return sorted(found)


def _subset_note(shown: Sequence[float], settings: Sequence[float]) -> str:
    return f"{len(shown)} of {len(settings)} settings" if len(shown) < len(settings) else ""


def _learning(
    axes: Axes, curves: pd.DataFrame, mechanism: str, styles: dict[float, style.LineStyle]
) -> None:
    """Faint seeds and bold means of each setting, and the mean of the plain network."""
    failure = failure_error(str(curves["experiment"].iloc[0]))
    for setting, look in styles.items():
        own = curves[(curves["mechanism"] == mechanism) & (curves["setting"] == setting)]
        for x, y in seed_lines(own):
            axes.plot(x, y, color=look.colour, lw=0.5, alpha=0.3)
        updates, mean = mean_line(errors_by_update(own, failure))
        axes.plot(updates, mean, color=look.colour, lw=1.3)
    if len(plain(curves)):
        updates, mean = mean_line(errors_by_update(plain(curves), failure))
        axes.plot(updates, mean, color=style.INK, lw=1.5, ls=":", zorder=5)


def _error_against_ponder(
    axes: Axes, seeds: pd.DataFrame, mechanism: str, styles: dict[float, style.LineStyle]
) -> None:
    means = per_setting(seeds)
    drawn = seeds.loc[seeds["mechanism"] == mechanism, "ponder_time"]
    for row in means[means["mechanism"] == mechanism].itertuples():
        look = styles[float(row.setting)]
        own = seeds[(seeds["mechanism"] == mechanism) & (seeds["setting"] == row.setting)]
        axes.scatter(own["ponder_time"], own["error"], s=10, color=look.colour, alpha=0.55, lw=0)
        axes.plot(row.ponder_time, row.error, color=look.colour, marker=look.marker, ms=7,
                  mec=style.INK, mew=0.7, ls="")  # fmt: skip
        if np.isfinite([row.ponder_se, row.error_se]).all():
            axes.add_patch(
                Ellipse((row.ponder_time, row.error), 2 * row.ponder_se, 2 * row.error_se,
                        fc=look.colour, ec=look.colour, alpha=0.25)
            )  # fmt: skip
    level = plain(means)
    if len(level):
        axes.axhline(float(level["error"].iloc[0]), color=style.INK, lw=1.3, ls=":")
    steps_axis(axes, float(drawn.max()))
