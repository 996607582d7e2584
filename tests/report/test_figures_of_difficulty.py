"""Figures of error and steps by difficulty, and of steps under a long prior."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from support.panels import bar_heights, line_with, must
from support.synthetic_results import only, table_of

from pondering.report.figures import (
    by_difficulty,
    error_by_penalty,
    long_prior,
    methods_by_difficulty,
)
from pondering.results.results import Results

NAME = "parity_interpolation"


# --- by difficulty ---


def test_difficulty_panels_show_aggregated_ponder_and_error(results: Results) -> None:
    table = results.tables["sort"]
    upper, lower = must(by_difficulty.draw(results, "sort")).axes
    for mechanism, setting in (("act", 0.01), ("act", 0.1), ("repeat", 1)):
        chosen = table[(table["mechanism"] == mechanism) & (table["setting"] == setting)]
        lengths = list(range(2, 16))
        rows = [chosen[chosen["difficulty"] == d] for d in lengths]
        # A diverged seed has no steps, but its error counts.
        assert line_with(upper, lengths, [np.nanmedian(r["ponder_time"]) for r in rows])
        assert line_with(lower, lengths, [sorted(r["error"])[1] for r in rows])
    assert len(upper.lines) == len(lower.lines) == 4
    band = upper.collections[1].get_paths()[0].vertices
    chosen = table[(table["mechanism"] == "act") & (table["setting"] == 0.01)]
    first = chosen.loc[chosen["difficulty"] == 2, "ponder_time"]
    edges = band[band[:, 0] == 2, 1]
    low, middle, high = sorted(first)
    assert edges.min() == pytest.approx((low + middle) / 2)
    assert edges.max() == pytest.approx((middle + high) / 2)


def test_a_long_grid_is_thinned_evenly_and_says_so() -> None:
    settings: dict[str, list[float]] = {"repeat": [1], "act": [i / 1000 for i in range(1, 38)]}
    table = table_of("parity", settings, 1)
    results = only("parity", profile="paper", tables={"parity": table})
    figure = must(by_difficulty.draw(results, "parity"))
    assert len(figure.axes[0].lines) == 7 + 1
    legend = figure.legends[0]
    assert legend.get_title().get_text() == "7 of 37 settings"
    names = [text.get_text() for text in legend.get_texts()]
    assert names[0] == "τ = 0.001" and names[6] == "τ = 0.037"
    assert len(bar_heights(must(error_by_penalty.draw(results, "parity")).axes[0])) == 38


# --- methods by difficulty ---


def test_accuracy_and_steps_by_angle(results: Results) -> None:
    table = results.tables["mnist_rotated"]
    upper, lower = must(methods_by_difficulty.draw(results, "mnist_rotated", "range")).axes
    chosen = table[(table["mechanism"] == "act") & (table["setting"] == 1e-3)]
    means = (
        chosen[chosen["split"] == "range"].groupby("difficulty")[["error", "ponder_time"]].mean()
    )
    assert line_with(upper, [22.5, 45, 67.5, 90], 1 - means["error"])
    assert line_with(lower, [22.5, 45, 67.5, 90], means["ponder_time"])
    # Lines that coincide stay visible: the widest lies below.
    widths = [line.get_linewidth() for line in upper.lines]
    assert len(set(widths)) == 3 and widths == sorted(widths, reverse=True)


def test_the_trained_range_is_shaded_and_lines_go_beyond_it(results: Results) -> None:
    name = "parity_extrapolation"
    upper, _ = must(methods_by_difficulty.draw(results, name)).axes
    (box,) = [p for p in upper.patches if isinstance(p, Rectangle)]
    assert (box.get_x(), box.get_x() + box.get_width()) == (0.5, 8.5)
    table = results.tables[name]
    plain = table[(table["mechanism"] == "repeat") & (table["setting"] == 1)]
    errors = plain.groupby("difficulty")["error"].mean()
    x, y = upper.lines[0].get_data()
    assert list(x) == list(range(1, 17)) and list(y) == pytest.approx(list(1 - errors))


# --- long prior ---


def test_the_mean_of_the_prior_is_truncated_at_n(results: Results) -> None:
    mass = [0.1 * 0.9 ** (n - 1) for n in range(1, 21)]
    mean = sum(n * p for n, p in zip(range(1, 21), mass, strict=True)) / sum(mass)
    assert mean == pytest.approx(7.23, abs=0.01)
    upper, lower = must(long_prior.draw(results, NAME)).axes
    for value in (mean, 10):
        assert line_with(upper, [0, 1], [value, value]), value
        assert line_with(lower, [value, value], [0, 1]), value
    (mark,) = [line for line in lower.lines if line.get_marker() == "o"]
    assert mark.get_xdata()[0] == 3.5, "the paper's median"


@pytest.mark.parametrize(("settings", "prior"), [([0.3, 0.1, 0.05], 0.1), ([0.3, 0.2], 0.2)])
def test_the_prior_shown_is_a_tenth_or_the_smallest(settings: list[float], prior: float) -> None:
    assert long_prior.prior_shown(settings) == prior


def test_without_a_count_of_unrolled_steps_the_truncated_mean_is_not_drawn(
    results: Results,
) -> None:
    whole = results.curves[NAME]
    fewer = whole["computed_steps"].where(whole["update"] < 3000, 0.9 * whole["computed_steps"])
    without_plain = whole[whole["mechanism"] != "repeat"]
    assert long_prior.steps_unrolled(whole) == 20
    for curves in (whole[:0], without_plain, whole.assign(computed_steps=fewer)):
        assert long_prior.steps_unrolled(curves) is None
    without_count = dataclasses.replace(results, curves={NAME: without_plain})
    lower = must(long_prior.draw(without_count, NAME)).axes[1]
    assert line_with(lower, [10, 10], [0, 1])
    assert not line_with(lower, [long_prior.prior_mean(0.1, 20)] * 2, [0, 1])
