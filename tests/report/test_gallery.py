"""The gallery: the digits that took the most and the fewest steps."""

from __future__ import annotations

import dataclasses

import numpy as np
from support.panels import drawn

from pondering.report.figures import gallery
from pondering.results.results import Results


def test_the_gallery_shows_pixels_steps_and_what_was_wrong(results: Results) -> None:
    cells = drawn(gallery.draw(results, "mnist")).axes
    traces = results.traces["mnist"]
    np.testing.assert_array_equal(cells[0].images[0].get_array(), traces[0]["pixels"])
    assert cells[0].get_title() == "says 0\n9.00 steps"
    assert cells[2].get_title() == "says 7, is 2\n8.00 steps"
    assert cells[6].get_title().endswith("6.00 steps")


def test_the_gallery_takes_as_many_digits_as_a_row_holds(results: Results) -> None:
    first = results.traces["mnist"][0]
    many = [{**first, "which": which} for which in ("most",) * 9 + ("fewest",) * 2]
    crowded = dataclasses.replace(results, traces={"mnist": many})
    assert sum(len(axes.images) for axes in drawn(gallery.draw(crowded, "mnist")).axes) == 8
