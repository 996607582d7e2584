"""Intervals and rank correlation over seeds.

The unit is always the seed (one trained replica), never the example. The tables these arrays come
from are cut and averaged in `pondering.results.tables`.
"""

from __future__ import annotations

import itertools
import math
import zlib
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

LEVEL = 0.95
"""Coverage of every interval of the reports."""

RESAMPLES = 2_000
"""Bootstrap resamples where the seeds are too many to enumerate every resample."""

ENUMERATED_SEEDS = 4
"""Up to this many seeds all n^n resamples are taken, so that no chance enters at all."""

SOLVED_ERROR = 0.05
"""Below this error a replica has solved its task, as Graves 2016 words his claims."""


@dataclass(frozen=True)
class Interval:
    """An estimate with the bounds of its confidence interval; `count` seeds entered."""

    estimate: float
    low: float
    high: float
    count: int


def bootstrap_mean(values: ArrayLike, name: str) -> Interval:
    """Percentile bootstrap interval of the mean over seeds.

    Args:
        values: [seeds]; NaN is left out.
        name: what is measured, which seeds the resampling: equal names, equal bounds.

    Returns:
        The mean and its interval; with fewer than two values the bounds are NaN.
    """
    array = np.asarray(values, dtype=np.float64).ravel()
    finite = array[~np.isnan(array)]
    if not finite.size:
        return Interval(float("nan"), float("nan"), float("nan"), 0)
    drawn = finite[resampled_places(generator_of(name), finite.size)].mean(axis=1)
    return Interval(float(finite.mean()), *bounds(drawn, finite.size), int(finite.size))


def generator_of(name: str) -> np.random.Generator:
    """A source of chance that belongs to what has this name alone."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def resampled_places(generator: np.random.Generator, count: int) -> NDArray[np.intp]:
    """[resamples, count] which seeds each resample takes; all there are, if they are few."""
    if count <= ENUMERATED_SEEDS:
        return np.array(list(itertools.product(range(count), repeat=count)), dtype=np.intp)
    return generator.integers(0, count, (RESAMPLES, count))


def bounds(drawn: ArrayLike, count: int) -> tuple[float, float]:
    """The percentiles of a resampled statistic that leave 1 - `LEVEL` outside.

    Args:
        drawn: [resamples]; NaN is left out.
        count: how many seeds were resampled; below two there is no interval.

    Returns:
        The lower and the upper bound; NaN where there is no interval.
    """
    values = np.asarray(drawn, dtype=np.float64)
    values = np.sort(values[~np.isnan(values)])
    if count < 2 or not values.size:
        return float("nan"), float("nan")
    # order statistics, not interpolation: "never reached" is infinite and cannot be averaged
    low = values[math.floor((0.5 - LEVEL / 2) * (values.size - 1))]
    high = values[math.ceil((0.5 + LEVEL / 2) * (values.size - 1))]
    return float(low), float(high)


def wilson(successes: int, trials: int) -> Interval:
    """Wilson score interval of a proportion.

    Args:
        successes: number of successes, 0..trials.
        trials: number of trials; 0 gives NaN and the bounds 0 and 1.

    Returns:
        The share of successes and its interval.

    Raises:
        ValueError: more successes than trials, or fewer than none.

    Source: E. B. Wilson 1927, "Probable inference, the law of succession, ...".
    """
    if not 0 <= successes <= trials:
        raise ValueError(f"successes must lie in 0..{trials}, not {successes}")
    if trials == 0:
        return Interval(float("nan"), 0.0, 1.0, 0)
    z2 = NormalDist().inv_cdf(0.5 + LEVEL / 2) ** 2
    share = successes / trials
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    spread = np.sqrt(z2 * (share * (1 - share) + z2 / (4 * trials)) / trials) / (1 + z2 / trials)
    # at the ends the bound is exact; rounding must not leave 1e-17 there
    low = 0.0 if successes == 0 else float(centre - spread)
    high = 1.0 if successes == trials else float(centre + spread)
    return Interval(share, low, high, trials)


def solve_rate(errors: ArrayLike) -> Interval:
    """Share of seeds whose error is below `SOLVED_ERROR`, with its Wilson interval.

    Args:
        errors: [seeds]; NaN (no result) counts as not solved.
    """
    values = np.asarray(errors, dtype=np.float64).ravel()
    return wilson(int((values < SOLVED_ERROR).sum()), int(values.size))


def spearman(x: ArrayLike, y: ArrayLike) -> float:
    """Spearman's rank correlation, ties at their mean rank: 1 where y only rises with x.

    Args:
        x: [points].
        y: [points]; points where either is NaN are left out.

    Returns:
        The correlation in -1..1; NaN below two points or where one side is constant.
    """
    pairs = pd.DataFrame({"x": np.asarray(x, float), "y": np.asarray(y, float)}).dropna()
    ranks = pairs.rank()
    if len(ranks) < 2 or ranks["x"].nunique() < 2 or ranks["y"].nunique() < 2:
        return float("nan")
    return float(np.corrcoef(ranks["x"], ranks["y"])[0, 1])
