"""Learning curves and final errors: failures counted, standard errors, panels without data."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from matplotlib.patches import Ellipse
from support.panels import drawn, line_with, seed_means
from support.synthetic_results import only, table_of

from pondering.report.figures import FIGURES, learning
from pondering.results.results import Results


def test_curves_count_a_diverged_seed_as_a_failure_and_ends_have_errors(results: Results) -> None:
    curves = results.curves["parity"]
    upper, lower = drawn(learning.draw(results, "parity")).axes
    own = curves[(curves["mechanism"] == "act") & (curves["setting"] == 0.1)]
    updates = sorted(set(own["update"]))
    middle = [sorted(own.loc[own["update"] == u, "error"].fillna(1.0))[1] for u in updates]
    assert line_with(upper, updates, middle) and upper.get_yscale() == "log"
    gone = own[own["seed"] == 1].dropna(subset=["error"])
    assert len(gone) == 30 and line_with(upper, gone["update"], gone["error"])
    plain = np.mean([e for e, _ in seed_means(results.tables["parity"], "repeat", 1)])
    assert line_with(lower, [0, 1], [plain, plain])
    # ellipses have standard errors as half axes
    ellipses = [p for p in lower.patches if isinstance(p, Ellipse)]
    assert len(ellipses) == 3
    seeds = np.array(seed_means(results.tables["parity"], "act", 0.01))
    (found,) = [e for e in ellipses if e.center[1] == pytest.approx(seeds[:, 0].mean())]
    assert found.center[0] == pytest.approx(seeds[:, 1].mean())
    se = seeds.std(axis=0, ddof=1) / math.sqrt(3)
    assert (found.height, found.width) == (pytest.approx(2 * se[0]), pytest.approx(2 * se[1]))


def test_one_lost_seed_does_not_flatten_the_others() -> None:
    table = table_of("logic", {"repeat": [1.0], "act": [0.01]}, 12)
    table["error"] = 0.1
    table.loc[(table["mechanism"] == "act") & (table["seed"] == 3), "error"] = 0.9
    lower = drawn(learning.draw(only("logic", tables={"logic": table}), "logic")).axes[1]
    assert 0.3 <= lower.get_ylim()[1] < 0.4
    assert [text.get_text() for text in lower.texts] == ["90%"]


def test_errors_that_lie_far_apart_are_told_apart() -> None:
    table = table_of("logic", {"repeat": [1.0], "act": [1e-3, 3e-3, 0.1]}, 3)
    table["error"] = table["setting"].map({1.0: 0.2, 1e-3: 0.01, 3e-3: 0.015, 0.1: 0.2})
    table.loc[(table["setting"] == 1e-3) & (table["seed"] == 2), "error"] = 0.0
    results = only("logic", tables={"logic": table})
    lower = drawn(learning.draw(results, "logic")).axes[1]
    assert lower.get_yscale() == "log"
    seeds = np.concatenate([dots.get_offsets()[:, 1] for dots in lower.collections])
    assert sorted(seeds)[0] == learning.FLOOR, "a seed without errors is drawn too"
    table["error"] = 0.1
    assert drawn(learning.draw(results, "logic")).axes[1].get_yscale() == "linear"


def test_a_panel_without_data_says_so(results: Results) -> None:
    (spec,) = (spec for spec in FIGURES if spec.id == "graves-05")
    figure = drawn(spec.draw(dataclasses.replace(results, curves={})))
    upper, lower = figure.axes
    assert [text.get_text() for text in upper.texts] == ["no data"] and not lower.texts
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["τ = 0.001", "τ = 0.01", "τ = 0.1", learning.PLAIN]
