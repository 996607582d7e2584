"""What decides a question: what was measured, with its intervals, against the registered bounds.

Parts are tasks or mechanisms. Where they are few they stand side by side, a line of panels a unit
and a row a quantity; else there is a panel a quantity, with a row a part.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator

from pondering.claims.measures.quantities import number_text
from pondering.report.figures import style
from pondering.results.results import Results

Estimate = Mapping[str, Any]
"""A quantity of a part as claims.json has it."""
Bound = Mapping[str, Any]
"""quantity, low and high (None: no end), condition: whether it is one, said: it in words."""

SHADES = (style.GREEN, style.ORANGE)
"""Of the first and the second bound of a quantity."""
UNDER: Mapping[str, str] = {"share": "", "times": "ratio"}
"""What stands under a panel; other units by their own name."""
SIGNED = ("points", "correlation", "steps")
ROW, LINE = 0.27, 0.14
"""Inches of a row, and of a further line of text."""
TITLE = {1: 60, 2: 28, 3: 17}
LABEL = {1: 30, 2: 19, 3: 26}
"""Signs of a line of a panel's title and of a row's label, at most, by panels side by side."""
CAPTION = (
    "Points: estimates, filled where a bound is registered. Whiskers: 95% intervals over seeds. "
    "Shaded: where a bound is met; it holds where the whole whisker lies there, a condition where "
    "the point does."
)
Panel = tuple[str, dict[str, Estimate]]
"""Title and, by the name of its row, each estimate; rows of other panels are left empty."""


def draw(results: Results, estimates: Sequence[Estimate], bounds: Sequence[Bound]) -> Figure | None:
    """The panels of a question.

    Args:
        results: of the profile; the numbers come from `estimates`.
        estimates: what was measured.
        bounds: what was registered.

    Returns:
        The figure: points are estimates, filled where a bound is registered, whiskers 95%
        intervals, shades where a bound is met. None without an estimate.
    """
    grid = _grid(estimates, bounds)
    if not grid:
        return None
    columns = max(map(len, grid))
    names = [list(dict.fromkeys(name for _, own in line for name in own)) for line in grid]
    heights = [_height(line, rows, columns) for line, rows in zip(grid, names, strict=True)]
    told: dict[str, Patch] = {}
    measured = {each["quantity"] for each in estimates}
    for bound in (each for each in bounds if each["quantity"] in measured):
        words = textwrap.fill(f"{_range(bound, estimates)}: {bound['said']}", 66)
        told.setdefault(words, Patch(color=_shade(bound, bounds), alpha=0.3, lw=0, label=words))
    legend = 0.2 + 1.2 * LINE * sum(1 + words.count("\n") for words in told)
    figure = Figure(figsize=(style.WIDTH, sum(heights) + legend), layout="constrained")
    cells = figure.subplots(len(grid), columns, squeeze=False, height_ratios=heights)
    ends = _ends(estimates, bounds)
    for line, rows, axes in zip(grid, names, cells, strict=True):
        for panel, one in zip(line, axes, strict=False):
            _panel(one, panel, rows, bounds, ends, columns)
        for one in axes[1:]:
            one.tick_params(labelleft=False)
        for one in axes[len(line) :]:
            one.set_axis_off()
    style.bottom_legend(figure, [*told.values()], 1)
    return figure


def _grid(estimates: Sequence[Estimate], bounds: Sequence[Bound]) -> list[list[Panel]]:
    """Lines of panels that share their rows. What decides comes first."""
    wanted = list(dict.fromkeys(each["quantity"] for each in bounds))
    parts = list(dict.fromkeys(each["part"] for each in estimates))

    def place(estimate: Estimate) -> int:
        name = estimate["quantity"]
        return wanted.index(name) if name in wanted else len(wanted)

    # counts have no interval: of several parts they stand beside the answer
    drawn = [
        e for e in estimates if not any(parts) or e["unit"] != "networks" or place(e) < len(wanted)
    ]
    drawn.sort(key=place)
    quantities = {own[0]["quantity"]: own for own in _grouped(drawn, "quantity")}
    if len(parts) > 3 or len(parts) >= len(quantities):
        panels = [(_name(own), {e["part"]: e for e in own}) for own in quantities.values()]
        return [panels[at : at + 2] for at in range(0, len(panels), 2)]
    rows = {quantity: _name(own) for quantity, own in quantities.items()}
    return [
        [
            (own[0]["part"], {rows[each["quantity"]]: each for each in own})
            for own in _grouped(alike, "part")
        ]
        for alike in _grouped(drawn, "unit")
    ]


def _grouped(estimates: Iterable[Estimate], key: str) -> list[list[Estimate]]:
    groups: dict[str, list[Estimate]] = {}
    for each in estimates:
        groups.setdefault(each[key], []).append(each)
    return list(groups.values())


def _name(own: Sequence[Estimate]) -> str:
    """Of a quantity: the label, or its first clause, which all parts share; else its name."""
    labels = [str(each["label"]) for each in own]
    for told in (set(labels), {each.partition(", ")[0] for each in labels}):
        if len(told) == 1 and (name := told.pop()).count("(") == name.count(")"):
            return name
    return str(own[0]["quantity"]).replace("_", " ")


def _title(text: str, columns: int) -> str:
    text = text[:1].upper() + text[1:]
    widths = range(1, TITLE[columns] + 1)
    lines = [textwrap.wrap(text, width, break_long_words=False) for width in widths]
    # of about one length: a last line of a single sign would read as a number of its own
    return "\n".join(next(each for each in lines if len(each) == len(lines[-1])))


def _height(line: Sequence[Panel], names: Sequence[str], columns: int) -> float:
    """Inches of panels side by side: titles, rows with the lines of their labels, axis."""
    titles = max(_title(text, columns).count("\n") + bool(text) for text, _ in line)
    return 0.65 + LINE * titles + _edges(names, columns)[-1]


def _edges(names: Sequence[str], columns: int) -> list[float]:
    """Where rows begin and the last one ends, in inches: each has room for the lines it needs."""
    lines = [textwrap.fill(name, LABEL[columns]).count("\n") for name in names]
    return [0.0, *accumulate(ROW + LINE * more for more in lines)]


def _panel(
    axes: Axes,
    panel: Panel,
    names: Sequence[str],
    bounds: Sequence[Bound],
    ends: Mapping[str, tuple[float, float]],
    columns: int,
) -> None:
    title, own = panel
    unit = str(next(iter(own.values()))["unit"])
    low, high = ends[unit]
    axes.set_xscale("log" if unit == "times" else "linear")
    axes.set_xlim(low, high)
    edges = _edges(names, columns)
    middle = [(top + bottom) / 2 for top, bottom in pairwise(edges)]
    for name, estimate in own.items():
        place = names.index(name)
        row = middle[place]
        if estimate["value"] is None:
            axes.annotate("not measured", (0.03, row), xycoords=("axes fraction", "data"),
                          va="center", fontsize=7.5, color=style.GREY)  # fmt: skip
            continue
        mine = [each for each in bounds if each["quantity"] == estimate["quantity"]]
        for bound in mine:
            left, right = _limits(bound, low, high)
            axes.fill_betweenx(edges[place : place + 2], left, right, lw=0, alpha=0.3,
                               color=_shade(bound, bounds))  # fmt: skip
        interval = _limits(estimate, low, high)
        if estimate["low"] is not None or estimate["high"] is not None:
            axes.plot(interval, [row, row], color=style.INK, lw=1.3, solid_capstyle="butt")
        at = min(max(estimate["value"], low), high)
        axes.plot(at, row, "o", color=style.INK, mfc=style.INK if mine else style.PAPER, ms=5.5,
                  clip_on=False, zorder=4)  # fmt: skip
    axes.set_yticks(middle, [textwrap.fill(name, LABEL[columns]) for name in names])
    axes.set_ylim(edges[-1], 0)
    axes.tick_params(axis="y", length=0)
    axes.grid(False, axis="y")
    axes.grid(True, axis="x")
    if unit in SIGNED:
        axes.axvline(0, color=style.GREY, lw=0.8)
    axes.set_title(_title(title, columns), fontsize=8.5)
    axes.set_xlabel(UNDER.get(unit, unit))
    ticks = {1: 6, 2: 4, 3: 3}[columns]
    if unit == "times":
        axes.xaxis.set_major_locator(LogLocator(2 if high < 200 * low else 10, numticks=ticks))
        axes.minorticks_off()
    else:
        steps = [1, 2, 2.5, 5, 10]
        axes.xaxis.set_major_locator(MaxNLocator(ticks, steps=steps, integer=unit == "networks"))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value, unit)))


def _tick(value: float, unit: str) -> str:
    text = f"{100 * value if unit in ('share', 'points') else value:g}"
    return text.replace("-", "\N{MINUS SIGN}") + ("%" if unit == "share" else "")


def _limits(ended: Mapping[str, Any], low: float, high: float) -> tuple[float, float]:
    """The ends of a bound or an interval within a panel; None is the panel's own."""
    left = low if ended["low"] is None else max(low, ended["low"])
    right = high if ended["high"] is None else min(high, ended["high"])
    return left, right


def _shade(bound: Bound, bounds: Sequence[Bound]) -> str:
    if bound["condition"]:
        return style.GREY
    same = [each for each in bounds if each["quantity"] == bound["quantity"]]
    same = [each for each in same if not each["condition"]]
    return SHADES[same.index(bound) % len(SHADES)]


def _range(bound: Bound, estimates: Sequence[Estimate]) -> str:
    """A bound in the unit of its quantity: ≥ 75.0%."""
    unit = next(each["unit"] for each in estimates if each["quantity"] == bound["quantity"])
    low, high = (e if e is None else number_text(e, unit) for e in (bound["low"], bound["high"]))
    if low and high:
        return f"{low.partition(' ')[0]} to {high}"
    return f"≥ {low}" if low else f"≤ {high}"


def _ends(estimates: Sequence[Estimate], bounds: Sequence[Bound]) -> dict[str, tuple[float, float]]:
    """By unit where its panels begin and end: all of them alike, to be compared."""
    found = {}
    for unit in dict.fromkeys(each["unit"] for each in estimates):
        own = [each for each in estimates if each["unit"] == unit]
        names = {each["quantity"] for each in own}
        known = [each["value"] for each in own]
        known += [b[end] for b in bounds if b["quantity"] in names for end in ("low", "high")]
        if unit == "times":  # its intervals may reach from nothing to anything
            positive = [each for each in known if each]
            found[unit] = min(positive, default=0.5) / 3, max(positive, default=2.0) * 3
            continue
        known += [each[end] for each in own for end in ("low", "high")]
        if unit == "correlation":
            known += [-1.0, 1.0]
        if unit in ("share", "networks"):
            known += [0.0, 1.0 if unit == "share" else 1.3 * max(e for e in known if e is not None)]
        there = [each for each in known if each is not None]
        low, high = min(there, default=-1.0), max(there, default=1.0)
        room = 0.05 * (high - low or 1.0)
        found[unit] = low - room, high + room
    return found
