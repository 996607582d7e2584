"""Figures of text: which stretch is shown, every seed's steps, loss and entropy in bits."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from matplotlib.patches import Rectangle
from support.synthetic_results import made_up_results

from pondering.report.figures import running_text
from pondering.results.results import Results


@pytest.fixture(scope="module")
def results() -> Results:
    return made_up_results(points=3)


def two_seeds(results: Results, steps: float | None = None) -> Results:
    """The text as a second seed reads it, with one step fewer at some characters."""
    (first,) = results.traces["wikipedia"]
    own = [{**step, "ponder_time": steps or step["ponder_time"] + i % 2}
           for i, step in enumerate(first["steps"])]  # fmt: skip
    second = {**first, "seed": 1, "steps": own}
    return dataclasses.replace(results, traces={"wikipedia": [second, first]})


def test_text_windows_have_the_fewest_and_the_most_marks(results: Results) -> None:
    (trace,) = results.traces["wikipedia"]
    size = running_text.ROW_LENGTH * running_text.TEXT_ROWS
    text = "".join(step["input"] for step in trace["steps"])
    marks = [sum(c in running_text.MARKUP for c in text[i : i + size])
             for i in range(10, len(text) - size + 1)]  # fmt: skip
    for markup, wanted in ((False, min(marks)), (True, max(marks))):
        _, start = running_text.text_window([trace], markup=markup)
        assert marks[start - 10] == wanted and marks.index(wanted) == start - 10


def test_every_seed_has_its_strip_over_loss_and_entropy(results: Results) -> None:
    both = two_seeds(results)
    figure = running_text.draw(both, "wikipedia", 6e-3, markup=True)
    assert figure is not None
    strips, start = running_text.text_strips(both, "wikipedia", markup=True)
    assert [trace["seed"] for trace in strips] == [0, 1]
    for place, trace in enumerate(strips):
        steps = running_text.shown_steps(trace, start)
        panels = figure.axes[place::4]
        bars = [p.get_height() for axes in panels for p in axes.patches if isinstance(p, Rectangle)]
        assert bars == [step["ponder_time"] for step in steps]
        assert panels[0].get_ylabel() == f"seed {trace['seed']}"
    first = running_text.shown_steps(strips[0], start)
    loss = [y for axes in figure.axes[2::4] for y in axes.lines[0].get_ydata()]
    np.testing.assert_allclose(loss, [step["loss"] / math.log(2) for step in first])


def test_rows_of_text_are_equally_long(results: Results) -> None:
    (trace,) = results.traces["wikipedia"]
    short = {**trace, "steps": trace["steps"][:64]}
    shortened = dataclasses.replace(results, traces={"wikipedia": [short]})
    figure = running_text.draw(shortened, "wikipedia", 6e-3, markup=False)
    assert figure is not None
    assert [len(axes.patches) for axes in figure.axes[::3]] == [32, 32]


def test_equal_steps_are_said_to_be_equal(results: Results) -> None:
    said = running_text.words(two_seeds(results, 6.0), "wikipedia", 6e-3, markup=True)
    assert "seed 1: every character took 6 steps, the most of any seed" in said
    assert "seed 0" in said and "most at" in said.split("seed 1")[0]
