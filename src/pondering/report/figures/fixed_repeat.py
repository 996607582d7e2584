"""Fixed repeat counts against ACT, the question of Fojo et al. 2018.

On sequences they average losses and ponder over time where Graves adds them, so that their time
penalties are not on his scale.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

from pondering.params.mechanisms import MECHANISMS, is_plain
from pondering.params.replica import setting_text
from pondering.report.figures import layout, paper, scales, style
from pondering.report.figures.methods import Method, error_against_steps
from pondering.results.results import Results
from pondering.results.tables import headline, per_seed, per_setting

MOST_NAMES = 12
"""Settings from which on their names would cover each other."""

FOJO_SOLVED = 0.02
"""Solved at 98% accuracy. Source: Fojo et al. 2018."""

CAPTION = (
    "Above, final error against mean steps, with standard errors. Below, the first update "
    "with 98% right in training: points are seeds, bars medians, hollow markers Fojo et al. "
    "2018."
)


def draw(results: Results, experiment: str) -> Figure | None:
    """Final error against mean steps, and the update that first reached 98% accuracy.

    Args:
        results: the results of one profile.
        experiment: parity_fojo or addition.

    Returns:
        The figure: above, means with standard errors both ways, on a logarithmic axis where they
        lie far apart; below, on a logarithmic axis, seeds
        as points, medians as bars and the values of Fojo et al. as hollow markers; in the strip
        above, how many seeds never solved it. None without rows of ACT and of a repeat count above
        1.
    """
    curves, rows = (
        each[each["mechanism"].isin(["repeat", "act"])]
        for each in (results.curves_of(experiment), headline(results.tables[experiment]))
    )
    means = per_setting(per_seed(rows))
    repeats = means[(means["mechanism"] == "repeat") & (means["setting"] != 1)]
    if repeats.empty or means[means["mechanism"] == "act"].empty:
        return None
    figure, (upper, lower) = layout.new_figure([2.3, 2.3])
    error_against_steps(upper, means, {})
    if scales.far_apart(means["error"]):
        scales.share_log_axis(upper)
    else:
        scales.from_zero(upper)
    known = means.dropna(subset=["ponder_time"])
    if len(known) <= MOST_NAMES:
        _name_points(upper, known)
    upper.set(xlabel="mean steps per input", ylabel=results.cards[experiment].unit)
    if len(curves):
        _solved_at(lower, curves, means, paper.SOLVED_AT[experiment])
    handles = [
        Line2D([], [], **style.look_of(name), ls="", label=style.name_of(name))
        for name in ("plain", "repeat", "act")
    ]
    handles.append(Line2D([], [], **style.HOLLOW, label="Fojo et al."))
    layout.bottom_legend(figure, handles, 4)
    return figure


def updates_to_solve(curves: pd.DataFrame) -> pd.DataFrame:
    """The first logged update of each replica at which its training error is Fojo et al.'s.

    Args:
        curves: training curves of one experiment.

    Returns:
        Columns mechanism, setting, seed, update; NaN where the replica never got there.
    """
    keys = ["mechanism", "setting", "seed"]
    everyone = curves[keys].drop_duplicates()
    reached = curves[curves["error"] <= FOJO_SOLVED].groupby(keys, as_index=False)["update"].min()
    return everyone.merge(reached, on=keys, how="left").sort_values(keys, ignore_index=True)


def _name_points(axes: Axes, known: pd.DataFrame) -> None:
    """Names the points, from the lowest error on below at the left and above at the right in turn.

    The plain network has its name in the legend alone.
    """
    for place, row in enumerate(known.sort_values("error").itertuples()):
        name = _in_short(str(row.mechanism), float(row.setting))
        if name != "plain":
            (x, y), side = ((-6, -10), "right") if place % 2 == 0 else ((6, 4), "left")
            axes.annotate(name, (row.ponder_time, row.error), (x, y), ha=side, fontsize=7.5,
                          textcoords="offset points", zorder=6)  # fmt: skip


def _solved_at(
    axes: Axes,
    curves: pd.DataFrame,
    means: pd.DataFrame,
    theirs: Mapping[tuple[str, float], int | None],
) -> None:
    solved, last = updates_to_solve(curves), float(curves["update"].max())
    known = [solved["update"].min(), last, *(update for update in theirs.values() if update)]
    low, high = 0.7 * float(np.nanmin(known)), 1.15 * float(np.nanmax(known))
    ours_never, theirs_never, top = (high * (high / low) ** part for part in (0.08, 0.21, 0.28))
    # the plain network is the repeat count of 1 and so comes first
    act = sorted(means.loc[means["mechanism"] == "act", "setting"])
    drawn = means[(means["mechanism"] != "act")
                  | means["setting"].isin(style.spread(act, style.MOST_LINES))]  # fmt: skip
    ours = zip(drawn["mechanism"], drawn["setting"].round(9), strict=True)
    order = sorted({*ours, *theirs}, key=lambda each: (each[0] == "act", each[1]))
    for place, (mechanism, setting) in enumerate(order):
        seeds = solved[(solved["mechanism"] == mechanism) & np.isclose(solved["setting"], setting)]
        look = Method(mechanism, setting).look
        reached = seeds["update"].dropna()
        beside = layout.beside(place, seeds, 0.5)
        axes.plot(beside[seeds["update"].notna()], reached, ls="", **look, ms=3.5, alpha=0.7, mew=0)
        if len(seeds) and (median := seeds["update"].fillna(np.inf).median()) < np.inf:
            axes.plot([place - 0.35, place + 0.35], [median] * 2, color=look["color"])
        if len(reached) < len(seeds):
            axes.text(place, ours_never, f"{len(seeds) - len(reached)}/{len(seeds)}", fontsize=7,
                      ha="center", va="center")  # fmt: skip
        if (mechanism, setting) in theirs:
            update = theirs[mechanism, setting] or theirs_never
            axes.plot(place, update, **(style.HOLLOW | {"ms": 6}))
    axes.axhspan(high, top, color=style.GREY, alpha=0.12, lw=0, zorder=0)
    axes.annotate(f"seeds not within {scales.count(last)} updates", (1, 1), (0, 2), ha="right",
                  xycoords="axes fraction", textcoords="offset points", fontsize=7.5,
                  color=style.GREY)  # fmt: skip
    labels = [_in_short(*each) for each in order]
    axes.set_xticks(range(len(labels)), labels, rotation=90 if len(labels) > 8 else 0)
    axes.set(ylabel="updates until 98% right\nin training", yscale="log", ylim=(low, top))
    subs = (1, 2, 5) if high < 50 * low else (1,)
    ticks = LogLocator(subs=subs, numticks=12).tick_values(low, high)
    axes.yaxis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: scales.count(value)))
    axes.tick_params(axis="x", length=0)


def _in_short(mechanism: str, setting: float) -> str:
    """A setting beside a point: τ 0.001, times 3, plain."""
    if mechanism != "repeat":
        return f"{MECHANISMS[mechanism].symbol} {setting_text(setting)}"
    return "plain" if is_plain(mechanism, setting) else f"{style.TIMES}{setting_text(setting)}"
