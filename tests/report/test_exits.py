"""Exit rules: accuracy against mean steps, on a wide page and on a phone."""

from __future__ import annotations

import dataclasses

import numpy as np
from support.panels import drawn

from pondering.report.figures import FIGURES, style
from pondering.results.exits import at_best_settings, best_fixed
from pondering.results.results import Results

(SPEC,) = (spec for spec in FIGURES if spec.id == "beyond-exits")


def test_the_wide_figure_has_the_panels_of_the_narrow_one_side_by_side(results: Results) -> None:
    wide = SPEC.across
    assert wide is not None and wide.id == "beyond-exits-wide" and wide.title == SPEC.title
    narrow, across = drawn(SPEC.draw(results)), drawn(wide.draw(results))
    assert (narrow.get_figwidth(), across.get_figwidth()) == (style.WIDTH, 2 * style.WIDTH)
    places = []
    for figure in (narrow, across):
        shown = [axes for axes in figure.axes if axes.axison]
        assert len(shown) == 3
        places.append(len({round(axes.get_position().y0, 3) for axes in shown}))
        assert shown[0].get_ylabel() == "accuracy"
    assert places == [2, 1]
    assert wide.caption(results) == SPEC.caption(results)
    assert "Rules are tried on 1,600 test examples a network." in SPEC.caption(results)
    assert wide.words(results) == SPEC.words(results)
    others = (spec for spec in FIGURES if spec is not SPEC)
    assert {spec.across for spec in others} == {None}


def test_the_axis_ends_at_all_right_and_cuts_no_marker(results: Results) -> None:
    table = results.tables["comparison"].assign(error=0.025)
    exits = results.exits["comparison"].assign(error=0.02)
    near = dataclasses.replace(results, tables={"comparison": table}, exits={"comparison": exits})
    low, high = drawn(SPEC.draw(near)).axes[0].get_ylim()
    assert 0.95 < low < 0.975 - 0.06 * (high - low) and 1 < high < 1.005


def test_references_are_accuracies(results: Results) -> None:
    own = at_best_settings(results.exits["comparison"], results.tables["comparison"])["pondernet"]
    (axes,) = (a for a in drawn(SPEC.draw(results)).axes if "PonderNet" in a.get_title("left"))
    n, error = best_fixed(own, np.inf)
    rings = [line.get_xydata().tolist() for line in axes.lines if line.get_markersize() == 8]
    assert rings == [[[n, 1 - error]]]
    assert "best fixed n " in SPEC.words(results) and "%" in SPEC.words(results)
