"""Figures of text: which stretch is shown, every seed's steps, loss and entropy in bits."""

from __future__ import annotations

import copy
import dataclasses
import math

import numpy as np
import pytest
from matplotlib.figure import Figure
from support.panels import bar_heights, drawn

from pondering.report.figures import running_text
from pondering.results.results import Results

SIZE = running_text.ROW_LENGTH * running_text.TEXT_ROWS


def two_seeds(results: Results, steps: float | None = None) -> Results:
    """The text as a second seed reads it, with one step more at every other character."""
    (first,) = results.traces["wikipedia"]
    own = [{**step, "ponder_time": steps or step["ponder_time"] + i % 2}
           for i, step in enumerate(first["steps"])]  # fmt: skip
    second = {**first, "seed": 1, "steps": own}
    return dataclasses.replace(results, traces={"wikipedia": [second, first]})


def read(results: Results) -> str:
    """All of the text that was read, as a figure prints it."""
    (trace,) = results.traces["wikipedia"]
    return "".join(step["input"] for step in trace["steps"]).replace(" ", "␣")


def shown(figure: Figure, seeds: int) -> str:
    """The stretch of it under the panels."""
    panels = figure.axes[seeds :: seeds + 2]
    return "".join(label.get_text() for axes in panels for label in axes.get_xticklabels())


@pytest.mark.parametrize("markup", [False, True])
def test_the_stretch_shown_has_the_fewest_or_the_most_marks(markup: bool, results: Results) -> None:
    text = read(results)
    marks = [sum(c in running_text.MARKUP for c in text[i : i + SIZE])
             for i in range(10, len(text) - SIZE + 1)]  # fmt: skip
    start = 10 + marks.index(max(marks) if markup else min(marks))
    figure = drawn(running_text.draw(results, "wikipedia", 6e-3, markup=markup))
    assert shown(figure, 1) == text[start : start + SIZE]


def test_every_seed_has_its_strip_over_loss_and_entropy(results: Results) -> None:
    both = two_seeds(results)
    figure = drawn(running_text.draw(both, "wikipedia", 6e-3, markup=True))
    start = read(results).index(shown(figure, 2))
    for place, trace in enumerate(reversed(both.traces["wikipedia"])):
        panels = figure.axes[place::4]
        steps = [step["ponder_time"] for step in trace["steps"][start : start + SIZE]]
        assert [height for axes in panels for height in bar_heights(axes)] == steps
        assert panels[0].get_ylabel() == f"seed {place}"
    own = trace["steps"][start : start + SIZE]
    for line, kind in enumerate(("loss", "entropy")):
        bits = [y for axes in figure.axes[2::4] for y in axes.lines[line].get_ydata()]
        np.testing.assert_allclose(bits, [step[kind] / math.log(2) for step in own])


def test_rows_of_text_are_equally_long(results: Results) -> None:
    (trace,) = results.traces["wikipedia"]
    short = {**trace, "steps": trace["steps"][:64]}
    shortened = dataclasses.replace(results, traces={"wikipedia": [short]})
    figure = drawn(running_text.draw(shortened, "wikipedia", 6e-3, markup=False))
    assert [len(axes.patches) for axes in figure.axes[::3]] == [32, 32]


def test_equal_steps_are_said_to_be_equal(results: Results) -> None:
    said = running_text.words(two_seeds(results, 6.0), "wikipedia", 6e-3, markup=True)
    assert "seed 1: every character took 6 steps, the most of any seed" in said
    assert "seed 0" in said and "most at" in said.split("seed 1")[0]


def test_a_seed_of_equal_steps_is_named_and_not_drawn(results: Results) -> None:
    both = copy.deepcopy(two_seeds(results, 6.0))
    figure = drawn(running_text.draw(both, "wikipedia", 6e-3, markup=True))
    strips = [axes.get_ylabel() for axes in figure.axes if axes.get_ylabel().startswith("seed")]
    assert set(strips) == {"seed 0"}
    title = figure.legends[0].get_title().get_text()
    assert title == "τ = 6e-3\nseed 1: 6 steps at every character"
    # where none varies all are drawn
    for trace in both.traces["wikipedia"]:
        for step in trace["steps"]:
            step["ponder_time"] = 6.0
    figure = drawn(running_text.draw(both, "wikipedia", 6e-3, markup=True))
    assert "every" not in figure.legends[0].get_title().get_text()
    assert {axes.get_ylabel() for axes in figure.axes} >= {"seed 0", "seed 1"}
