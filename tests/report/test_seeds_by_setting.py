"""Accuracy of every seed by setting: quartiles where there are enough, and solve rates."""

from __future__ import annotations

import numpy as np
from support.panels import drawn, line_with, seed_means
from support.synthetic_results import FEW, made_up_results

from pondering.report.figures import seeds_by_setting

NAME = "parity_interpolation"


def test_boxes_hold_the_quartiles_and_solve_rates_of_the_seeds() -> None:
    results = made_up_results(seeds=8, diverged=None, points=3)
    upper, lower = drawn(seeds_by_setting.draw(results, NAME, "pondernet")).axes
    errors = [[e for e, _ in seed_means(results.tables[NAME], "pondernet", s)]
              for s in FEW["pondernet"]]  # fmt: skip
    assert len(upper.patches) == len(errors)
    for place, (box, each) in enumerate(zip(upper.patches, errors, strict=True)):
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
