"""Bars of error by time penalty are means over seeds, with standard errors and every seed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.panels import bar_heights, drawn, line_with, seed_means
from support.synthetic_results import FEW, only, table_of

from pondering.report.figures import error_by_penalty
from pondering.results.results import Results


def test_error_bars_are_means_with_standard_errors(results: Results) -> None:
    # the order of the rows must not matter
    table = results.tables["logic"].sample(frac=1.0, random_state=0)
    axes = drawn(error_by_penalty.draw(only("logic", tables={"logic": table}), "logic")).axes[0]
    order = [("repeat", 1), *(("act", s) for s in FEW["act"]),
             *(("repeat", s) for s in [2, 3, 5, 8])]  # fmt: skip
    errors = [[e for e, _ in seed_means(table, *key)] for key in order]
    assert errors[3][1] == 1.0, "the diverged seed is in the data as a failure"
    np.testing.assert_allclose(bar_heights(axes), [np.mean(e) for e in errors])
    whiskers = axes.containers[-1].lines[2][0].get_segments()
    half = [abs(s[1, 1] - s[0, 1]) / 2 for s in whiskers]
    np.testing.assert_allclose(half, [np.std(e, ddof=1) / math.sqrt(3) for e in errors])
    points = np.concatenate([c.get_offsets()[:, 1] for c in axes.collections[:-1]])
    assert sorted(points) == pytest.approx(sorted(np.concatenate(errors)))
    assert [t.get_text() for t in axes.get_xticklabels()][:4] == ["plain", "0.001", "0.01", "0.1"]


def test_text_levels_read_the_training_split_and_diamonds_the_other() -> None:
    table = table_of("wikipedia", FEW, 2)
    table.loc[table["split"] == "heldout", "error"] = 2.5
    text = only("wikipedia", tables={"wikipedia": table})
    axes = drawn(error_by_penalty.draw(text, "wikipedia")).axes[0]
    wanted = np.mean([e for e, _ in seed_means(table[table["split"] == "train"], "repeat", 1)])
    assert line_with(axes, [0.1, 0.9], [wanted] * 2)
    assert axes.lines[-1].get_ydata().tolist() == [2.5] * 8
    # bits have no natural zero: bars from there would hide what differs
    assert not bar_heights(axes) and axes.get_ylim()[0] > 1


def test_the_papers_values_are_hollow_beside_ours() -> None:
    def hollow(name: str) -> dict[float, tuple[float, str]]:
        table = table_of(name, {"repeat": [1.0], "act": [1e-3, 0.03, 0.1]}, 2)
        table.loc[table["setting"] == 0.03, "error"] = 0.001
        figure = drawn(error_by_penalty.draw(only(name, tables={name: table}), name))
        marks = [line for line in figure.axes[0].lines if line.get_markerfacecolor() == "none"]
        names = {"o": "Paper", "v": "Paper: at most"}
        told = {text.get_text() for text in figure.legends[0].get_texts() if "P" in text.get_text()}
        assert told - {"Plain network"} == {names[str(mark.get_marker())] for mark in marks}
        return {m.get_xdata()[0]: (m.get_ydata()[0], m.get_marker()) for m in marks}

    plain, low, middle, high = 0.5, 2.0, 3.0, 4.0
    assert hollow("parity") == {plain: (0.4, "o"), low: (0.05, "v"), middle: (0.05, "v")}
    assert hollow("logic") == {plain: (0.2, "o"), low: (0.0, "o")}
    assert set(hollow("addition")) == {low, middle, high}
    assert hollow("sort") == {plain: (0.12, "o"), middle: (0.06, "o")}


def test_one_lost_seed_is_marked_at_the_end_of_the_axis() -> None:
    table = table_of("logic", {"repeat": [1.0], "act": [0.01]}, 12)
    table["error"] = 0.1
    results = only("logic", tables={"logic": table})
    table.loc[(table["mechanism"] == "act") & (table["seed"] == 3), "error"] = 0.9
    axes = drawn(error_by_penalty.draw(results, "logic")).axes[0]
    assert 0.3 <= axes.get_ylim()[1] < 0.4
    assert "90%" in [text.get_text() for text in axes.texts]
    # the median of twelve seeds stays where the others are
    assert line_with(axes, [1.6, 2.4], [0.1, 0.1])
    table.loc[table["seed"] < 6, "error"] = 0.9
    axes = drawn(error_by_penalty.draw(results, "logic")).axes[0]
    assert axes.get_ylim()[1] > 0.9, "half of the seeds are not left out"
