"""Methods by difficulty: digits by angle, and parity beyond the trained range."""

from __future__ import annotations

import pytest
from matplotlib.patches import Rectangle
from support.panels import drawn, line_with

from pondering.report.figures import methods_by_difficulty
from pondering.results.results import Results


def test_accuracy_and_steps_by_angle(results: Results) -> None:
    table = results.tables["mnist_rotated"]
    upper, lower = drawn(methods_by_difficulty.draw(results, "mnist_rotated", "range")).axes
    own = table[(table["mechanism"] == "act") & (table["setting"] == 1e-3)]
    means = own[own["split"] == "range"].groupby("difficulty")[["error", "ponder_time"]].mean()
    assert line_with(upper, [22.5, 45, 67.5, 90], 1 - means["error"])
    assert line_with(lower, [22.5, 45, 67.5, 90], means["ponder_time"])
    # lines that coincide are seen, the widest below
    widths = [line.get_linewidth() for line in upper.lines]
    assert len(set(widths)) == 3 and widths == sorted(widths, reverse=True)


def test_the_trained_range_is_shaded_and_lines_go_beyond_it(results: Results) -> None:
    name = "parity_extrapolation"
    upper, _ = drawn(methods_by_difficulty.draw(results, name)).axes
    (box,) = [p for p in upper.patches if isinstance(p, Rectangle)]
    assert (box.get_x(), box.get_x() + box.get_width()) == (0.5, 8.5)
    table = results.tables[name]
    plain = table[(table["mechanism"] == "repeat") & (table["setting"] == 1)]
    errors = plain.groupby("difficulty")["error"].mean()
    x, y = upper.lines[0].get_data()
    assert list(x) == list(range(1, 17)) and list(y) == pytest.approx(list(1 - errors))
