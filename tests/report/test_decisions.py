"""Figures of questions: measured values and registered bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from matplotlib.axes import Axes
from support import question_cases as cases
from support.panels import must
from support.published import REGISTER

from pondering.claims.verdicts import judge
from pondering.report.figures import FigureSpec, claim_figure, decisions, layout
from pondering.results.results import Results

ASKED = {each.id: each for each in REGISTER.claims if each.ours}
RUNS: dict[str, Callable[[], Results]] = {
    "Q1": cases.q1,
    "Q2": lambda: cases.q2(0.05),
    "Q3": lambda: cases.q3({3: 10, -3: 0}, back=1),
    "Q4": lambda: cases.q4(0.1, 0.02),
    "Q5": lambda: cases.q5({"pondernet": 0.5, "random_depth": 0.9}, {"random_depth": 0.8}),
    "Q6": lambda: cases.q6(-0.05, 0.5),
    "Q7": lambda: cases.q7(0.1, 1.0),
}


def figure_of(name: str, results: Results) -> FigureSpec:
    return claim_figure(judge(ASKED[name], results))


def rows(axes: Axes) -> dict[str, float]:
    """The height of each row's middle, by label."""
    labels = [each.get_text().replace("\n", " ") for each in axes.get_yticklabels()]
    return {label: round(at, 3) for label, at in zip(labels, axes.get_yticks(), strict=True)}


def points(axes: Axes) -> dict[float, float]:
    """The estimate of each row, by the height of its middle."""
    found = (line.get_xydata() for line in axes.lines if line.get_marker() == "o")
    return {round(float(y), 3): float(x) for ((x, y),) in found}


def shades(axes: Axes) -> list[tuple[float, float, float]]:
    """Left and right end of each shade, and the height of its middle."""
    boxes = [each.get_paths()[0].get_extents() for each in axes.collections]
    return [(box.x0, box.x1, round((box.y0 + box.y1) / 2, 3)) for box in boxes]


@pytest.mark.parametrize("name", RUNS)
def test_every_question_has_a_figure_that_a_phone_can_show(name: str) -> None:
    results = RUNS[name]()
    spec = figure_of(name, results)
    figure = must(spec.draw(results))
    figure.draw_without_rendering()
    assert figure.get_figwidth() == layout.WIDTH
    width = figure.get_window_extent().width
    for text in (t for axes in figure.axes for t in axes.get_yticklabels()):
        box = text.get_window_extent()
        assert box.x0 > -2 and box.x1 < 1.02 * width, text.get_text()


def test_a_panel_has_estimates_intervals_and_the_bound_of_each_row() -> None:
    results = RUNS["Q1"]()
    found = judge(ASKED["Q1"], results)
    figure = must(figure_of("Q1", results).draw(results))
    networks, correlation, _ = figure.axes
    assert networks.get_xlabel() == "networks" and correlation.get_xlabel() == "correlation"
    places, at = rows(correlation), points(correlation)
    for quantity in (each for each in found.quantities if each.unit == "correlation"):
        if np.isfinite(quantity.value):
            assert at[places[quantity.label]] == pytest.approx(quantity.value)
    boxes, ends = shades(correlation), correlation.get_xlim()
    pondernet = places["PonderNet: correlation with difficulty"]
    act = places["ACT: correlation with difficulty"]
    assert (ends[0], pytest.approx(-0.3), pondernet) in boxes
    assert (pytest.approx(0.3), ends[1], act) in boxes and len(boxes) == 3
    assert shades(networks) == [(5.0, networks.get_xlim()[1], next(iter(rows(networks).values())))]


def test_whiskers_are_the_intervals() -> None:
    results = cases.q5({"pondernet": 0.5, "random_depth": 0.9}, {"random_depth": 0.8})
    found = judge(ASKED["Q5"], results)
    (beyond,) = (
        q
        for q in found.quantities
        if (q.part, q.name) == ("Comparison beyond, Random depth", "accuracy_beyond")
    )
    axes = must(figure_of("Q5", results).draw(results)).axes[0]
    place = rows(axes)[f"{beyond.part}: {beyond.label}"]
    whisker = next(
        each
        for each in axes.lines
        if round(each.get_ydata()[0], 3) == place and len(each.get_xdata()) == 2
    )
    assert list(whisker.get_xdata()) == pytest.approx([beyond.low, beyond.high])


def test_of_many_estimates_only_the_deciding_ones_are_drawn() -> None:
    estimates = [
        {"part": "", "quantity": f"{number}", "label": f"{number}", "unit": "share", "value": 0.5,
         "low": None, "high": None}
        for number in range(decisions.MOST_ROWS + 1)
    ]  # fmt: skip
    bound = {"quantity": "7", "low": 0.4, "high": None, "condition": False}
    (axes,) = must(decisions.draw(Results("quick"), estimates, [bound])).axes
    assert list(rows(axes)) == ["7"]
    (axes,) = must(decisions.draw(Results("quick"), estimates[1:], [bound])).axes
    assert len(rows(axes)) == decisions.MOST_ROWS and next(iter(rows(axes))) == "7"


def test_a_quantity_that_was_not_measured_says_so() -> None:
    results = cases.q1(beta_zero=False)
    correlation = must(figure_of("Q1", results).draw(results)).axes[1]
    place = rows(correlation)["beta 0: correlation with difficulty"]
    texts = {each.get_text(): each.xy[1] for each in correlation.texts}
    assert set(texts) == {"not measured"} and place not in points(correlation)
