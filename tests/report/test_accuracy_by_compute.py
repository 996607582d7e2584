"""Accuracy against forward passes: how far a mean over seeds goes, and what it holds."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from support.panels import drawn

from pondering.report.figures import accuracy_by_compute, learning
from pondering.results.results import Results

NAME = "parity_interpolation"


@pytest.fixture
def uneven(results: Results) -> Results:
    """Seed 1 spends half of the forward passes that the others spend."""
    curves = results.curves[NAME]
    spent = curves["computed_steps"].where(curves["seed"] != 1, 0.5 * curves["computed_steps"])
    changed = {NAME: curves.assign(computed_steps=spent)}
    return dataclasses.replace(results, curves=changed)


def test_a_mean_line_ends_with_its_last_seed_and_every_end_is_marked(uneven: Results) -> None:
    curves = uneven.curves[NAME].dropna(subset=["error"])
    ends = curves.groupby(["mechanism", "setting", "seed"])["computed_steps"].max()
    (axes,) = drawn(accuracy_by_compute.draw(uneven, NAME)).axes
    means = [line for line in axes.lines if line.get_linewidth() > 1.8]
    marks = [line for line in axes.lines if line.get_marker() == "|"]
    chosen = [("repeat", 1), ("act", 1e-3), ("pondernet", 0.3)]
    assert len(means) == len(marks) == len(chosen)
    for line, mark, key in zip(means, marks, chosen, strict=True):
        assert max(line.get_xdata()) == pytest.approx(max(ends[key]))
        assert mark.get_xdata() == pytest.approx(list(ends[key]))


def test_pondernet_that_stops_in_training_has_a_line_of_its_own(results: Results) -> None:
    def with_epsilon(rows: pd.DataFrame) -> pd.DataFrame:
        own = rows[rows["mechanism"] == "pondernet"].assign(mechanism="pondernet[epsilon=0.05]")
        return pd.concat([rows, own], ignore_index=True)

    curves = with_epsilon(results.curves[NAME])
    stops = curves["mechanism"] == "pondernet[epsilon=0.05]"
    curves.loc[stops, "computed_steps"] *= 0.25
    tables = results.tables | {NAME: with_epsilon(results.tables[NAME])}
    both = dataclasses.replace(results, tables=tables, curves=results.curves | {NAME: curves})
    (axes,) = drawn(accuracy_by_compute.draw(both, NAME)).axes
    styles = [line.get_linestyle() for line in axes.lines if line.get_linewidth() > 1.8]
    assert styles == [":", "--", "-", "-."]


def test_a_seed_that_ended_keeps_its_accuracy_and_a_diverged_one_has_none() -> None:
    rows = [(0, 10.0, 0.5), (0, 20.0, 0.1), (1, 10.0, 0.5), (1, 40.0, 0.3), (2, math.nan, math.nan),
            (3, 10.0, 0.5), (3, math.nan, math.nan)]  # fmt: skip
    curves = pd.DataFrame(rows, columns=["seed", "computed_steps", "error"])
    curves["update"] = [1, 2, 1, 2, 1, 1, 2]
    x, y = accuracy_by_compute.mean_accuracy(curves, points=4)
    np.testing.assert_allclose(x, [10, 20, 30, 40])
    # seed 0 keeps 0.9, seed 1 rises from 0.5 to 0.7, 2 never had any, 3 loses its 0.5
    np.testing.assert_allclose(y * 4, [1.5, 0.9 + 0.5 + 0.2 / 3, 0.9 + 0.5 + 0.4 / 3, 1.6])


def test_early_stopping_keeps_the_last_error_and_divergence_does_not() -> None:
    rows = [(0, 1, 0.4), (0, 2, 0.2), (1, 1, 0.6), (2, 1, 0.5), (2, 2, math.nan)]
    wide = learning.errors_by_update(pd.DataFrame(rows, columns=["seed", "update", "error"]), 1.0)
    assert wide.loc[2].tolist() == [0.2, 0.6, 1.0]
