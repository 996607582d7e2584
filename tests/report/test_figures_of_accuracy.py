"""Figures of accuracy: by method, compute, setting and exit rule, and in solved networks."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from support.panels import bar_heights, line_with, must, seed_means
from support.synthetic_results import FEW, made_up_results, only, table_of

from pondering.report.figures import (
    FIGURES,
    accuracy_and_steps,
    accuracy_by_compute,
    learning,
    seeds_by_setting,
    solved_networks,
)
from pondering.results.exits import at_best_settings, best_fixed
from pondering.results.results import Results

NAME = "parity_interpolation"


# --- accuracy and steps ---


def test_methods_are_compared_at_their_best_sampled_setting(results: Results) -> None:
    table = results.tables["parity_interpolation"]
    upper, lower = must(accuracy_and_steps.draw(results, "parity_interpolation", ("test",))).axes
    best = {}
    for mechanism in ("act", "pondernet"):
        errors = {s: np.mean([e for e, _ in seed_means(table, mechanism, s)])
                  for s in FEW[mechanism]}  # fmt: skip
        best[mechanism] = min(errors, key=lambda s: errors[s])
    keys = [("repeat", 1.0), *best.items()]
    means = [np.mean(seed_means(table, *key), axis=0) for key in keys]
    np.testing.assert_allclose(bar_heights(upper), [1 - m[0] for m in means])
    np.testing.assert_allclose(bar_heights(lower), [m[1] for m in means])
    solved = [sum(e < 0.05 for e, _ in seed_means(table, *key)) for key in keys]
    notes = [t.get_text() for t in upper.texts if "/" in t.get_text()]
    assert notes == [f"{count}/3" for count in solved]
    for key, bars in zip(keys, upper.containers[1::2], strict=True):
        right = [1 - e for e, _ in seed_means(table, *key)]
        student = stats.ttest_1samp(right, 0).confidence_interval()
        low, high = np.clip([student.low, student.high], 0, 1)
        np.testing.assert_allclose(bars.lines[2][0].get_segments()[0][:, 1], [low, high])


def test_extrapolation_keeps_the_settings_chosen_inside_the_trained_range() -> None:
    """Hollow marks are the paper's values."""
    table = table_of("parity_extrapolation", FEW, 2)
    outside = (table["split"] == "extrapolation") & (table["mechanism"] == "act")
    # Beyond the range another setting would be the best.
    table.loc[outside, "error"] = 0.5
    table.loc[outside & (table["setting"] == 0.1), "error"] = 0.0
    name, splits = "parity_extrapolation", ("interpolation", "extrapolation")
    figure = must(accuracy_and_steps.draw(only(name, tables={name: table}), name, splits))
    heights = bar_heights(figure.axes[0])
    assert len(heights) == 6 and heights[3] == 0.5
    assert "τ = 0.001" in figure.axes[1].get_xticklabels()[1].get_text()
    for axes, wanted in zip(figure.axes, ([0.52, 0.93], [2.1, 5.0]), strict=True):
        marks = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
        assert [mark.get_ydata()[0] for mark in marks] == wanted


# --- accuracy by compute ---


def test_a_seed_that_ended_keeps_its_accuracy_and_a_diverged_one_has_none() -> None:
    rows = [(0, 10.0, 0.5), (0, 20.0, 0.1), (1, 10.0, 0.5), (1, 40.0, 0.3), (2, math.nan, math.nan),
            (3, 10.0, 0.5), (3, math.nan, math.nan)]  # fmt: skip
    curves = pd.DataFrame(rows, columns=["seed", "computed_steps", "error"])
    curves["update"] = [1, 2, 1, 2, 1, 1, 2]
    x, y = accuracy_by_compute.mean_accuracy(curves, points=4)
    np.testing.assert_allclose(x, [10, 20, 30, 40])
    # Seed 0 keeps 0.9, seed 1 rises from 0.5 to 0.7, seed 2 has no value, seed 3 loses its 0.5.
    np.testing.assert_allclose(y * 4, [1.5, 0.9 + 0.5 + 0.2 / 3, 0.9 + 0.5 + 0.4 / 3, 1.6])


def test_early_stopping_keeps_the_last_error_and_divergence_does_not() -> None:
    rows = [(0, 1, 0.4), (0, 2, 0.2), (1, 1, 0.6), (2, 1, 0.5), (2, 2, math.nan)]
    wide = learning.errors_by_update(pd.DataFrame(rows, columns=["seed", "update", "error"]), 1.0)
    assert wide.loc[2].tolist() == [0.2, 0.6, 1.0]


# --- seeds by setting ---


def test_boxes_hold_the_quartiles_and_solve_rates_of_the_seeds() -> None:
    results = made_up_results(seeds=8, diverged=None, points=3)
    upper, lower = must(seeds_by_setting.draw(results, NAME, "pondernet")).axes
    errors = [[e for e, _ in seed_means(results.tables[NAME], "pondernet", s)]
              for s in FEW["pondernet"]]  # fmt: skip
    assert len(upper.patches) == len(errors)
    # The axis also has the paper's settings, 0.1 to 0.9.
    for place, box, each in zip([0, 2, 8], upper.patches, errors, strict=True):
        assert line_with(upper, [place - 0.3, place + 0.3], [1 - np.median(each)] * 2)
        edges = box.get_path().get_extents(box.get_patch_transform()).get_points()[:, 1]
        np.testing.assert_allclose(edges, 1 - np.quantile(each, [0.75, 0.25]))
    rates = [np.mean([error < 0.05 for error in each]) for each in errors]
    np.testing.assert_allclose(lower.lines[0].get_ydata(), rates)


def test_the_papers_medians_stand_at_its_settings_beside_ours() -> None:
    results = only(NAME, tables={NAME: table_of(NAME, {"act": [2e-4, 3e-3]}, 5)})
    upper, lower = must(seeds_by_setting.draw(results, NAME, "act")).axes
    labels = [text.get_text() for text in lower.get_xticklabels()]
    assert labels[:3] == ["0", "0.0002", "0.0003"] and len(labels) == 20
    (hollow,) = [line for line in upper.lines if line.get_markerfacecolor() == "none"]
    shown = dict(zip(hollow.get_xdata(), hollow.get_ydata(), strict=True))
    assert shown[labels.index("0")] == 0.69 and shown[labels.index("0.0009")] == 0.90
    assert labels.index("0.003") not in shown
    assert lower.lines[0].get_xdata().tolist() == [1, labels.index("0.003")]


# --- solved networks ---


BOTH = ("act", "pondernet")


@pytest.fixture
def rising_and_falling() -> Results:
    """ACT's steps rise from 2 to 2 + seed, PonderNet's fall; one network of each fails."""
    table = table_of(NAME, {"act": [1e-3], "pondernet": [0.3]}, 4)
    share = (table["difficulty"] - 1) / 15
    sign = np.where(table["mechanism"] == "act", 1.0, -1.0)
    table["ponder_time"] = 6 + sign * share * (1 + table["seed"])
    table["error"] = np.where(table["seed"] == 3, 0.3, 0.01)
    return only(NAME, tables={NAME: table})


def test_each_network_has_a_line_and_solved_networks_a_bold_mean(
    rising_and_falling: Results,
) -> None:
    lower, act, pondernet = must(solved_networks.draw(rising_and_falling, NAME, BOTH)).axes
    bits = list(range(1, 17))
    for axes, sign in ((act, 1), (pondernet, -1)):
        assert line_with(axes, bits, [6 + sign * 2 * (b - 1) / 15 for b in bits])
        assert len(axes.lines) == 5 and "3 of 4 solved" in axes.get_title()
    means = [c.lines[0].get_xdata()[0] for c in lower.containers]
    assert means == pytest.approx([2, -2])
    student = stats.ttest_1samp([1, 2, 3], 0).confidence_interval()
    ends = lower.containers[0].lines[2][0].get_segments()[0][:, 0]
    assert ends == pytest.approx([student.low, student.high], abs=1e-3)


# --- exits ---


(SPEC,) = (spec for spec in FIGURES if spec.id == "beyond-exits")


def test_the_best_fixed_n_is_a_ring_at_its_accuracy(results: Results) -> None:
    rows = at_best_settings(results.exits["comparison"], results.tables["comparison"])["pondernet"]
    (axes,) = (a for a in must(SPEC.draw(results)).axes if "PonderNet" in a.get_title("left"))
    n, error = best_fixed(rows, np.inf)
    rings = [line.get_xydata().tolist() for line in axes.lines if line.get_markersize() == 8]
    assert rings == [[[n, 1 - error]]]
