"""Means, intervals and rank correlation over seeds; explicit generators where chance enters.

The unit is always the seed (one trained replica), never the example. The tables these arrays come
from are cut and averaged in `pondering.results.tables`.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

RESAMPLES = 10_000
"""Bootstrap resamples behind every interval of the reports."""

SOLVED_ERROR = 0.05
"""Below this error a replica has solved its task, as Graves 2016 words his claims."""


@dataclass(frozen=True)
class Mean:
    """A mean over seeds with its standard error; `count` seeds had a value."""

    mean: float
    standard_error: float
    count: int


@dataclass(frozen=True)
class Interval:
    """An estimate with the bounds of its confidence interval; `count` seeds entered."""

    estimate: float
    low: float
    high: float
    count: int


def mean_and_standard_error(values: ArrayLike) -> Mean:
    """Mean and standard error of the mean (sample deviation over the root of the count).

    Args:
        values: [seeds], any unit; NaN marks a seed without a value and is left out.

    Returns:
        The mean (NaN without values), its standard error (NaN below two values), the count used.

    Source: Graves 2016, section 3: means with standard errors over 20 runs.
    """
    finite = _finite(values)
    count = int(finite.size)
    error = float(finite.std(ddof=1) / np.sqrt(count)) if count > 1 else float("nan")
    return Mean(float(finite.mean()) if count else float("nan"), error, count)


def bootstrap_mean(
    values: ArrayLike,
    generator: np.random.Generator,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Interval:
    """Percentile bootstrap interval of the mean over seeds.

    Args:
        values: [seeds]; NaN is left out.
        generator: the source of the resampling.
        level: coverage, in (0, 1).
        resamples: number of bootstrap samples.

    Returns:
        The mean and its interval; with fewer than two values the bounds are NaN.
    """
    finite = _finite(values)
    if finite.size < 2:
        estimate = float(finite.mean()) if finite.size else float("nan")
        return Interval(estimate, float("nan"), float("nan"), int(finite.size))
    means = _resampled_means(finite, generator, resamples)
    return _percentiles(float(finite.mean()), means, level, int(finite.size))


def wilson(successes: int, trials: int, *, level: float = 0.95) -> Interval:
    """Wilson score interval of a proportion.

    Args:
        successes: number of successes, 0..trials.
        trials: number of trials; 0 gives NaN and the bounds 0 and 1.
        level: coverage, in (0, 1).

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
    z2 = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    share = successes / trials
    centre = (share + z2 / (2 * trials)) / (1 + z2 / trials)
    spread = np.sqrt(z2 * (share * (1 - share) + z2 / (4 * trials)) / trials) / (1 + z2 / trials)
    # at the ends the bound is exact; rounding must not leave 1e-17 there
    low = 0.0 if successes == 0 else float(centre - spread)
    high = 1.0 if successes == trials else float(centre + spread)
    return Interval(share, low, high, trials)


def solve_rate(
    errors: ArrayLike, *, threshold: float = SOLVED_ERROR, level: float = 0.95
) -> Interval:
    """Share of seeds whose error is below `threshold`, with its Wilson interval.

    Args:
        errors: [seeds], errors in the unit of `threshold`; NaN (no result) counts as not solved.
        threshold: an error below it is a solved task.
        level: coverage, in (0, 1).

    Returns:
        The solve rate and its interval.
    """
    values = np.asarray(errors, dtype=np.float64).ravel()
    return wilson(int((values < threshold).sum()), int(values.size), level=level)


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


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64).ravel()
    return array[~np.isnan(array)]


def _resampled_means(
    values: NDArray[np.float64], generator: np.random.Generator, resamples: int
) -> NDArray[np.float64]:
    drawn = generator.integers(0, values.size, size=(resamples, values.size))
    return np.asarray(values[drawn].mean(axis=1), dtype=np.float64)


def _percentiles(
    estimate: float, samples: NDArray[np.float64], level: float, count: int
) -> Interval:
    low, high = np.quantile(samples, [0.5 - level / 2, 0.5 + level / 2])
    return Interval(estimate, float(low), float(high), count)
