"""Digits: accuracy and steps by angle, and the digits that took the most and fewest steps."""

from __future__ import annotations

import dataclasses

import numpy as np
from support.panels import drawn, line_with

from pondering.report.figures import digits, gallery
from pondering.results.results import Results


def test_accuracy_and_steps_by_angle(results: Results) -> None:
    table = results.tables["mnist_rotated"]
    upper, lower = drawn(digits.draw(results, "mnist_rotated", "range")).axes
    own = table[(table["mechanism"] == "act") & (table["setting"] == 1e-3)]
    means = own[own["split"] == "range"].groupby("difficulty")[["error", "ponder_time"]].mean()
    assert line_with(upper, [22.5, 45, 67.5, 90], 1 - means["error"])
    assert line_with(lower, [22.5, 45, 67.5, 90], means["ponder_time"])
    # lines that coincide are seen, the widest below
    widths = [line.get_linewidth() for line in upper.lines]
    assert len(set(widths)) == 3 and widths == sorted(widths, reverse=True)


def test_the_gallery_shows_pixels_steps_and_what_was_wrong(results: Results) -> None:
    cells = drawn(gallery.draw(results, "mnist")).axes
    traces = results.traces["mnist"]
    np.testing.assert_array_equal(cells[0].images[0].get_array(), traces[0]["pixels"])
    assert cells[0].get_title() == "says 0\n9.00 steps"
    assert cells[2].get_title() == "says 7, is 2\n8.00 steps"
    assert cells[6].get_title().endswith("6.00 steps")
    assert gallery.words(results, "mnist").startswith(f"{len(traces)} digits; most expected steps")


def test_the_gallery_and_its_words_take_as_many_digits_as_a_row_holds(results: Results) -> None:
    first = results.traces["mnist"][0]
    many = [{**first, "which": which} for which in ("most",) * 9 + ("fewest",) * 2]
    crowded = dataclasses.replace(results, traces={"mnist": many})
    assert sum(len(axes.images) for axes in drawn(gallery.draw(crowded, "mnist")).axes) == 8
    assert gallery.words(crowded, "mnist").startswith("8 digits")
