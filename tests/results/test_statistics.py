"""Intervals and rank correlation against values worked out by hand or by another route."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pondering.results import statistics


def test_bootstrap_mean_covers_nearly_as_often_as_it_says() -> None:
    draw, hits = np.random.default_rng(1), 0
    for trial in range(300):
        found = statistics.bootstrap_mean(draw.normal(size=30), f"trial {trial}")
        hits += found.low <= 0.0 <= found.high
    # nominal 95%; the percentile bootstrap of 30 values covers a little less
    assert 0.88 < hits / 300 < 0.98


def test_bootstrap_mean_is_reproducible_and_ordered() -> None:
    values = [0.1, 0.2, 0.2, 0.9, 0.4, math.nan]
    first = statistics.bootstrap_mean(values, "error")
    assert first == statistics.bootstrap_mean(values, "error")
    drawn = [statistics.bootstrap_mean(values, name).low for name in "abcdefgh"]
    assert len(set(drawn)) > 1
    assert first.low < first.estimate < first.high and first.count == 5


def test_bootstrap_mean_equals_the_enumeration_of_few_values() -> None:
    # 256 resamples of {0, 1, 2, 3}: one in 256 has mean 0, four have mean 1/4, ten mean 1/2
    found = statistics.bootstrap_mean([0.0, 1.0, 2.0, 3.0], "any")
    assert (found.low, found.high) == (0.5, 2.5)
    assert found == statistics.bootstrap_mean([0.0, 1.0, 2.0, 3.0], "other")


def test_one_seed_has_no_interval() -> None:
    found = statistics.bootstrap_mean([0.3], "error")
    assert found.estimate == 0.3 and math.isnan(found.low) and math.isnan(found.high)
    assert math.isnan(statistics.bootstrap_mean([], "error").estimate)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    # Wilson's bounds solve (p - x/n)^2 = z^2 p (1 - p) / n; checked as roots below too
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (1, 3, 0.0615, 0.7923)],
)
def test_wilson_against_published_bounds(
    successes: int, trials: int, low: float, high: float
) -> None:
    found = statistics.wilson(successes, trials)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))
    for bound in (found.low, found.high):
        if 0 < bound < 1:
            deviation = (bound - successes / trials) ** 2
            assert deviation == pytest.approx(1.959964**2 * bound * (1 - bound) / trials, rel=1e-5)


def test_wilson_refuses_the_impossible_and_knows_nothing_without_trials() -> None:
    with pytest.raises(ValueError, match=r"0\.\.3"):
        statistics.wilson(4, 3)
    nothing = statistics.wilson(0, 0)
    assert math.isnan(nothing.estimate) and (nothing.low, nothing.high) == (0.0, 1.0)


def test_solve_rate_counts_the_missing_as_unsolved() -> None:
    found = statistics.solve_rate([0.01, 0.05, 0.3, math.nan])
    assert found.estimate == 0.25 and found.count == 4


def test_spearman() -> None:
    assert statistics.spearman([1, 2, 3, 4], [1, 8, 9, 100]) == pytest.approx(1.0)
    assert statistics.spearman([1, 2, 3, math.nan], [3, 2, 1, 9]) == pytest.approx(-1.0)
    # ranks 1 2.5 2.5 4 against 1 2 3 4: covariance 4.5, variances 4.5 and 5
    assert statistics.spearman([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(4.5 / math.sqrt(22.5))
    assert math.isnan(statistics.spearman([1, 1], [1, 2]))
