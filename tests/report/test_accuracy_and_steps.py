"""Methods side by side, each at the setting that is best inside the trained range."""

from __future__ import annotations

import numpy as np
from scipy import stats
from support.panels import bar_heights, drawn, seed_means
from support.synthetic_results import FEW, only, table_of

from pondering.report.figures import accuracy_and_steps
from pondering.results.results import Results


def test_methods_are_compared_at_their_best_sampled_setting(results: Results) -> None:
    table = results.tables["parity_interpolation"]
    upper, lower = drawn(accuracy_and_steps.draw(results, "parity_interpolation", ("test",))).axes
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
        own = stats.ttest_1samp(right, 0).confidence_interval()
        low, high = np.clip([own.low, own.high], 0, 1)
        np.testing.assert_allclose(bars.lines[2][0].get_segments()[0][:, 1], [low, high])


def test_extrapolation_keeps_the_settings_chosen_inside_the_trained_range() -> None:
    table = table_of("parity_extrapolation", FEW, 2)
    outside = (table["split"] == "extrapolation") & (table["mechanism"] == "act")
    # beyond the range another setting would win
    table.loc[outside, "error"] = 0.5
    table.loc[outside & (table["setting"] == 0.1), "error"] = 0.0
    name, splits = "parity_extrapolation", ("interpolation", "extrapolation")
    figure = drawn(accuracy_and_steps.draw(only(name, tables={name: table}), name, splits))
    heights = bar_heights(figure.axes[0])
    assert len(heights) == 6 and heights[3] == 0.5
    assert "τ = 0.001" in figure.axes[1].get_xticklabels()[1].get_text()


def test_the_papers_points_are_hollow() -> None:
    table = table_of("parity_extrapolation", FEW, 2)
    table["error"] = 0.0
    name, splits = "parity_extrapolation", ("interpolation", "extrapolation")
    results = only(name, tables={name: table})
    upper, lower = drawn(accuracy_and_steps.draw(results, name, splits)).axes
    for axes, wanted in ((upper, [0.52, 0.93]), (lower, [2.1, 5.0])):
        marks = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
        assert [mark.get_ydata()[0] for mark in marks] == wanted


def test_whiskers_of_steps_end_at_one() -> None:
    name = "parity_interpolation"
    table = table_of(name, FEW, 2)
    table.loc[table["seed"] == 1, "ponder_time"] += 3
    results = only(name, tables={name: table})
    lower = drawn(accuracy_and_steps.draw(results, name, ("test",))).axes[1]
    ends = [c.lines[2][0].get_segments()[0][0, 1] for c in lower.containers[1::2]]
    assert min(ends) == 1.0
