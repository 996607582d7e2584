"""Figures of text: which stretch is shown, every seed's steps, loss and entropy in bits."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from matplotlib.figure import Figure
from support.panels import bar_heights, drawn

from pondering.report.figures import running_text
from pondering.results.results import Results

SIZE = running_text.ROW_LENGTH * running_text.TEXT_ROWS


def two_seeds(results: Results) -> Results:
    """The text as a second seed reads it, with one step more at every other character."""
    (first,) = results.traces["wikipedia"]
    own = [{**step, "ponder_time": step["ponder_time"] + i % 2}
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
    figure = drawn(running_text.draw(results, "wikipedia", markup=markup))
    assert shown(figure, 1) == text[start : start + SIZE]


def test_every_seed_has_its_strip_over_loss_and_entropy(results: Results) -> None:
    both = two_seeds(results)
    figure = drawn(running_text.draw(both, "wikipedia", markup=True))
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
    figure = drawn(running_text.draw(shortened, "wikipedia", markup=False))
    assert [len(axes.patches) for axes in figure.axes[::3]] == [32, 32]
