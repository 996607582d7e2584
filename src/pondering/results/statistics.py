"""Intervals and rank correlation over seeds.

The unit is always the seed (one trained replica), never the example. The tables these arrays come
from are cut and averaged in `pondering.results.tables`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, stdtrit
from scipy.stats import binomtest, rankdata

LEVEL = 0.95
"""Coverage of every interval of the reports."""

SOLVED_ERROR = 0.05
"""Below this error a replica has solved its task, as Graves 2016 words his claims."""


@dataclass(frozen=True)
class Interval:
    """An estimate with the bounds of its confidence interval; `count` seeds entered."""

    estimate: float
    low: float
    high: float
    count: int

    def within(self, least: float, most: float) -> Interval:
        """The same with bounds inside least..most, outside of which the truth cannot lie."""
        low, high = (float(np.clip(bound, least, most)) for bound in (self.low, self.high))
        return replace(self, low=low, high=high)


def interval(statistic: Callable[..., Any], *samples: ArrayLike) -> Interval:
    """Estimate +- t se, by the jackknife that leaves out one seed at a time.

    For the mean of one sample it is Student's interval. Samples of equally many seeds are of the
    same seeds, since settings and mechanisms are compared on the same batches: a seed is left out
    of all of them. Otherwise each sample loses its own seeds, and the variances add. A statistic
    that chooses (the best setting, say) chooses anew without each seed.

    Args:
        statistic: takes the samples and gives a number; NaN where there is none. It is to be smooth
            in the seeds: a median has `median_interval`, a rate `rate`.
        samples: [seeds, ...] each. A seed that is NaN throughout has no result and is left out
            beforehand; other NaN are the statistic's matter.

    Returns:
        The estimate, its interval, and the seeds of the smallest sample. The bounds are NaN below
        two seeds, and where the statistic is NaN or infinite with all seeds or without one. Seeds
        that agree give an interval without width, which is why rates have Wilson's.

    Source: J. W. Tukey 1958, "Bias and confidence in not-quite large samples"; the degrees of
    freedom of several variances are those of F. E. Satterthwaite 1946.
    """
    arrays = [np.array(each, dtype=np.float64, order="C") for each in samples]
    together = len({len(each) for each in arrays}) == 1
    kept = _with_result(arrays) if together else [_with_result([each])[0] for each in arrays]
    count = min(len(sample) for sample in kept)
    estimate = float(statistic(*kept)) if count else float("nan")
    if count < 2:
        return Interval(estimate, float("nan"), float("nan"), count)

    def without(seed: int, places: Sequence[int]) -> float:
        left = (np.delete(s, seed, axis=0) if k in places else s for k, s in enumerate(kept))
        return float(statistic(*left))

    every = range(len(kept))
    groups = [every] if together else [[place] for place in every]
    parts = []
    for places in groups:
        seeds = len(kept[places[0]])
        values = np.array([without(seed, places) for seed in range(seeds)])
        parts.append((variance_left_out(values), seeds - 1))
    variance = sum(each for each, _ in parts)
    shares = [(each / variance) ** 2 / freedom for each, freedom in parts] if variance else [1.0]
    return Interval(estimate, *student(estimate, variance, 1 / sum(shares)), count)


def variance_left_out(values: NDArray[Any]) -> float:
    """The jackknife's variance of a statistic, from its values without each seed in turn.

    It is NaN where one of the values is NaN or infinite.
    """
    return float((len(values) - 1) * values.var()) if np.isfinite(values).all() else float("nan")


def student(estimate: float, variance: float, freedom: float) -> tuple[float, float]:
    """Bounds of an estimate by Student's t; NaN where one of the three is no finite number."""
    half = float(stdtrit(freedom, 0.5 + LEVEL / 2)) * math.sqrt(variance)
    if not math.isfinite(estimate + half):
        return float("nan"), float("nan")
    return estimate - half, estimate + half


def mean_interval(values: ArrayLike) -> Interval:
    """The mean over seeds with Student's interval.

    Args:
        values: [seeds]; NaN is left out.

    Returns:
        The mean, NaN without values; its bounds, NaN below two.
    """
    return interval(np.mean, np.ravel(values))


def median_interval(values: ArrayLike, level: float = LEVEL) -> Interval:
    """The median over seeds between two of the sorted values, whatever their distribution.

    A value lies above or below the true median as a coin falls. The median is between the r-th
    smallest and the r-th largest value unless fewer than r values fall on one side.

    Args:
        values: [seeds]; infinite where never reached, which sorts last; NaN is left out.
        level: least probability that the median lies between the bounds.

    Returns:
        The median and its bounds, infinite on both sides where so few values cannot reach the level
        (below six at 95%); all NaN without values.

    Source: W. J. Conover 1999, "Practical Nonparametric Statistics", section 3.2.
    """
    array = np.asarray(values, dtype=np.float64).ravel()
    known = np.sort(array[~np.isnan(array)])
    count = known.size
    if not count:
        return Interval(float("nan"), float("nan"), float("nan"), 0)
    missed = 2 * bdtr(np.arange(count), count, 0.5)  # [r - 1] both sides together
    rank = int((missed <= 1 - level).sum())
    low, high = (known[rank - 1], known[-rank]) if rank else (-math.inf, math.inf)
    return Interval(float(np.median(known)), float(low), float(high), count)


def rate(true: ArrayLike) -> Interval:
    """The share of networks of which something is true, with its Wilson score interval.

    Args:
        true: [networks]; of none the share is NaN, its bounds 0 and 1.

    Source: E. B. Wilson 1927, "Probable inference, the law of succession, ...".
    """
    values = np.asarray(true, dtype=bool)
    if not values.size:
        return Interval(float("nan"), 0.0, 1.0, 0)
    found = binomtest(int(values.sum()), values.size)
    low, high = found.proportion_ci(LEVEL, "wilson")
    return Interval(found.statistic, float(low), float(high), values.size)


def rate_difference(first: Interval, second: Interval) -> Interval:
    """The first rate less the second, with the interval that follows from their Wilson intervals.

    Args:
        first, second: what `rate` gives, of independent trials; where the same seed tends to
            succeed in both, the interval is too wide rather than too narrow.

    Returns:
        The difference, its bounds and the smaller number of trials; NaN where one has no trials.

    Source: R. G. Newcombe 1998, "Interval estimation for the difference between independent
    proportions", method 10.
    """
    difference = first.estimate - second.estimate
    below = math.hypot(first.estimate - first.low, second.high - second.estimate)
    above = math.hypot(first.high - first.estimate, second.estimate - second.low)
    count = min(first.count, second.count)
    return Interval(difference, difference - below, difference + above, count)


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's rank correlation, ties at their mean rank: 1 where y only rises with x.

    Args:
        x: [points].
        y: [points]; points where either is NaN are left out.

    Returns:
        The correlation in -1..1; NaN below two points or where one side is constant.
    """
    pairs = np.stack([np.asarray(x, np.float64), np.asarray(y, np.float64)])
    first, second = rankdata(pairs[:, ~np.isnan(pairs).any(axis=0)], axis=1)
    if np.unique(first).size < 2 or np.unique(second).size < 2:
        return float("nan")
    return float(np.corrcoef(first, second)[0, 1])


def _with_result(samples: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Samples of the same seeds without those that are NaN in all of them."""
    empty = [np.isnan(sample).all(axis=tuple(range(1, sample.ndim))) for sample in samples]
    return [sample[~np.all(empty, axis=0)] for sample in samples]
