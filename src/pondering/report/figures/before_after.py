"""What one edit did: error and steps by difficulty, before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import pandas as pd
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D

from pondering.report.figures import style
from pondering.report.figures.learning import subset_note
from pondering.report.figures.shapes.methods import lines_by_difficulty, method_of
from pondering.results.changes import Change, Setting
from pondering.results.results import Card

ROW = 2.3
"""Inches of height for a mechanism on a split."""
BEFORE: dict[str, Any] = {"ls": "--", "markerfacecolor": style.PAPER}


def figure_changes(
    found: Sequence[Change], cards: Mapping[str, Card], what: str, before: str
) -> Figure:
    """A row of two panels for each split and mechanism, a colour for each setting.

    Args:
        found: at least one change.
        cards: experiment -> data card.
        what: the changed parameters, to stand below the title.
        before: the commit that the first numbers are of.
    """
    rows = [list(own) for _, own in groupby(found, _row)]
    with style.style():
        figure = Figure(figsize=(style.WIDTH, ROW * len(rows) + 0.3), layout="constrained")
        parts = figure.subfigures(len(rows), 1, squeeze=False)[:, 0]
        for part, own in zip(parts, rows, strict=True):
            _draw(part, own, cards[own[0].experiment])
        looks: dict[str, Any] = {"color": style.GREY, "marker": "o"}
        handles = [
            Line2D([], [], **looks | BEFORE, label=f"before ({before})"),
            Line2D([], [], **looks, label="after"),
        ]
        style.bottom_legend(figure, handles, 2)
        style.heading(figure, "Before and after", what)
    return figure


def _row(change: Change) -> tuple[str, str, str]:
    return change.experiment, change.split, change.mechanism


def _draw(part: SubFigure, own: Sequence[Change], card: Card) -> None:
    """Error and steps of one mechanism on one split."""
    left, right = part.subplots(1, 2)
    shown = style.spread(range(len(own)), style.MOST_LINES)
    handles = []
    for place, look in style.line_styles(shown).items():
        change = own[int(place)]
        line: dict[str, Any] = {"color": look.colour, "marker": look.marker}
        for rows, dashed in ((change.rows_before, BEFORE), (change.rows_after, {})):
            if len(rows):
                lines_by_difficulty(left, rows, "error", **line | dashed)
                lines_by_difficulty(right, rows, "ponder_time", **line | dashed)
        handles.append(Line2D([], [], **line, label=_label(change.before, change.after)))
    split = own[0].split
    more = f": {card.splits[split]}" if len(card.splits) > 1 else ""
    left.set(title=f"{card.title}{more}", xlabel=card.difficulty[split], ylabel=card.unit)
    left.set_ylim(0, None)
    right.set(xlabel=card.difficulty[split], ylabel="steps")
    drawn = pd.concat([rows for each in own for rows in (each.rows_before, each.rows_after)])
    for axes in (left, right):
        difficulties = drawn["difficulty"]
        style.difficulty_axis(axes, float(difficulties.min()), float(difficulties.max()))
        axes.locator_params(axis="x", nbins=6)  # half the width of other figures
    style.steps_axis(right, float(drawn["ponder_time"].max()), "y")
    style.bottom_legend(part, handles, 2, subset_note(shown, range(len(own))))


def _label(before: Setting | None, after: Setting | None) -> str:
    """The setting; where another replaced it, both."""
    one, other = (each and method_of(*each) for each in (before, after))
    if one and other:
        if one == other:
            return one.legend
        same = one.mechanism == other.mechanism
        return f"{one.legend} \N{RIGHTWARDS ARROW} {other.symbol if same else other.legend}"
    return f"{one.legend}, before alone" if one else f"{other.legend}, after alone" if other else ""
