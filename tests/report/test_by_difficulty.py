"""Ponder and error by difficulty are medians over seeds; of a long grid a part is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from support.panels import bar_heights, drawn, line_with
from support.synthetic_results import only, table_of

from pondering.report.figures import by_difficulty, error_by_penalty
from pondering.results.results import Results


def test_difficulty_panels_show_aggregated_ponder_and_error(results: Results) -> None:
    table = results.tables["sort"]
    upper, lower = drawn(by_difficulty.draw(results, "sort")).axes
    for mechanism, setting in (("act", 0.01), ("act", 0.1), ("repeat", 1)):
        own = table[(table["mechanism"] == mechanism) & (table["setting"] == setting)]
        lengths = list(range(2, 16))
        rows = [own[own["difficulty"] == d] for d in lengths]
        # a seed without ponder leaves the median of the others; its error counts in full
        assert line_with(upper, lengths, [np.nanmedian(r["ponder_time"]) for r in rows])
        assert line_with(lower, lengths, [sorted(r["error"])[1] for r in rows])
    assert len(upper.lines) == len(lower.lines) == 4
    band = upper.collections[1].get_paths()[0].vertices
    own = table[(table["mechanism"] == "act") & (table["setting"] == 0.01)]
    first = own.loc[own["difficulty"] == 2, "ponder_time"]
    edges = band[band[:, 0] == 2, 1]
    low, middle, high = sorted(first)
    assert edges.min() == pytest.approx((low + middle) / 2)
    assert edges.max() == pytest.approx((middle + high) / 2)


def test_steps_double_from_tick_to_tick_where_a_seed_took_many() -> None:
    table = table_of("logic", {"repeat": [1], "act": [0.01]}, 2)
    results = only("logic", tables={"logic": table})
    for steps, scale in ((3.0, "linear"), (12.0, "log")):
        table.loc[table["mechanism"] == "act", "ponder_time"] = steps
        assert drawn(by_difficulty.draw(results, "logic")).axes[0].get_yscale() == scale


def test_a_long_grid_is_thinned_evenly_and_says_so() -> None:
    settings: dict[str, list[float]] = {"repeat": [1], "act": [i / 1000 for i in range(1, 38)]}
    table = table_of("parity", settings, 1)
    results = only("parity", profile="paper", tables={"parity": table})
    figure = drawn(by_difficulty.draw(results, "parity"))
    assert len(figure.axes[0].lines) == 7 + 1
    legend = figure.legends[0]
    assert legend.get_title().get_text() == "7 of 37 settings"
    names = [text.get_text() for text in legend.get_texts()]
    assert names[0] == "τ = 0.001" and names[6] == "τ = 0.037"
    assert len(bar_heights(drawn(error_by_penalty.draw(results, "parity")).axes[0])) == 38
