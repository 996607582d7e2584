"""Figures of single examples: sequences, running text, and the gallery of digits."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from matplotlib.figure import Figure
from support.panels import bar_heights, must

from pondering.report.figures import gallery, running_text, sequences, style
from pondering.results.results import Results

# --- sequences ---


def test_sequence_traces_show_inputs_outputs_and_ponder(results: Results) -> None:
    axes = must(sequences.draw(results, "addition")).axes
    assert len(axes) == 3
    steps = results.traces["addition"][0]["steps"]
    assert bar_heights(axes[0]) == [step["ponder_time"] for step in steps]
    assert [t.get_text() for t in axes[0].get_xticklabels()] == [s["input"] for s in steps]
    texts = {t.get_text(): t.get_color() for t in axes[0].texts}
    assert texts["41430"] == style.INK and texts["42219\n≠42209"] == style.WRONG


def test_the_traces_shown_are_those_of_acts_first_seed(results: Results) -> None:
    base = results.traces["addition"][0]
    pool = [{**base, "setting": 1e-4, "seed": k} for k in (2, 1)]
    pool.append({**base, "setting": 1e-3, "seed": 0, "mechanism": "pondernet"})
    pool.append({**base, "setting": 9e-4, "seed": 0, "kind": "text"})
    changed = dataclasses.replace(results, traces={"addition": pool})
    figure = must(sequences.draw(changed, "addition"))
    assert len(figure.axes) == 1
    assert figure.legends[0].get_title().get_text() == "τ = 0.0001, seed 1"


# --- running text ---


SIZE = running_text.LENGTH


def two_seeds(results: Results) -> Results:
    """The results with a second seed, which takes one step more at every other character."""
    (first,) = results.traces["wikipedia"]
    steps = [{**step, "ponder_time": step["ponder_time"] + i % 2}
             for i, step in enumerate(first["steps"])]  # fmt: skip
    second = {**first, "seed": 1, "steps": steps}
    return dataclasses.replace(results, traces={"wikipedia": [second, first]})


def whole_text(results: Results) -> str:
    """The whole traced text, as a figure prints it."""
    (trace,) = results.traces["wikipedia"]
    return "".join(step["input"] for step in trace["steps"]).replace(" ", "␣")


def text_of(figure: Figure, seeds: int) -> str:
    """The part of the text under a figure's panels."""
    panels = figure.axes[seeds :: seeds + 2]
    return "".join(label.get_text() for axes in panels for label in axes.get_xticklabels())


@pytest.mark.parametrize("markup", [False, True])
def test_the_text_shown_has_the_fewest_or_the_most_marks(markup: bool, results: Results) -> None:
    text = whole_text(results)
    marks = [sum(c in running_text.MARKUP for c in text[i : i + SIZE])
             for i in range(10, len(text) - SIZE + 1)]  # fmt: skip
    start = 10 + marks.index(max(marks) if markup else min(marks))
    figure = must(running_text.draw(results, "wikipedia", markup=markup))
    assert text_of(figure, 1) == text[start : start + SIZE]


def test_every_seed_has_its_strip_over_loss_and_entropy(results: Results) -> None:
    both = two_seeds(results)
    figure = must(running_text.draw(both, "wikipedia", markup=True))
    start = whole_text(results).index(text_of(figure, 2))
    for place, trace in enumerate(reversed(both.traces["wikipedia"])):
        panels = figure.axes[place::4]
        steps = [step["ponder_time"] for step in trace["steps"][start : start + SIZE]]
        assert [height for axes in panels for height in bar_heights(axes)] == steps
        assert panels[0].get_ylabel() == f"seed {place}"
    part = trace["steps"][start : start + SIZE]
    for line, kind in enumerate(("loss", "entropy")):
        bits = [y for axes in figure.axes[2::4] for y in axes.lines[line].get_ydata()]
        np.testing.assert_allclose(bits, [step[kind] / math.log(2) for step in part])


# --- gallery ---


def test_the_gallery_shows_pixels_steps_and_wrong_answers(results: Results) -> None:
    cells = must(gallery.draw(results, "mnist")).axes
    traces = results.traces["mnist"]
    np.testing.assert_array_equal(cells[0].images[0].get_array(), traces[0]["pixels"])
    assert cells[0].get_title() == "says 0\n9.00 steps"
    assert cells[2].get_title() == "says 7, is 2\n8.00 steps"
    assert cells[6].get_title().endswith("6.00 steps")
