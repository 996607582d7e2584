"""Parity in two layouts, side by side: axes that hold all lines, and sizes that differ."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from support.panels import drawn

from pondering.report.figures import layout
from pondering.results.results import Results

LAYOUTS = {"parity": "leading", "parity_scattered": "scattered"}


def test_layout_panels_hold_all_of_their_lines(results: Results) -> None:
    figure = drawn(layout.draw(results, LAYOUTS))
    assert len(figure.axes) == 4
    for axes in figure.axes:
        highest = max(np.nanmax(line.get_ydata()) for line in axes.lines)
        assert axes.get_ylim()[0] == 0 and axes.get_ylim()[1] >= highest


@pytest.mark.parametrize(("sizes", "differ"), [((64, 10), True), ((64, 64), False)])
def test_layouts_of_different_size_are_no_controlled_comparison(
    results: Results, sizes: tuple[int, int], differ: bool
) -> None:
    cards = {name: dataclasses.replace(results.cards[name], what=f"{size} elements, so; RNN")
             for name, size in zip(LAYOUTS, sizes, strict=True)}  # fmt: skip
    said = layout.caption(dataclasses.replace(results, cards=cards), LAYOUTS)
    told = "64 elements against 10 elements: not a controlled comparison."
    assert (told in said) == ("comparison" in said) == differ
