"""Bars of error by time penalty: Graves 2016, Figs. 4, 8, 12, 17 and 21."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pondering.params.replica import setting_text
from pondering.report.figures import layout, paper, style
from pondering.report.figures.methods import Method, counted
from pondering.results.results import Card, Results
from pondering.results.tables import evaluated, headline, per_seed, per_setting, plain, splits_of

VALUE, BOUND = "Paper", "Paper: at most"
"""Names of its hollow markers in the legend."""

CROWDED = 15
"""Bars from which on points and labels are thinned."""

CAPTION = (
    "Mean error over seeds by time penalty τ, with standard errors; points are seeds, hollow "
    "markers the paper's values."
)


@dataclass(frozen=True)
class Bar:
    """The mean over seeds of one method, plain, act or repeat, and where it stands."""

    x: float
    method: Method
    label: str
    error: float
    error_se: float


def draw(results: Results, experiment: str) -> Figure | None:
    """Bars of mean error by time penalty, of the plain network and by fixed repeat count.

    Args:
        results: the results of one profile.
        experiment: whose table; means of a second split of it are diamonds over the bars.

    Returns:
        The figure: bar heights are means over seeds, whiskers standard errors, points seeds, short
        lines medians, hollow markers the paper's values; axes linear. An error that is no share has
        no natural zero: its means are wide lines on an axis that begins where they do. It has no
        natural worst value either: diverged seeds are crosses at the edge, and not in its means.
        None without rows of ACT or the plain network.
    """
    table, card = results.tables[experiment], results.cards[experiment]
    seeds = per_seed(headline(table))
    seeds = seeds[seeds["mechanism"].isin(["repeat", "act"])]
    if seeds.empty:
        return None
    bars = _bars(per_setting(counted(seeds, card)))
    figure, (axes,) = layout.new_figure([2.7])
    for bar in bars:
        rows, colour = bar.method.of(seeds), style.MECHANISM_COLOUR[bar.method.name]
        if card.is_share:
            axes.bar(bar.x, bar.error, width=0.8, color=colour, alpha=0.75)
            _level(axes, bar.x, float(rows["error"].median()), color=style.INK, lw=1.0)
        else:
            _level(axes, bar.x, bar.error, color=colour, lw=4)
        _seed_points(axes, bar.x, rows, card, crowded=len(bars) > CROWDED)
    axes.errorbar(
        [bar.x for bar in bars], [bar.error for bar in bars], [bar.error_se for bar in bars],
        fmt="none", ecolor=style.INK, elinewidth=1.2, zorder=4,
        capsize=3 if len(bars) <= CROWDED else 1.5,
    )  # fmt: skip
    if len(bars) <= 9:
        form = ".1%" if card.is_share else ".2f"
        values = ["-" if np.isnan(bar.error) else f"{bar.error:{form}}" for bar in bars]
        layout.row_above(axes, "mean", [bar.x for bar in bars], values)
    handles = _bar_handles(bars, bool((seeds["status"] == "diverged").any()), card)
    for split in splits_of(table)[1:2]:
        handles += _second_means(axes, bars, counted(table, card), split, card)
    handles += _of_the_paper(axes, bars, paper.ERRORS.get(experiment))
    _bar_axes(axes, bars, card)
    layout.bottom_legend(figure, handles, 3)
    return figure


def _bars(means: pd.DataFrame) -> list[Bar]:
    """Bars from the left: plain network, time penalties ascending, repeat counts, with gaps."""
    groups = {
        "plain": plain(means),
        "act": means[means["mechanism"] == "act"],
        "repeat": means[(means["mechanism"] == "repeat") & (means["setting"] != 1)],
    }
    bars: list[Bar] = []
    x = 0.5
    for name, rows in groups.items():
        for row in rows.sort_values("setting").itertuples():
            label = setting_text(row.setting)
            label = {"plain": "plain", "act": label, "repeat": f"{style.TIMES}{label}"}[name]
            method = Method(row.mechanism, row.setting)
            bars.append(Bar(x, method, label, row.error, row.error_se))
            x += 2 if len(means) > CROWDED and name != "act" else 1  # or their labels would touch
        x += 0.5 if len(rows) else 0
    return bars


def _level(axes: Axes, x: float, value: float, **look: Any) -> None:
    """A level line as wide as a bar."""
    axes.plot([x - 0.4, x + 0.4], [value] * 2, solid_capstyle="butt", **look)


def _seed_points(axes: Axes, x: float, rows: pd.DataFrame, card: Card, *, crowded: bool) -> None:
    """The seeds of one bar, side by side in the order of their number."""
    places = layout.beside(x, rows, 0.5)
    diverged = (rows["status"] == "diverged").to_numpy()
    error = rows["error"].to_numpy()
    axes.scatter(places[~diverged], error[~diverged], s=3 if crowded else 9, color=style.INK,
                 alpha=0.35 if crowded else 0.65, lw=0, zorder=3)  # fmt: skip
    at_edge = axes.transData if card.is_share else axes.get_xaxis_transform()
    axes.scatter(places[diverged], np.minimum(error[diverged], 1), s=16, marker="x", lw=1,
                 color=style.INK, zorder=3, transform=at_edge, clip_on=False)  # fmt: skip


def _bar_handles(bars: Sequence[Bar], diverged: bool, card: Card) -> list[Any]:
    handles: list[Any] = [
        Patch(color=style.MECHANISM_COLOUR[name], alpha=0.75,
              label=style.name_of(name) + (", by τ" if name == "act" else ""))
        for name in dict.fromkeys(bar.method.name for bar in bars)
    ]  # fmt: skip
    dot: dict[str, Any] = {"ls": "", "color": style.INK}
    handles.append(Line2D([], [], marker="o", markersize=3, alpha=0.65, label="One seed", **dot))
    if diverged:
        label = "Diverged seed" if card.is_share else "Diverged seed, not in the mean"
        handles.append(Line2D([], [], marker="x", label=label, **dot))
    return handles


def _second_means(
    axes: Axes, bars: Sequence[Bar], table: pd.DataFrame, split: str, card: Card
) -> list[Any]:
    """Diamonds at the means of another split; their legend entry, or nothing without rows."""
    means = per_setting(per_seed(evaluated(table, split=split)))
    value = {Method(row.mechanism, row.setting): row.error for row in means.itertuples()}
    there = [bar for bar in bars if bar.method in value]
    if not there:
        return []
    return axes.plot(
        [bar.x for bar in there], [value[bar.method] for bar in there],
        label=card.splits[split].capitalize(), zorder=5, marker="D", ls="", mfc=style.PAPER,
        mec=style.INK, ms=5 if len(bars) <= CROWDED else 2.5,
    )  # fmt: skip


def _of_the_paper(axes: Axes, bars: Sequence[Bar], shown: paper.Errors | None) -> list[Any]:
    """Hollow markers at what the paper has for a bar; a legend entry for each kind."""
    act = [bar for bar in bars if bar.method.name == "act"]
    if shown is None:
        return []
    values = {bar.x: shown.plain for bar in bars if bar.method.name == "plain"}
    values |= {bar.x: shown.small for bar in act if 0 < bar.method.setting <= shown.most}
    if shown.best is not None and act:
        values[min(act, key=lambda bar: bar.error).x] = shown.best
    look = style.HOLLOW | ({} if len(bars) <= CROWDED else {"ms": 4})
    kinds = {}
    for x, value in values.items():
        if value is not None:
            below = shown.is_bound and value == shown.small
            kind = {"marker": "v", "label": BOUND} if below else {"label": VALUE}
            axes.plot(x, value, **(look | kind), clip_on=False)
            kinds[kind["label"]] = Line2D([], [], **(style.HOLLOW | kind))
    return list(kinds.values())


def _bar_axes(axes: Axes, bars: Sequence[Bar], card: Card) -> None:
    axes.set(ylabel=card.unit, xlabel="time penalty τ")
    if card.is_share:
        axes.set_ylim(bottom=0)
    # of many time penalties those that start with 1, 3 or 6 are labelled
    few = len(bars) <= 20
    labelled = [
        bar
        for bar in bars
        if few or bar.method.name != "act" or bar.label.lstrip("0.")[:1] in "136"
    ]
    axes.set_xticks([bar.x for bar in labelled], [bar.label for bar in labelled])
    if len(labelled) * max(len(bar.label) for bar in labelled) > 46:
        axes.tick_params(axis="x", rotation=90)
    axes.tick_params(axis="x", length=0, pad=6)
