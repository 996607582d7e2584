"""Steps and error inside and beyond the trained range."""

from __future__ import annotations

import pytest
from matplotlib.patches import Rectangle
from support.panels import drawn

from pondering.report.figures import extrapolation
from pondering.results.results import Results

NAME = "parity_extrapolation"


def test_the_trained_range_is_shaded_and_lines_go_beyond_it(results: Results) -> None:
    upper, lower = drawn(extrapolation.draw(results, NAME)).axes
    (box,) = [p for p in upper.patches if isinstance(p, Rectangle)]
    assert (box.get_x(), box.get_x() + box.get_width()) == (0.5, 8.5)
    table = results.tables[NAME]
    plain = table[(table["mechanism"] == "repeat") & (table["setting"] == 1)]
    x, y = lower.lines[0].get_data()
    assert list(x) == list(range(1, 17))
    assert list(y) == pytest.approx(list(plain.groupby("difficulty")["error"].mean()))


def test_it_is_told_inside_and_beyond(results: Results) -> None:
    said = extrapolation.words(results, NAME)
    assert "PonderNet" in said and said.count(" inside, ") == said.count(" beyond") - 1
    table = results.tables[NAME]
    plain = table[(table["mechanism"] == "repeat") & (table["setting"] == 1)]
    inside, beyond = (plain.loc[plain["split"] == split, "error"].mean()
                      for split in ("interpolation", "extrapolation"))  # fmt: skip
    assert f"error {100 * inside:.3g}% inside, 1 step and {100 * beyond:.3g}% beyond" in said
