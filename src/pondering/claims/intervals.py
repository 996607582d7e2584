"""Intervals over seeds of what the claims ask: rates, gaps, ratios of medians.

Means and medians have theirs from `pondering.results.statistics`, as have the methods used here.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from pondering.claims.frames import Array
from pondering.results.statistics import (
    Interval,
    median_interval,
    rate_difference,
    wilson,
)

NAN = float("nan")
RESAMPLES = 2000
"""Draws of seeds for an interval that no formula gives."""
EACH_OF_TWO = 0.975
"""Level of two intervals that hold at once in 95% of cases, by Bonferroni."""


def count(number: float, seeds: int) -> Interval:
    """A number of networks, which has no interval."""
    return Interval(float(number), NAN, NAN, seeds)


def rate(solved: ArrayLike) -> Interval:
    """The share of networks of which something is so; NaN without any."""
    solves = np.asarray(solved, dtype=bool)
    return wilson(int(solves.sum()), solves.size)


def rate_gap(first: ArrayLike, second: ArrayLike) -> Interval:
    """The share of seeds that solve in one group less that in another."""
    return rate_difference(rate(first), rate(second))


def solved_settings(solved: pd.DataFrame) -> Interval:
    """The share of settings that most seeds solve, of [seeds, settings].

    Its bounds are the shares of settings whose whole Wilson interval, and any part of whose Wilson
    interval, is above one half. NaN without seeds.
    """
    if solved.empty:
        return Interval(NAN, NAN, NAN, 0)
    rates = [rate(solved[setting]) for setting in solved]
    ends = np.array([(each.estimate, each.low, each.high) for each in rates])
    estimate, low, high = (ends > 0.5).mean(axis=0).tolist()
    return Interval(estimate, low, high, rates[0].count)


def solved_settings_gap(first: pd.DataFrame, second: pd.DataFrame) -> Interval:
    """The share of settings that most seeds solve with one method less that with another.

    Its bounds are those between which 95% of RESAMPLES draws of seeds lie, of both methods the same
    seeds where they have as many. NaN without seeds.

    Args:
        first, second: [seeds, settings] whether this replica solves.
    """
    both = [np.asarray(each, dtype=float) for each in (first, second)]
    seeds = [len(each) for each in both]
    if not all(each.size for each in both):
        return Interval(NAN, NAN, NAN, 0)

    def gap(one: Array, other: Array) -> float:
        """Of the shares of settings that most seeds solve."""
        return float((one.mean(axis=0) > 0.5).mean() - (other.mean(axis=0) > 0.5).mean())

    chance = np.random.default_rng(0)
    draws = []
    for _ in range(RESAMPLES):
        drawn = chance.random(max(seeds))
        draws.append(gap(*(each[(drawn[: len(each)] * len(each)).astype(int)] for each in both)))
    low, high = np.percentile(draws, [2.5, 97.5]).tolist()
    return Interval(gap(*both), low, high, min(seeds))


def ratio_of_soonest(first: pd.DataFrame, second: pd.DataFrame) -> Interval:
    """Ratio of the smallest medians over seeds that any setting has.

    Its interval is from the lowest to the highest ratio within the two medians' own, of 97.5% each.
    inf/inf is NaN; as the end of an interval it means: unbounded.

    Args:
        first, second: [seeds, settings]; infinite is "never", NaN a seed that was not trained.
    """
    above, below = (_soonest(values) for values in (first, second))
    low = max(above.low, 0.0) / below.high
    high = above.high / below.low if below.low > 0 else math.inf
    return Interval(
        above.estimate / below.estimate,
        0.0 if math.isnan(low) else low,
        math.inf if math.isnan(high) else high,
        min(above.count, below.count),
    )


def _soonest(values: pd.DataFrame) -> Interval:
    found = (median_interval(values[setting], EACH_OF_TWO) for setting in values)
    return min(found, key=lambda each: each.estimate, default=median_interval([]))
