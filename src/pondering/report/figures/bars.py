"""Bars of error by setting, the shape of five of Graves's figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pondering.report.figures import style
from pondering.results.aggregates import evaluated, per_seed, per_setting, plain

ERROR_RATE = "sequence error rate"
BITS = "bits per character"
IN_TRAINING = {ERROR_RATE: "error rate in training", BITS: "bits per character\nin training"}
"""Label of an axis of training curves, by the unit of the final errors."""

LOOKS = style.MECHANISM_COLOUR
CROWDED = 15
"""Bars from which on points and labels are thinned."""


def error_bars(
    table: pd.DataFrame | None,
    *,
    split: str = "test",
    second_split: str | None = None,
    unit: str = ERROR_RATE,
) -> Figure | None:
    """Bars of mean error by time penalty, of the plain network and by fixed repeat count.

    Args:
        table: evaluation rows of one experiment.
        split: the split of the bars.
        second_split: a split whose means are drawn as diamonds over the bars.
        unit: label of the error axis.

    Returns:
        The figure: bar heights are means over seeds, whiskers standard errors, points seeds; axes
        linear. None without rows of ACT or the plain network.
    """
    if table is None:
        return None
    seeds = per_seed(evaluated(table, split=split))
    seeds = seeds[seeds["mechanism"].isin(["repeat", "act"])]
    if seeds.empty:
        return None
    means = per_setting(seeds)
    bars = _bar_order(means)
    figure, (axes,) = style.new_figure([2.7])
    for bar in bars:
        row = bar["row"]
        axes.bar(bar["x"], row["error"], width=0.8 * bar["room"], color=bar["colour"], alpha=0.75)
        own = seeds[(seeds["mechanism"] == row["mechanism"]) & (seeds["setting"] == row["setting"])]
        _seed_points(axes, bar["x"], own, crowded=len(bars) > CROWDED)
    _whiskers(axes, [b["x"] for b in bars], [b["row"] for b in bars])
    if len(bars) <= 9:
        values = [f"{bar['row']['error']:{'.2f' if unit == BITS else '.3f'}}" for bar in bars]
        style.row_above(axes, "mean", [bar["x"] for bar in bars], values)
    handles = _bar_handles(bars, bool((seeds["status"] == "diverged").any()))
    if second_split is not None:
        handles += _second_means(axes, bars, table, second_split)
    _bar_axes(axes, bars, unit)
    style.bottom_legend(figure, handles, 3)
    return figure


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


def _seed_points(axes: Axes, x: float, own: pd.DataFrame, *, crowded: bool) -> None:
    """The seeds of one bar, side by side in the order of their number."""
    places = x + np.linspace(-0.25, 0.25, len(own)) if len(own) > 1 else np.array([x])
    diverged = (own["status"] == "diverged").to_numpy()
    error = own["error"].to_numpy()
    axes.scatter(places[~diverged], error[~diverged], s=3 if crowded else 9, color=style.INK,
                 alpha=0.35 if crowded else 0.65, lw=0, zorder=3)  # fmt: skip
    axes.scatter(places[diverged], error[diverged], s=16, marker="x", color=style.INK, lw=1,
                 zorder=3)  # fmt: skip


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
    axes: Axes, bars: Sequence[dict[str, Any]], table: pd.DataFrame, split: str
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
    name = {"heldout": "Held-out text"}.get(split, split)
    x, y = zip(*points, strict=True)
    return axes.plot(x, y, label=name, zorder=5, marker="D", ls="", mfc=style.PAPER,
                     mec=style.INK, ms=5 if len(bars) <= CROWDED else 2.5)  # fmt: skip


def _bar_axes(axes: Axes, bars: Sequence[dict[str, Any]], unit: str) -> None:
    axes.set(ylabel=unit, xlabel="time penalty τ", ylim=(0, None))
    shown = style.sparse([bar["label"] if bar["colour"] == LOOKS["act"] else "" for bar in bars])
    labelled = [bar for bar, show in zip(bars, shown, strict=True) if show]
    axes.set_xticks([bar["x"] for bar in labelled], [bar["label"] for bar in labelled])
    longest = max(len(bar["label"]) for bar in labelled)
    if len(labelled) * longest > 46:
        axes.tick_params(axis="x", rotation=90)
    axes.tick_params(axis="x", length=0)
