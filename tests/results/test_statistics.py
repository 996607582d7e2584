"""Intervals and rank correlation against values by hand, from tables or from scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from pondering.results import statistics


def difference(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.nanmean(first) - np.nanmean(second))


def rate(successes: int, trials: int) -> statistics.Interval:
    return statistics.rate(np.arange(trials) < successes)


def bounds(found: statistics.Interval) -> tuple[float, float]:
    return found.low, found.high


def test_the_mean_has_students_interval() -> None:
    # t of four degrees of freedom is 2.776445; 1 to 5 have the standard error sqrt(2.5 / 5)
    found = statistics.mean_interval([4.0, 1.0, math.nan, 5.0, 2.0, 3.0])
    assert (found.estimate, found.count) == (3.0, 5)
    half = 2.776445 * math.sqrt(0.5)
    assert bounds(found) == pytest.approx((3 - half, 3 + half), rel=1e-6)


def test_a_ratio_has_the_jackknifes_interval() -> None:
    # 6/4 without each seed: 5/3, 4/3, 3/2; t of two degrees of freedom is 4.302653
    found = statistics.interval(
        lambda a, b: a.sum() / b.sum(), np.array([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 2.0])
    )
    half = 4.302653 * math.sqrt(2 / 3 * (1 / 36 + 1 / 36))
    assert (found.estimate, found.count) == (1.5, 3)
    assert bounds(found) == pytest.approx((1.5 - half, 1.5 + half), rel=1e-6)


def test_equally_many_seeds_are_paired_and_others_are_not() -> None:
    generator = np.random.default_rng(4)
    first = generator.normal(size=7)
    second = first + generator.normal(size=7) / 9
    paired = statistics.interval(difference, first, second)
    student = stats.ttest_rel(first, second).confidence_interval()
    assert bounds(paired) == pytest.approx((student.low, student.high))
    for less in (3, 6):
        apart = statistics.interval(difference, first, second[:less])
        welch = stats.ttest_ind(first, second[:less], equal_var=False).confidence_interval()
        assert bounds(apart) == pytest.approx((welch.low, welch.high)) and apart.count == less


def test_a_seed_without_any_result_is_left_out_and_others_stay() -> None:
    first = np.array([[1.0, math.nan], [3.0, 5.0], [math.nan, math.nan], [4.0, 2.0], [0.0, 1.0]])
    second = np.array([7.0, math.nan, math.nan, 5.0, 4.0])
    for samples, count in (((first,), 4), ((first, second), 4), ((first, second[:4]), 2)):
        statistic = np.nanmean if len(samples) == 1 else difference
        found = statistics.interval(statistic, *samples)
        assert found.count == count and found.estimate == statistic(*samples)
    complete = [0, 1, 3, 4]
    whole, part = (
        statistics.interval(difference, a, b)
        for a, b in ((first, second), (first[complete], second[complete]))
    )
    assert whole == part


def test_some_samples_have_no_interval() -> None:
    one = statistics.mean_interval([0.3])
    assert (one.estimate, one.count) == (0.3, 1) and np.isnan(bounds(one)).all()
    none = statistics.mean_interval([math.nan])
    assert math.isnan(none.estimate) and none.count == 0
    single = statistics.interval(difference, np.ones(3), np.ones(1))
    assert (single.estimate, single.count) == (0.0, 1) and np.isnan(bounds(single)).all()
    for largest in (math.inf, math.nan):  # with all seeds, and without the first
        for first, rest in ((largest, 1.0), (1.0, largest)):
            found = statistics.interval(lambda v: v[0, 0], np.array([[first, 0], [rest, 0]]))
            assert np.isnan(bounds(found)).all()


def test_seeds_that_agree_have_an_interval_without_width() -> None:
    assert bounds(statistics.mean_interval([0.5, 0.5, 0.5])) == (0.5, 0.5)


@pytest.mark.parametrize(
    ("count", "rank"), [(5, 0), (6, 1), (8, 1), (9, 2), (10, 2), (15, 4), (20, 6), (25, 8)]
)
def test_the_median_lies_between_the_published_ranks(count: int, rank: int) -> None:
    """Ranks of the sign test's table at 95%, as in Conover's and in Dixon and Mood 1946."""
    values = np.random.default_rng(count).permutation(count) + 1.0
    found = statistics.median_interval([*values, math.nan])
    expected = (rank, count + 1 - rank) if rank else (-math.inf, math.inf)
    assert bounds(found) == expected
    assert (found.estimate, found.count) == ((count + 1) / 2, count)


def test_the_median_of_infinite_values_and_at_other_levels() -> None:
    never = statistics.median_interval([math.inf, 3.0, 1.0, math.inf, 2.0, 4.0, math.inf, 5.0])
    assert (never.estimate, never.low, never.high) == (4.5, 1.0, math.inf)
    assert statistics.median_interval([1.0, math.inf]).estimate == math.inf
    assert bounds(statistics.median_interval([2.0, 1.0], level=0.5)) == (1.0, 2.0)
    assert bounds(statistics.median_interval([2.0, 1.0], level=0.51)) == (-math.inf, math.inf)
    empty = statistics.median_interval([])
    assert np.isnan([empty.estimate, empty.low, empty.high]).all()


@pytest.mark.parametrize(
    ("first", "second", "low", "high"),
    [
        ((56, 70), (48, 80), 0.0524, 0.3339),
        ((9, 10), (3, 10), 0.1705, 0.8090),
        ((6, 7), (2, 7), 0.0582, 0.8062),
        ((5, 56), (0, 29), -0.0381, 0.1926),
        ((0, 10), (0, 20), -0.1611, 0.2775),
        ((10, 10), (0, 20), 0.6791, 1.0),
    ],
)
def test_a_difference_of_rates_against_published_bounds(
    first: tuple[int, int], second: tuple[int, int], low: float, high: float
) -> None:
    """Newcombe 1998, Table II, method 10."""
    found = statistics.rate_difference(rate(*first), rate(*second))
    assert bounds(found) == pytest.approx((low, high), abs=5.1e-5)
    assert found.estimate == first[0] / first[1] - second[0] / second[1]
    assert found.count == min(first[1], second[1])


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [(0, 10, 0.0, 0.2775), (5, 10, 0.2366, 0.7634), (10, 10, 0.7225, 1.0), (1, 3, 0.0615, 0.7923)],
)
def test_wilson_against_published_bounds(
    successes: int, trials: int, low: float, high: float
) -> None:
    found = rate(successes, trials)
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))


def test_wilson_without_trials_spans_everything() -> None:
    nothing = rate(0, 0)
    assert math.isnan(nothing.estimate) and (nothing.low, nothing.high) == (0.0, 1.0)


def test_spearman() -> None:
    assert statistics.spearman([1, 2, 3, 4], [1, 8, 9, 100]) == pytest.approx(1.0)
    assert statistics.spearman([1, 2, 3, math.nan], [3, 2, 1, 9]) == pytest.approx(-1.0)
    # ranks 1 2.5 2.5 4 against 1 2 3 4: covariance 4.5, variances 4.5 and 5
    assert statistics.spearman([1, 2, 2, 3], [1, 2, 3, 4]) == pytest.approx(4.5 / math.sqrt(22.5))
    assert math.isnan(statistics.spearman([1, 1], [1, 2]))
