"""Figures of claims: estimates with their intervals, against the registered bounds."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator

from pondering.report.figures import layout, style
from pondering.results.results import Results
from pondering.results.units import Unit, number_text

Estimate = Mapping[str, Any]
"""A quantity of a part as claims.json has it."""
Bound = Mapping[str, Any]
"""quantity, low and high (None: no end), condition: whether it is one."""

SHADES = (style.GREEN, style.ORANGE)
"""Of the first and the second bound of a quantity."""
UNDER: Mapping[str, str] = {"share": "", "times": "ratio"}
"""Unit -> label of the horizontal axis; other units are their own label."""
ROW, LINE = 0.14, 0.12
"""Inches of a row, and of each line of its label."""
MOST_ROWS = 30
"""With more estimates only those with a bound are drawn; the page lists the rest."""

CAPTION = (
    "Points are estimates with 95% intervals over seeds, filled where a bound is registered. "
    "The shaded range meets the bound."
)


def draw(results: Results, estimates: Sequence[Estimate], bounds: Sequence[Bound]) -> Figure | None:
    """A panel a unit, with a row for each quantity of each part; quantities with a bound first.

    Args:
        results: of the profile; the numbers come from `estimates`.
        estimates: what was measured.
        bounds: what was registered.

    Returns:
        The figure: points are estimates, filled where a bound is registered, whiskers 95%
        intervals, shades where a bound is met. None without an estimate.
    """
    wanted = [bound["quantity"] for bound in bounds]
    deciding = [each for name in dict.fromkeys(wanted) for each in estimates
                if each["quantity"] == name]  # fmt: skip
    # counts of networks by part have no interval; the page lists them
    others = [
        each
        for each in estimates
        if each["quantity"] not in wanted and not (each["part"] and each["unit"] == "networks")
    ]
    drawn = deciding + others if len(deciding + others) <= MOST_ROWS else deciding
    if not drawn:
        return None
    panels: dict[str, list[Estimate]] = {}
    for each in drawn:
        panels.setdefault(each["unit"], []).append(each)
    labels = {unit: [_label(each) for each in group] for unit, group in panels.items()}
    heights = [
        0.45 + sum(ROW + LINE * (1 + label.count("\n")) for label in texts)
        for texts in labels.values()
    ]
    figure, cells = layout.new_figure(heights)
    for axes, (unit, group) in zip(cells, panels.items(), strict=True):
        _panel(axes, unit, group, labels[unit], bounds)
    units = {each["quantity"]: each["unit"] for each in drawn}
    legend = {
        (_range(bound, units[bound["quantity"]]), _shade(bound, bounds)): bound["condition"]
        for bound in bounds
        if bound["quantity"] in units
    }
    handles = [
        Patch(color=colour, alpha=0.3, lw=0, label=f"{text}, a condition" if condition else text)
        for (text, colour), condition in legend.items()
    ]
    figure.set_figheight(figure.get_figheight() + 0.17 * -(-len(handles) // 2))
    layout.bottom_legend(figure, handles, 2)
    return figure


def _label(estimate: Estimate) -> str:
    text = ": ".join(filter(None, (estimate["part"], estimate["label"])))
    return textwrap.fill(text, 30, max_lines=5, placeholder=" …")


def _panel(
    axes: Axes, unit: str, group: Sequence[Estimate], labels: Sequence[str], bounds: Sequence[Bound]
) -> None:
    low, high = _ends(unit, group, bounds)
    axes.set_xscale("log" if unit == "times" else "linear")
    axes.set_xlim(low, high)
    top, middles = 0.0, []
    for estimate, label in zip(group, labels, strict=True):
        bottom = top + ROW + LINE * (1 + label.count("\n"))
        middles.append((top + bottom) / 2)
        mine = [each for each in bounds if each["quantity"] == estimate["quantity"]]
        for bound in mine:
            axes.fill_betweenx([top, bottom], *_limits(bound, low, high), lw=0, alpha=0.3,
                               color=_shade(bound, bounds))  # fmt: skip
        if estimate["value"] is None:
            axes.annotate("not measured", (0.03, middles[-1]), va="center", fontsize=7.5,
                          xycoords=("axes fraction", "data"), color=style.GREY)  # fmt: skip
        else:
            if estimate["low"] is not None or estimate["high"] is not None:
                whisker = _limits(estimate, low, high)
                axes.plot(whisker, [middles[-1]] * 2, color=style.INK, lw=1.3)
            axes.plot(min(max(estimate["value"], low), high), middles[-1], "o", color=style.INK,
                      mfc=style.INK if mine else style.PAPER, ms=5.5, clip_on=False,
                      zorder=4)  # fmt: skip
        top = bottom
    axes.set_yticks(middles, labels, fontsize=7.5)
    axes.set_ylim(top, 0)
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.grid(True, axis="x")
    if low < 0 < high:
        axes.axvline(0, color=style.GREY, lw=0.8)
    axes.set_xlabel(UNDER.get(unit, unit))
    if unit == "times":
        axes.xaxis.set_major_locator(LogLocator(2 if high < 200 * low else 10, numticks=5))
        axes.minorticks_off()
    else:
        steps = [1, 2, 2.5, 5, 10]
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=steps, integer=unit == "networks"))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value, unit)))


def _tick(value: float, unit: str) -> str:
    text = f"{100 * value if unit in ('share', 'points') else value:g}"
    return text.replace("-", "\N{MINUS SIGN}") + ("%" if unit == "share" else "")


def _limits(ended: Mapping[str, Any], low: float, high: float) -> tuple[float, float]:
    """The ends of a bound or an interval, cut to the panel; None becomes the panel's end."""
    left = low if ended["low"] is None else max(low, ended["low"])
    right = high if ended["high"] is None else min(high, ended["high"])
    return left, right


def _shade(bound: Bound, bounds: Sequence[Bound]) -> str:
    if bound["condition"]:
        return style.GREY
    same = [each for each in bounds if each["quantity"] == bound["quantity"]]
    same = [each for each in same if not each["condition"]]
    return SHADES[same.index(bound) % len(SHADES)]


def _range(bound: Bound, unit: Unit) -> str:
    """A bound in its unit: ≥ 75.0%."""
    low, high = (e if e is None else number_text(e, unit) for e in (bound["low"], bound["high"]))
    if low and high:
        return f"{low.partition(' ')[0]} to {high}"
    return f"≥ {low}" if low else f"≤ {high}"


def _ends(unit: str, group: Sequence[Estimate], bounds: Sequence[Bound]) -> tuple[float, float]:
    """The limits of a panel around its estimates, intervals and bounds, with some room."""
    names = {each["quantity"] for each in group}
    known = [each["value"] for each in group]
    known += [b[end] for b in bounds if b["quantity"] in names for end in ("low", "high")]
    if unit == "times":  # intervals of ratios may reach from 0 to infinity
        positive = [each for each in known if each]
        return min(positive, default=0.5) / 3, max(positive, default=2.0) * 3
    known += [each[end] for each in group for end in ("low", "high")]
    usual = {"correlation": [-1.0, 1.0], "share": [0.0, 1.0], "networks": [0.0], "updates": [0.0]}
    known += usual.get(unit, [])
    there = [each for each in known if each is not None]
    low, high = min(there, default=-1.0), max(there, default=1.0)
    room = 0.05 * (high - low or 1.0)
    return low - room, high + room
