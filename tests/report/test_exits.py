"""Exit rules: accuracy against mean steps."""

from __future__ import annotations

import dataclasses

import numpy as np
from support.panels import drawn

from pondering.report.figures import FIGURES
from pondering.results.exits import at_best_settings, best_fixed
from pondering.results.results import Results

(SPEC,) = (spec for spec in FIGURES if spec.id == "beyond-exits")


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
