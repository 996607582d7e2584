"""Figures of errors: learning curves, by time penalty, and fixed repeats against ACT."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.patches import Ellipse
from support.panels import bar_heights, line_with, must, seed_means
from support.synthetic_results import FEW, curves_of, only, table_of

from pondering.report.figures import FIGURES, error_by_penalty, fixed_repeat, learning, style
from pondering.results.results import Results

# --- learning ---


def test_curves_count_a_diverged_seed_as_a_failure_and_ends_have_errors(results: Results) -> None:
    curves = results.curves["parity"]
    upper, lower = must(learning.draw(results, "parity")).axes
    rows = curves[(curves["mechanism"] == "act") & (curves["setting"] == 0.1)]
    updates = sorted(set(rows["update"]))
    middle = [sorted(rows.loc[rows["update"] == u, "error"].fillna(1.0))[1] for u in updates]
    assert line_with(upper, updates, middle) and upper.get_yscale() == "log"
    diverged = rows[rows["seed"] == 1].dropna(subset=["error"])
    assert len(diverged) == 30 and line_with(upper, diverged["update"], diverged["error"])
    plain = np.mean([e for e, _ in seed_means(results.tables["parity"], "repeat", 1)])
    assert line_with(lower, [0, 1], [plain, plain])
    # Half axes of the ellipses are standard errors.
    ellipses = [p for p in lower.patches if isinstance(p, Ellipse)]
    assert len(ellipses) == 3
    seeds = np.array(seed_means(results.tables["parity"], "act", 0.01))
    (found,) = [e for e in ellipses if e.center[1] == pytest.approx(seeds[:, 0].mean())]
    assert found.center[0] == pytest.approx(seeds[:, 1].mean())
    se = seeds.std(axis=0, ddof=1) / math.sqrt(3)
    assert (found.height, found.width) == (pytest.approx(2 * se[0]), pytest.approx(2 * se[1]))


def test_errors_that_lie_far_apart_have_a_log_axis() -> None:
    table = table_of("logic", {"repeat": [1.0], "act": [1e-3, 3e-3, 0.1]}, 3)
    table["error"] = table["setting"].map({1.0: 0.2, 1e-3: 0.01, 3e-3: 0.015, 0.1: 0.2})
    table.loc[(table["setting"] == 1e-3) & (table["seed"] == 2), "error"] = 0.0
    results = only("logic", tables={"logic": table})
    lower = must(learning.draw(results, "logic")).axes[1]
    assert lower.get_yscale() == "log"
    seeds = np.concatenate([dots.get_offsets()[:, 1] for dots in lower.collections])
    assert sorted(seeds)[0] == learning.FLOOR, "a seed without errors is not drawn"
    table["error"] = 0.1
    assert must(learning.draw(results, "logic")).axes[1].get_yscale() == "linear"


def test_a_panel_without_data_says_so(results: Results) -> None:
    (spec,) = (spec for spec in FIGURES if spec.id == "graves-05")
    figure = must(spec.draw(dataclasses.replace(results, curves={})))
    upper, lower = figure.axes
    assert [text.get_text() for text in upper.texts] == ["no data"] and not lower.texts
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["τ = 0.001", "τ = 0.01", "τ = 0.1", learning.PLAIN]


# --- error by penalty ---


def test_error_bars_are_means_with_standard_errors(results: Results) -> None:
    # The order of the rows must not matter.
    table = results.tables["logic"].sample(frac=1.0, random_state=0)
    axes = must(error_by_penalty.draw(only("logic", tables={"logic": table}), "logic")).axes[0]
    order = [("repeat", 1), *(("act", s) for s in FEW["act"]),
             *(("repeat", s) for s in [2, 3, 5, 8])]  # fmt: skip
    errors = [[e for e, _ in seed_means(table, *key)] for key in order]
    assert errors[3][1] == 1.0, "the diverged seed is in the data as a failure"
    np.testing.assert_allclose(bar_heights(axes), [np.mean(e) for e in errors])
    whiskers = axes.containers[-1].lines[2][0].get_segments()
    half = [abs(s[1, 1] - s[0, 1]) / 2 for s in whiskers]
    np.testing.assert_allclose(half, [np.std(e, ddof=1) / math.sqrt(3) for e in errors])
    points = np.concatenate([c.get_offsets()[:, 1] for c in axes.collections[:-1]])
    assert sorted(points) == pytest.approx(sorted(np.concatenate(errors)))
    assert [t.get_text() for t in axes.get_xticklabels()][:4] == ["plain", "0.001", "0.01", "0.1"]


def test_text_levels_read_the_training_split_and_diamonds_the_other() -> None:
    table = table_of("wikipedia", FEW, 2)
    table.loc[table["split"] == "heldout", "error"] = 2.5
    text = only("wikipedia", tables={"wikipedia": table})
    axes = must(error_by_penalty.draw(text, "wikipedia")).axes[0]
    wanted = np.mean([e for e, _ in seed_means(table[table["split"] == "train"], "repeat", 1)])
    assert line_with(axes, [0.1, 0.9], [wanted] * 2)
    assert axes.lines[-1].get_ydata().tolist() == [2.5] * 8
    # Bits have no natural zero, and bars from zero would hide differences.
    assert not bar_heights(axes) and axes.get_ylim()[0] > 1


def test_a_diverged_seed_does_not_move_a_mean_in_bits() -> None:
    table = table_of("wikipedia", FEW, 3)
    lost = (table["setting"] == 0.01) & (table["seed"] == 2)
    table.loc[lost, ["error", "ponder_time", "status"]] = [8.0, math.nan, "diverged"]
    text = only("wikipedia", tables={"wikipedia": table})
    rest = table[(table["split"] == "train") & ~lost]
    wanted = np.mean([e for e, _ in seed_means(rest, "act", 0.01)])
    axes = must(error_by_penalty.draw(text, "wikipedia")).axes[0]
    lower = must(learning.draw(text, "wikipedia")).axes[1]
    for each in (axes, lower):
        assert each.get_ylim()[1] < 8
        assert any(np.allclose(line.get_ydata(), wanted) for line in each.lines)


def test_the_papers_values_are_hollow_beside_ours() -> None:
    def hollow(name: str) -> dict[float, tuple[float, str]]:
        table = table_of(name, {"repeat": [1.0], "act": [1e-3, 0.03, 0.1]}, 2)
        table.loc[table["setting"] == 0.03, "error"] = 0.001
        figure = must(error_by_penalty.draw(only(name, tables={name: table}), name))
        marks = [line for line in figure.axes[0].lines if line.get_markerfacecolor() == "none"]
        names = {"o": "Paper", "v": "Paper: at most"}
        labels = {
            text.get_text() for text in figure.legends[0].get_texts() if "P" in text.get_text()
        }
        assert labels - {"Plain network"} == {names[str(mark.get_marker())] for mark in marks}
        return {m.get_xdata()[0]: (m.get_ydata()[0], m.get_marker()) for m in marks}

    plain, low, middle, high = 0.5, 2.0, 3.0, 4.0
    assert hollow("parity") == {plain: (0.4, "o"), low: (0.05, "v"), middle: (0.05, "v")}
    assert hollow("logic") == {plain: (0.2, "o"), low: (0.0, "o")}
    assert set(hollow("addition")) == {low, middle, high}
    assert hollow("sort") == {plain: (0.12, "o"), middle: (0.06, "o")}


# --- fixed repeat ---


def hollow(axes: Axes) -> list[tuple[float, float]]:
    marks = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
    return [(float(m.get_xdata()[0]), float(m.get_ydata()[0])) for m in marks]


def test_a_seed_is_solved_at_its_first_update_of_two_percent_or_counted() -> None:
    curves = pd.DataFrame(
        [("act", 0.1, 0, 100, 0.03), ("act", 0.1, 0, 200, 0.02), ("act", 0.1, 0, 300, 0.01),
         ("act", 0.1, 1, 200, 0.01), ("act", 0.1, 2, 100, 0.5), ("act", 0.1, 2, 200, math.nan)],
        columns=["mechanism", "setting", "seed", "update", "error"],
    )  # fmt: skip
    table = table_of("parity_fojo", {"repeat": [2], "act": [0.1]}, 3)
    part = only("parity_fojo", tables={"parity_fojo": table}, curves={"parity_fojo": curves})
    lower = must(fixed_repeat.draw(part, "parity_fojo")).axes[1]
    last = len(lower.get_xticks()) - 1
    assert line_with(lower, [last - 0.25, last], [200, 200])
    assert line_with(lower, [last - 0.35, last + 0.35], [200, 200])
    assert "1/3" in [text.get_text() for text in lower.texts]


def test_fojos_updates_are_hollow_and_unsolved_settings_lie_in_the_strip() -> None:
    table = table_of("parity_fojo", {"repeat": [1, 2], "act": [1e-3, 3e-3]}, 1)
    curves = curves_of("parity_fojo", {"repeat": [1, 2], "act": [1e-3, 3e-3]}, 1)
    part = only("parity_fojo", tables={"parity_fojo": table}, curves={"parity_fojo": curves})
    lower = must(fixed_repeat.draw(part, "parity_fojo")).axes[1]
    labels = [text.get_text() for text in lower.get_xticklabels()]
    assert labels[0] == "plain" and "τ 0.003" in labels, "ours and theirs on one axis"
    shown = {labels[round(x)]: y for x, y in hollow(lower)}
    assert shown[f"{style.TIMES}2"] == 22_000 and shown["τ 0.005"] == 356_000
    assert "τ 0.003" not in shown
    strip = lower.patches[0].get_y()
    assert shown["plain"] > strip > 356_000 and shown["τ 0.1"] > strip
