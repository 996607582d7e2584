"""Figures the papers do not have: what they leave open, and their methods on common ground."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from pondering.report.figures import style
from pondering.report.figures.bars import BITS, ERROR_RATE, IN_TRAINING
from pondering.report.figures.curves import errors_by_update, mean_line
from pondering.report.figures.labels import name_points
from pondering.report.figures.methods import (
    CHOOSING,
    ORDER,
    Method,
    best_methods,
    error,
    lines_by_difficulty,
    ponder,
)
from pondering.report.figures.ticks import difficulty_axis
from pondering.results.aggregates import evaluated, failure_error, per_seed, per_setting
from pondering.results.results import Results

LAYOUTS = {"parity": "leading", "parity_scattered": "scattered"}
GRAVES_TASKS = ("parity", "logic", "addition", "sort", "wikipedia")
PLAIN_LABEL = "plain"
FOJO_SOLVED = 0.02
"""Solved at 98% accuracy. Source: Fojo et al. 2018."""


def figure_layout(results: Results) -> Figure | None:
    """Parity with the nonzero elements leading or scattered: learning curves and difficulty.

    Each method at its best setting for each layout. None unless both layouts have rows.
    """
    tables = {name: results.tables.get(name) for name in LAYOUTS}
    if any(table is None for table in tables.values()):
        return None
    figure = Figure(figsize=(style.WIDTH, 4.6), layout="constrained")
    panels = figure.subplots(2, len(LAYOUTS), sharey="row")
    handles: dict[str, Line2D] = {}
    for (name, layout), (upper, lower) in zip(LAYOUTS.items(), panels.T, strict=True):
        table = tables[name]
        assert table is not None
        rows = evaluated(table, split="test")
        curves = results.curves.get(name)
        for method in best_methods(per_seed(rows), CHOOSING):
            if curves is not None and len(method.of(curves)):
                wide = errors_by_update(method.of(curves), failure_error(name))
                upper.plot(*mean_line(wide), color=method.look["color"], lw=1.7)
            lines_by_difficulty(lower, method.of(rows), error, **method.look)
            label = style.MECHANISM_NAME[method.name]
            handles[label] = Line2D([], [], **method.look, label=label)
        upper.set(title=layout, xlabel="updates")
        style.large_counts(upper, 4)
        lower.set(xlabel="nonzero bits")
        difficulty_axis(lower, float(rows["difficulty"].min()), float(rows["difficulty"].max()))
    # both rows share their vertical axes, so these are set once all is drawn
    panels[0, 0].set(ylabel=IN_TRAINING[ERROR_RATE], ylim=(0, None))
    panels[1, 0].set(ylabel=ERROR_RATE, ylim=(0, None))
    style.bottom_legend(figure, list(handles.values()), 3)
    return figure


def figure_repeat_parity(results: Results) -> Figure | None:
    """Parity: fixed repeat counts against ACT. Source: the question of Fojo et al. 2018."""
    return repeat_against_act(results, "parity")


def figure_repeat_addition(results: Results) -> Figure | None:
    """Addition: fixed repeat counts against ACT. Source: the question of Fojo et al. 2018."""
    return repeat_against_act(results, "addition")


def repeat_against_act(results: Results, experiment: str) -> Figure | None:
    """Final error against mean steps, and the update that first reached 98% accuracy.

    Args:
        results: the results of one profile.
        experiment: parity or addition.

    Returns:
        The figure: above, means with standard errors both ways; below, seeds as points and medians
        as bars, seeds that never solved it in the strip above. None without rows of ACT and of a
        repeat count above 1.
    """
    table, curves = results.tables.get(experiment), results.curves.get(experiment)
    if table is None:
        return None
    seeds = per_seed(evaluated(table, split="test"))
    repeats = seeds[(seeds["mechanism"] == "repeat") & (seeds["setting"] != 1)]
    if repeats.empty or seeds[seeds["mechanism"] == "act"].empty:
        return None
    figure, (upper, lower) = style.new_figure([2.3, 2.3])
    means = per_setting(seeds[seeds["mechanism"].isin(["repeat", "act"])])
    _error_against_steps(upper, means, label_settings=True)
    upper.set(xlabel="mean steps per input", ylabel=ERROR_RATE)
    if curves is not None:
        _solved_at(lower, curves, means)
    handles = [
        Line2D([], [], **Method(name, name, 1.0).look, ls="", label=style.MECHANISM_NAME[name])
        for name in ("plain", "repeat", "act")
    ]
    style.bottom_legend(figure, handles, 3)
    return figure


def updates_to_solve(curves: pd.DataFrame, threshold: float = FOJO_SOLVED) -> pd.DataFrame:
    """The first logged update of each replica at which its training error is below a threshold.

    Args:
        curves: training curves of one experiment.
        threshold: error below which the task counts as solved.

    Returns:
        Columns mechanism, setting, seed, update; NaN where the replica never got there.
    """
    keys = ["mechanism", "setting", "seed"]
    everyone = curves[keys].drop_duplicates()
    reached = curves[curves["error"] < threshold].groupby(keys, as_index=False)["update"].min()
    return everyone.merge(reached, on=keys, how="left").sort_values(keys, ignore_index=True)


def figure_extrapolation(results: Results) -> Figure | None:
    """Steps and error against nonzero elements, inside and beyond the trained range."""
    table = results.tables.get("parity_extrapolation")
    if table is None:
        return None
    inside = evaluated(table, split="interpolation")
    rows = pd.concat([inside, evaluated(table, split="extrapolation")])
    methods = best_methods(per_seed(inside), CHOOSING)
    if not methods:
        return None
    figure, (upper, lower) = style.new_figure([2.2, 2.2], sharex=True)
    handles: list[Line2D | Patch] = []
    for method in methods:
        lines_by_difficulty(upper, method.of(rows), ponder, **method.look)
        line = lines_by_difficulty(
            lower, method.of(rows), error, **method.look, label=method.legend
        )
        handles.append(line)
    edge = float(inside["difficulty"].max()) + 0.5
    for axes in (upper, lower):
        axes.axvspan(min(float(inside["difficulty"].min()) - 0.5, edge), edge, color=style.SKY,
                     alpha=0.15, lw=0, zorder=0)  # fmt: skip
    handles.append(Patch(color=style.SKY, alpha=0.3, label="trained range"))
    upper.set(ylabel="ponder steps")
    lower.set(xlabel="nonzero elements", ylabel=ERROR_RATE, ylim=(0, None))
    difficulty_axis(lower, float(rows["difficulty"].min()), float(rows["difficulty"].max()))
    style.bottom_legend(figure, handles, 2)
    return figure


def figure_pondernet(results: Results) -> Figure | None:
    """PonderNet on Graves's tasks: error against ponder, beside every other mechanism."""
    present = [
        name for name in GRAVES_TASKS
        if name in results.tables and (results.tables[name]["mechanism"] == "pondernet").any()
    ]  # fmt: skip
    if not present:
        return None
    columns = 2 if len(present) > 1 else 1
    rows = -(-len(present) // columns)
    figure = Figure(figsize=(style.WIDTH, 2.15 * rows), layout="constrained")
    cells = figure.subplots(rows, columns, squeeze=False).ravel()
    for axes, name in zip(cells, present, strict=False):
        split = "train" if name == "wikipedia" else "test"
        seeds = per_seed(evaluated(results.tables[name], split=split))
        _error_against_steps(axes, per_setting(seeds), label_settings=False)
        _expectations(axes, results.tables[name], split)
        if name != "wikipedia":
            style.from_zero(axes)
        axes.set(title=name.capitalize(), xlabel="mean steps per input")
        axes.set_ylabel(BITS if name == "wikipedia" else ERROR_RATE)
    for axes in cells[len(present) :]:
        axes.set_axis_off()
    handles = [
        Line2D([], [], **Method(name, name, 1.0).look, ls="", label=style.MECHANISM_NAME[name])
        for name in ORDER
    ]
    look = Method("pondernet", "pondernet", 1.0).look
    handles.append(Line2D([], [], **look, ls="", mfc="none", label="PonderNet, expectation"))
    style.bottom_legend(figure, handles, 2)
    return figure


def _error_against_steps(axes: Axes, means: pd.DataFrame, *, label_settings: bool) -> None:
    """One point a setting, standard errors both ways; labels only where they are few."""
    known = means.dropna(subset=["ponder_time"])
    for row in known.itertuples():
        name = "plain" if row.mechanism == "repeat" and row.setting == 1 else str(row.mechanism)
        axes.errorbar(
            row.ponder_time, row.error, xerr=_bar(row.ponder_se), yerr=_bar(row.error_se), ls="",
            **Method(name, name, 1.0).look, ms=6, elinewidth=1, capsize=0, mec=style.INK, mew=0.5,
            alpha=0.9,
        )  # fmt: skip
    axes.margins(x=0.12, y=0.15)
    if label_settings:
        style.from_zero(axes)
    if label_settings and len(known) <= 12:
        _name_settings(axes, known)


def _expectations(axes: Axes, table: pd.DataFrame, split: str) -> None:
    """Hollow circles where PonderNet's outputs are averaged under its halting distribution."""
    rows = evaluated(table, split=split, prediction="expected")
    means = per_setting(per_seed(rows[rows["mechanism"] == "pondernet"]))
    look = Method("pondernet", "pondernet", 1.0).look
    axes.plot(means["ponder_time"], means["error"], **look, ls="", ms=8, mfc="none")


def _name_settings(axes: Axes, known: pd.DataFrame) -> None:
    """Names every setting but the plain network, which the legend shows."""
    points, lines = [], []
    for row in known.sort_values("error").itertuples():
        x, y, name = float(row.ponder_time), float(row.error), _setting_label(row)
        points.append((x, y, "" if name == PLAIN_LABEL else name))
        wide, tall = (float(np.nan_to_num(v)) for v in (row.ponder_se, row.error_se))
        lines += [(x - wide, y, x + wide, y), (x, y - tall, x, y + tall)]
    name_points(axes, points, lines)


def _setting_label(row: Any) -> str:
    """A setting in a few signs: plain, times 2, tau 3e-3."""
    value = style.number(float(row.setting))
    if row.mechanism != "repeat":
        return f"{style.SYMBOL[row.mechanism]} {value}"
    return PLAIN_LABEL if row.setting == 1 else f"{style.TIMES}{value}"


def _solved_at(axes: Axes, curves: pd.DataFrame, means: pd.DataFrame) -> None:
    solved = updates_to_solve(curves[curves["mechanism"].isin(["repeat", "act"])])
    last = float(curves.loc[curves["mechanism"].isin(["repeat", "act"]), "update"].max())
    never = 1.14 * last
    # the plain network is the repeat count of 1 and so comes first
    act = sorted(means.loc[means["mechanism"] == "act", "setting"])
    drawn = means[(means["mechanism"] != "act")
                  | means["setting"].isin(style.spread(act, style.MOST_LINES))]  # fmt: skip
    order = drawn.sort_values(["mechanism", "setting"], ascending=[False, True])
    labels = []
    for place, row in enumerate(order.itertuples()):
        own = solved[(solved["mechanism"] == row.mechanism) & (solved["setting"] == row.setting)]
        name = "plain" if row.mechanism == "repeat" and row.setting == 1 else str(row.mechanism)
        look = Method(name, name, 1.0).look
        updates = own["update"].fillna(never).to_numpy()
        beside = place + (np.linspace(-0.2, 0.2, len(own)) if len(own) > 1 else np.zeros(len(own)))
        axes.plot(beside, updates, ls="", **look, ms=4.5 if len(own) <= 10 else 3, alpha=0.7, mew=0)
        if len(own) and np.median(updates) < never:
            axes.plot([place - 0.35, place + 0.35], [np.median(updates)] * 2, color=look["color"])
        labels.append(_setting_label(row))
    axes.axhspan(1.06 * last, 1.22 * last, color=style.GREY, alpha=0.12, lw=0, zorder=0)
    axes.annotate(f"not within {style.count(last)} updates", (1, 1.22 * last), (0, 2), ha="right",
                  xycoords=("axes fraction", "data"), textcoords="offset points", fontsize=7.5,
                  color=style.GREY)  # fmt: skip
    axes.set_xticks(range(len(labels)), labels, rotation=90 if len(labels) > 8 else 0)
    axes.set(ylabel="updates until 98% right\nin training", ylim=(0, 1.22 * last))
    ticks = MaxNLocator(nbins=5, steps=[1, 2, 2.5, 5, 10]).tick_values(0, last)
    kept = [tick for tick in ticks if 0 <= tick <= last]
    axes.set_yticks(kept, [style.count(tick) for tick in kept])
    axes.tick_params(axis="x", length=0)


def _bar(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
