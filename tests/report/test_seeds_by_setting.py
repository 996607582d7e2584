"""Accuracy of every seed by setting: quartiles where there are enough, and solve rates."""

from __future__ import annotations

import numpy as np
from support.panels import drawn, line_with, seed_means
from support.synthetic_results import FEW, made_up_results, only, table_of

from pondering.report.figures import seeds_by_setting

NAME = "parity_interpolation"


def test_boxes_hold_the_quartiles_and_solve_rates_of_the_seeds() -> None:
    results = made_up_results(seeds=8, diverged=None, points=3)
    upper, lower = drawn(seeds_by_setting.draw(results, NAME, "pondernet")).axes
    errors = [[e for e, _ in seed_means(results.tables[NAME], "pondernet", s)]
              for s in FEW["pondernet"]]  # fmt: skip
    assert len(upper.patches) == len(errors)
    # the axis has the paper's settings too, 0.1 to 0.9
    for place, box, each in zip([0, 2, 8], upper.patches, errors, strict=True):
        assert line_with(upper, [place - 0.3, place + 0.3], [1 - np.median(each)] * 2)
        edges = box.get_path().get_extents(box.get_patch_transform()).get_points()[:, 1]
        np.testing.assert_allclose(edges, 1 - np.quantile(each, [0.75, 0.25]))
    rates = [np.mean([error < 0.05 for error in each]) for each in errors]
    np.testing.assert_allclose(lower.lines[0].get_ydata(), rates)


def test_few_seeds_have_no_box() -> None:
    results = made_up_results(seeds=4, diverged=None, points=3)
    upper = drawn(seeds_by_setting.draw(results, NAME, "pondernet")).axes[0]
    assert not upper.patches and len(upper.collections) == 3
    median = 1 - np.median([e for e, _ in seed_means(results.tables[NAME], "pondernet", 0.1)])
    assert line_with(upper, [-0.3, 0.3], [median] * 2)


def test_the_papers_medians_stand_at_its_settings_beside_ours() -> None:
    results = only(NAME, tables={NAME: table_of(NAME, {"act": [2e-4, 3e-3]}, 5)})
    upper, lower = drawn(seeds_by_setting.draw(results, NAME, "act")).axes
    labels = [text.get_text() for text in lower.get_xticklabels()]
    assert labels[:3] == ["0", "0.0002", "0.0003"] and len(labels) == 20
    (hollow,) = [line for line in upper.lines if line.get_markerfacecolor() == "none"]
    shown = dict(zip(hollow.get_xdata(), hollow.get_ydata(), strict=True))
    assert shown[labels.index("0")] == 0.69 and shown[labels.index("0.0009")] == 0.90
    assert labels.index("0.003") not in shown
    assert lower.lines[0].get_xdata().tolist() == [1, labels.index("0.003")]
