"""Bars of error by time penalty: Graves 2016, Figs. 4, 8, 12, 17 and 21."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pondering.report.figures import paper, style
from pondering.report.figures.methods import ENOUGH_FOR_A_BOX
from pondering.report.figures.outliers import ceiling
from pondering.results.results import Card, Results
from pondering.results.tables import evaluated, headline, per_seed, per_setting, plain, splits_of

LOOKS = style.MECHANISM_COLOUR

VALUE, BOUND = "Paper", "Paper: at most"
"""Names of its hollow markers in the legend."""

CROWDED = 15
"""Bars from which on points and labels are thinned."""

CAPTION = (
    "Mean error over seeds at the end of training by time penalty τ, with standard errors; points "
    "are seeds, thin lines across a bar medians. Grey: the plain network, without ACT; green: "
    "every input processed a fixed number of times, which the paper has not. A diverged seed "
    "counts as wholly wrong; a filled triangle is a seed beyond the end of the axis. The axis of "
    "bits per character does not start at zero."
)


def draw(results: Results, experiment: str) -> Figure | None:
    """Bars of mean error by time penalty, of the plain network and by fixed repeat count.

    Args:
        results: the results of one profile.
        experiment: whose table; means of a second split of it are diamonds over the bars.

    Returns:
        The figure: bar heights are means over seeds, whiskers standard errors, points seeds, short
        lines medians, hollow markers the paper's values; axes linear. An error that is no share has
        no natural zero: its means are wide lines on an axis that begins where they do. None without
        rows of ACT or the plain network.
    """
    table, card = results.tables[experiment], results.cards[experiment]
    seeds = _seeds(table)
    if seeds.empty:
        return None
    means = per_setting(seeds)
    bars = _bar_order(means)
    figure, (axes,) = style.new_figure([2.7])
    points: list[tuple[float, float]] = []
    for bar in bars:
        row = bar["row"]
        own = seeds[(seeds["mechanism"] == row["mechanism"]) & (seeds["setting"] == row["setting"])]
        if card.is_share:
            axes.bar(
                bar["x"], row["error"], width=0.8 * bar["room"], color=bar["colour"], alpha=0.75
            )
            if len(own) >= ENOUGH_FOR_A_BOX:
                _level(axes, bar, float(own["error"].median()), color=style.INK, lw=1.0)
        else:
            _level(axes, bar, row["error"], color=bar["colour"], lw=4)
        points += _seed_points(axes, bar["x"], own, crowded=len(bars) > CROWDED)
    _whiskers(axes, [b["x"] for b in bars], [b["row"] for b in bars])
    if len(bars) <= 9:
        values = [f"{bar['row']['error']:{'.1%' if card.is_share else '.2f'}}" for bar in bars]
        style.row_above(axes, "mean", [bar["x"] for bar in bars], values)
    handles = _bar_handles(bars, bool((seeds["status"] == "diverged").any()))
    for split in splits_of(table)[1:2]:
        handles += _second_means(axes, bars, table, split, card)
    handles += _of_the_paper(axes, bars, paper.ERRORS.get(experiment))
    _bar_axes(axes, bars, card)
    top = ceiling(seeds)
    if np.isfinite(top):
        ends = (means["error"] + means["error_se"].fillna(0)).max()
        shown = [float(np.max(line.get_ydata())) for line in axes.lines]
        style.cut_above(axes, max(top, 1.08 * np.nanmax([ends, *shown])), points, card.is_share)
    style.bottom_legend(figure, handles, 3)
    return figure


def _seeds(table: pd.DataFrame) -> pd.DataFrame:
    """What has a bar: a row a seed of ACT, the plain network and fixed repeats."""
    seeds = per_seed(headline(table))
    return seeds[seeds["mechanism"].isin(["repeat", "act"])]


def _of_the_paper(
    axes: Axes, bars: Sequence[dict[str, Any]], shown: paper.Errors | None
) -> list[Any]:
    """Hollow markers at what the paper has for a bar; a legend entry for each kind."""
    act = [bar for bar in bars if bar["row"]["mechanism"] == "act"]
    if shown is None:
        return []
    values = {bar["x"]: shown.plain for bar in bars if bar["colour"] == LOOKS["plain"]}
    values |= {bar["x"]: shown.small for bar in act if 0 < bar["row"]["setting"] <= shown.most}
    if shown.best is not None and act:
        values[min(act, key=lambda bar: float(bar["row"]["error"]))["x"]] = shown.best
    look = style.HOLLOW | ({} if len(bars) <= CROWDED else {"ms": 4})
    kinds = {}
    for x, value in values.items():
        below = shown.is_bound and value == shown.small
        if value is not None:
            kind = {"marker": "v", "label": BOUND} if below else {"label": VALUE}
            axes.plot(x, value, **(look | kind), clip_on=False)
            kinds[kind["label"]] = Line2D([], [], **(style.HOLLOW | kind))
    return list(kinds.values())


def _level(axes: Axes, bar: dict[str, Any], value: float, **look: Any) -> None:
    """A level line as wide as a bar."""
    half = 0.4 * bar["room"]
    axes.plot([bar["x"] - half, bar["x"] + half], [value] * 2, solid_capstyle="butt", **look)


def _bar_order(means: pd.DataFrame) -> list[dict[str, Any]]:
    """Bars from the left: plain network, time penalties ascending, repeat counts, with gaps."""
    act = means[means["mechanism"] == "act"].sort_values("setting")
    repeat = means[(means["mechanism"] == "repeat") & (means["setting"] != 1)]
    groups = (
        (plain(means), LOOKS["plain"], lambda s: "plain"),
        (act, LOOKS["act"], style.number),
        (
            repeat.sort_values("setting"),
            LOOKS["repeat"],
            lambda s: f"{style.TIMES}{style.number(s)}",
        ),
    )
    bars: list[dict[str, Any]] = []
    x = 0.0
    for rows, colour, name in groups:
        # beside a long grid the few other bars are wider, or their labels would touch
        room = 1.6 if len(means) > CROWDED and colour != LOOKS["act"] else 1.0
        for _, row in rows.iterrows():
            bars.append({"x": x + room / 2, "row": row, "colour": colour, "room": room,
                         "label": name(row["setting"])})  # fmt: skip
            x += room
        x += 0.5 * room if len(rows) else 0
    return bars


def _seed_points(
    axes: Axes, x: float, own: pd.DataFrame, *, crowded: bool
) -> list[tuple[float, float]]:
    """The seeds of one bar, side by side in the order of their number; returns their places."""
    places = style.beside(x, own, 0.5)
    diverged = (own["status"] == "diverged").to_numpy()
    error = own["error"].to_numpy()
    axes.scatter(places[~diverged], error[~diverged], s=3 if crowded else 9, color=style.INK,
                 alpha=0.35 if crowded else 0.65, lw=0, zorder=3)  # fmt: skip
    axes.scatter(places[diverged], error[diverged], s=16, marker="x", color=style.INK, lw=1,
                 zorder=3)  # fmt: skip
    return list(zip(places.tolist(), error.tolist(), strict=True))


def _whiskers(axes: Axes, places: Sequence[float], rows: Sequence[Any]) -> None:
    axes.errorbar(
        places, [r["error"] for r in rows], yerr=[r["error_se"] for r in rows], fmt="none",
        ecolor=style.INK, elinewidth=1.2, capsize=3 if len(places) <= CROWDED else 1.5, zorder=4,
    )  # fmt: skip


def _bar_handles(bars: Sequence[dict[str, Any]], diverged: bool) -> list[Any]:
    names = {LOOKS[name]: style.MECHANISM_NAME[name] for name in ("plain", "act", "repeat")}
    names[LOOKS["act"]] += ", by τ"
    colours = list(dict.fromkeys(bar["colour"] for bar in bars))
    handles: list[Any] = [Patch(color=c, alpha=0.75, label=names[c]) for c in colours]
    dot: dict[str, Any] = {"ls": "", "color": style.INK}
    handles.append(Line2D([], [], marker="o", markersize=3, alpha=0.65, label="One seed", **dot))
    if diverged:
        handles.append(Line2D([], [], marker="x", label="Diverged seed", **dot))
    return handles


def _second_means(
    axes: Axes, bars: Sequence[dict[str, Any]], table: pd.DataFrame, split: str, card: Card
) -> list[Any]:
    """Diamonds at the means of another split; their legend entry, or nothing without rows."""
    means = per_setting(per_seed(evaluated(table, split=split)))
    value = {(r.mechanism, r.setting): r.error for r in means.itertuples()}
    points = [
        (bar["x"], value[key])
        for bar in bars
        if (key := (bar["row"]["mechanism"], bar["row"]["setting"])) in value
    ]
    if not points:
        return []
    name = card.splits[split].capitalize()
    x, y = zip(*points, strict=True)
    return axes.plot(x, y, label=name, zorder=5, marker="D", ls="", mfc=style.PAPER,
                     mec=style.INK, ms=5 if len(bars) <= CROWDED else 2.5)  # fmt: skip


def _bar_axes(axes: Axes, bars: Sequence[dict[str, Any]], card: Card) -> None:
    axes.set(ylabel=card.unit, xlabel="time penalty τ")
    if card.is_share:
        axes.set_ylim(bottom=0)
    # of many time penalties those that start with 1, 3 or 6 are labelled
    few = len(bars) <= 20
    labelled = [
        each
        for each in bars
        if few or each["colour"] != LOOKS["act"] or each["label"].lstrip("0.")[:1] in "136"
    ]
    axes.set_xticks([bar["x"] for bar in labelled], [bar["label"] for bar in labelled])
    longest = max(len(bar["label"]) for bar in labelled)
    if len(labelled) * longest > 46:
        axes.tick_params(axis="x", rotation=90)
    axes.tick_params(axis="x", length=0, pad=6)
