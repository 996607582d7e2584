"""Axes, titles and captions say what is plotted: scales of steps, ends of means, sizes, seeds."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest
from support.synthetic_results import curves_of, made_up_results

from pondering.report.figures import FIGURES, accuracy_by_compute, extrapolation, style
from pondering.report.figures.layout import unequal_sizes
from pondering.report.figures.rates import figure_rates
from pondering.report.figures.shapes.curves import first_end
from pondering.results.results import Results

BY_ID = {spec.id: spec for spec in FIGURES}


@pytest.fixture(scope="module")
def results() -> Results:
    return made_up_results(points=5)


def test_steps_double_from_tick_to_tick_where_a_seed_took_many() -> None:
    figure, (few, many) = style.new_figure([1, 1])
    for axes, highest in ((few, 3.0), (many, 19.3)):
        axes.plot([1, highest], [0, 1])
        style.steps_axis(axes, highest)
    figure.canvas.draw()
    assert few.get_xscale() == "linear"
    assert list(many.get_xticks()) == [1, 2, 4, 8, 16] and many.get_xscale() == "log"


def test_difficulty_begins_at_its_lowest() -> None:
    _, (axes,) = style.new_figure([1])
    for lowest, highest in ((1, 64), (2, 15), (1, 5), (1, 1)):
        axes.plot([lowest, highest], [0, 1])
        style.difficulty_axis(axes, lowest, highest)
        ticks = axes.get_xticks()
        assert ticks[0] == lowest and max(ticks) <= highest
        assert all(tick == round(tick) for tick in ticks)


def test_a_mean_line_ends_with_its_first_seed(results: Results) -> None:
    curves = curves_of("parity_interpolation", {"act": [0.01]}, 3)
    late = curves["computed_steps"].where(curves["seed"] != 1, 0.5 * curves["computed_steps"])
    curves = curves.assign(computed_steps=late)
    assert first_end(curves) == late[curves["seed"] == 1].max()
    gone = curves.assign(error=np.nan)
    assert first_end(gone) == float("inf")
    whole = results.curves["parity_interpolation"]
    spent = whole["computed_steps"].where(whole["seed"] != 1, 0.5 * whole["computed_steps"])
    cut = whole.assign(computed_steps=spent)
    figure = BY_ID["banino-1c"].draw(
        dataclasses.replace(results, curves={"parity_interpolation": cut})
    )
    assert figure is not None
    ends = {max(line.get_xdata()) for line in figure.axes[0].lines if line.get_linewidth() > 1.5}
    allowed = {first_end(own) for _, own in cut.groupby(["mechanism", "setting"])}
    assert ends and all(any(0.95 * end <= x <= end for end in allowed) for x in ends)


def test_compute_is_told_with_its_range(results: Results) -> None:
    assert "PonderNet, λp = 0.3: 7.68M." in accuracy_by_compute.words(
        results, "parity_interpolation"
    )
    curves = results.curves["parity_interpolation"]
    spent = curves["computed_steps"].where(curves["seed"] != 1, 0.5 * curves["computed_steps"])
    curves = {"parity_interpolation": curves.assign(computed_steps=spent)}
    changed = dataclasses.replace(results, curves=curves)
    assert "PonderNet, λp = 0.3: 6.4M (3.84M to 7.68M)." in accuracy_by_compute.words(
        changed, "parity_interpolation"
    )


def test_layouts_of_different_size_are_no_controlled_comparison(results: Results) -> None:
    names = ("parity", "parity_scattered")
    cards = {
        name: dataclasses.replace(results.cards[name], what=f"{size} elements, so; RNN")
        for name, size in zip(names, (64, 10), strict=True)
    }
    said = unequal_sizes(dataclasses.replace(results, cards=cards), names)
    assert said == "64 elements against 10 elements: not a controlled comparison."
    same = {name: cards["parity"] for name in names}
    assert unequal_sizes(dataclasses.replace(results, cards=same), names) == ""


def test_headings_say_how_many_seeds_there_are(results: Results) -> None:
    figure = BY_ID["graves-04"].draw(results)
    assert figure is not None
    assert any("Profile quick, 3 seeds" in text.get_text() for text in figure.texts)


def test_layout_panels_hold_all_of_their_lines(results: Results) -> None:
    figure = BY_ID["beyond-layout"].draw(results)
    assert figure is not None and len(figure.axes) == 4
    for axes in figure.axes:
        highest = max(np.nanmax(line.get_ydata()) for line in axes.lines)
        assert axes.get_ylim()[0] == 0 and axes.get_ylim()[1] >= highest


def test_extrapolation_is_told_inside_and_beyond(results: Results) -> None:
    said = extrapolation.words(results, "parity_extrapolation")
    assert "PonderNet" in said and said.count(" inside, ") == said.count(" beyond") - 1


def test_one_learning_rate_is_no_search() -> None:
    curves = curves_of("parity", {"act": [0.01, 0.1]}, 1, points=4)
    one = curves.assign(learning_rate=1e-3)
    two = pd.concat([one, curves.assign(learning_rate=1e-2)])
    for rows, title in ((one, "Parity, ACT: learning curves"),
                        (two, "Parity, ACT: learning rates tried")):  # fmt: skip
        assert title in [
            text.get_text() for text in figure_rates(rows, "16 bits", "error rate", 1.0).texts
        ]
