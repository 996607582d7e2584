"""Bars of error by time penalty are means over seeds, with standard errors and every seed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.panels import bar_heights, drawn, seed_means
from support.synthetic_results import FEW, only, table_of

from pondering.report.figures import error_by_penalty
from pondering.results.results import Results


def test_error_bars_are_means_with_standard_errors(results: Results) -> None:
    # the order of the rows must not matter
    table = results.tables["logic"].sample(frac=1.0, random_state=0)
    axes = drawn(error_by_penalty.draw(only("logic", tables={"logic": table}), "logic")).axes[0]
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
    assert [t.get_text() for t in axes.get_xticklabels()][:4] == ["plain", "1e-3", "0.01", "0.1"]


def test_text_bars_read_the_training_split_and_diamonds_the_other() -> None:
    table = table_of("wikipedia", FEW, 2)
    table.loc[table["split"] == "heldout", "error"] = 2.5
    text = only("wikipedia", tables={"wikipedia": table})
    axes = drawn(error_by_penalty.draw(text, "wikipedia")).axes[0]
    wanted = np.mean([e for e, _ in seed_means(table[table["split"] == "train"], "repeat", 1)])
    assert bar_heights(axes)[0] == pytest.approx(wanted)
    assert axes.lines[-1].get_ydata().tolist() == [2.5] * 8
