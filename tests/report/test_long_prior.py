"""PonderNet's steps beside the mean of its prior, cut at the steps that training unrolls."""

from __future__ import annotations

import dataclasses

import pandas as pd
import pytest
from support.panels import drawn, line_with
from support.synthetic_results import made_up_results

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
    said = long_prior.words(results, NAME)
    assert "prior mean 7.23 when cut at N = 20 (1/λp = 10)" in said


def test_without_a_curve_of_the_prior_shown_the_panel_says_so(results: Results) -> None:
    curves = results.curves[NAME]
    others = {NAME: curves[curves["mechanism"] != "pondernet"]}
    (spec,) = (spec for spec in FIGURES if spec.id == "banino-2c")
    upper, lower = drawn(spec.draw(dataclasses.replace(results, curves=others))).axes
    assert [text.get_text() for text in upper.texts] == ["no data"]
    assert not upper.lines and line_with(lower, [10, 10], [0, 1])


@pytest.mark.parametrize(
    ("settings", "told"), [([0.3, 0.1, 0.05], "λp = 0.1, "), ([0.3, 0.2], "λp = 0.2, ")]
)
def test_the_prior_shown_is_a_tenth_or_the_smallest(settings: list[float], told: str) -> None:
    made = made_up_results({"repeat": [1], "pondernet": settings}, diverged=None, points=3)
    assert long_prior.words(made, NAME).startswith(told)


def test_without_a_count_of_the_steps_unrolled_the_cut_is_not_told(results: Results) -> None:
    whole = results.curves[NAME]
    fewer = whole["computed_steps"].where(whole["update"] < 3000, 0.9 * whole["computed_steps"])
    changed: list[dict[str, pd.DataFrame]] = [
        {},
        {NAME: whole[whole["mechanism"] != "repeat"]},
        {NAME: whole.assign(computed_steps=fewer)},
    ]
    for curves in changed:
        said = long_prior.words(dataclasses.replace(results, curves=curves), NAME)
        assert said.startswith("λp = 0.1, 1/λp = 10: median ")
