"""PonderNet's steps beside the mean of its prior, cut at the steps that training unrolls."""

from __future__ import annotations

import dataclasses

import pytest
from support.panels import drawn, line_with

from pondering.report.figures import FIGURES, long_prior
from pondering.results.results import Results

NAME = "parity_interpolation"


def test_the_mean_of_the_prior_is_that_of_the_prior_cut_at_n(results: Results) -> None:
    mass = [0.1 * 0.9 ** (n - 1) for n in range(1, 21)]
    mean = sum(n * p for n, p in zip(range(1, 21), mass, strict=True)) / sum(mass)
    assert mean == pytest.approx(7.23, abs=0.01)
    upper, lower = drawn(long_prior.draw(results, NAME)).axes
    for value in (mean, 10):
        assert line_with(upper, [0, 1], [value, value]), value
        assert line_with(lower, [value, value], [0, 1]), value
    (mark,) = [line for line in lower.lines if line.get_marker() == "o"]
    assert mark.get_xdata()[0] == 3.5, "the paper's median"


def test_without_a_curve_of_the_prior_shown_the_panel_says_so(results: Results) -> None:
    curves = results.curves[NAME]
    others = {NAME: curves[curves["mechanism"] != "pondernet"]}
    (spec,) = (spec for spec in FIGURES if spec.id == "banino-2c")
    upper, lower = drawn(spec.draw(dataclasses.replace(results, curves=others))).axes
    assert [text.get_text() for text in upper.texts] == ["no data"]
    assert not upper.lines and line_with(lower, [10, 10], [0, 1])


@pytest.mark.parametrize(("settings", "shown"), [([0.3, 0.1, 0.05], 0.1), ([0.3, 0.2], 0.2)])
def test_the_prior_shown_is_a_tenth_or_the_smallest(settings: list[float], shown: float) -> None:
    assert long_prior.prior_shown(settings) == shown


def test_without_a_count_of_the_steps_unrolled_the_cut_is_not_drawn(results: Results) -> None:
    whole = results.curves[NAME]
    fewer = whole["computed_steps"].where(whole["update"] < 3000, 0.9 * whole["computed_steps"])
    without_plain = whole[whole["mechanism"] != "repeat"]
    assert long_prior.steps_unrolled(whole) == 20
    for curves in (None, without_plain, whole.assign(computed_steps=fewer)):
        assert long_prior.steps_unrolled(curves) is None
    changed = dataclasses.replace(results, curves={NAME: without_plain})
    lower = drawn(long_prior.draw(changed, NAME)).axes[1]
    assert line_with(lower, [10, 10], [0, 1])
    assert not line_with(lower, [long_prior.prior_mean(0.1, 20)] * 2, [0, 1])
