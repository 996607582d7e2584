"""What a measure hands back: named quantities, each with a 95% interval over seeds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pondering.claims.measures.arrays import Array
from pondering.results.statistics import (
    Interval,
    interval,
    mean_interval,
    median_interval,
    rate_difference,
    student,
    variance_left_out,
    wilson,
)
from pondering.results.units import Unit, interval_text

LIMITS: dict[Unit, tuple[float, float]] = {
    "share": (0, 1),
    "change": (0, math.inf),
    "points": (-1, 1),
    "correlation": (-1, 1),
}
"""Where a number of this unit must lie; Student's t knows nothing of it and goes beyond."""


RESAMPLES = 2000
"""Draws of seeds for an interval that no formula gives."""


@dataclass(frozen=True)
class Quantity:
    """One measured number: `value` is NaN where it could not be measured, inf where never reached.

    `low` and `high` bound the 95% interval, cut to what the unit can be; None where there is no
    interval (a single seed), infinite where the seeds are too few to bound a median. `seeds`
    entered. `part` is the task or the mechanism that it is of, where a measure has several.
    """

    name: str
    label: str
    unit: Unit
    value: float
    low: float | None
    high: float | None
    seeds: int
    part: str = ""


def mean_over_seeds(name: str, label: str, unit: Unit, per_seed: ArrayLike) -> Quantity:
    """The mean of one number per seed, with Student's interval.

    Args:
        name: the name claims.yaml knows it by.
        label: what a reader sees.
        unit: how it is printed.
        per_seed: [seeds]; NaN marks a seed without a value and is left out.

    Returns:
        The quantity; NaN where no seed has a value.
    """
    return _quantity(name, label, unit, mean_interval(per_seed))


def over_seeds(
    name: str, label: str, unit: Unit, statistic: Callable[..., Any], *samples: Array
) -> Quantity:
    """A statistic that is smooth in the seeds, with the jackknife's interval.

    Args:
        name, label, unit: as of `mean_over_seeds`.
        statistic, samples: as of `pondering.results.statistics.interval`, which says which seeds
            are left out together.

    Returns:
        The quantity with its interval, None below two seeds.
    """
    return _quantity(name, label, unit, interval(statistic, *samples))


def median_over_seeds(name: str, label: str, unit: Unit, per_seed: ArrayLike) -> Quantity:
    """The median of one number per seed, between two of the sorted numbers.

    Args:
        name, label, unit: as of `mean_over_seeds`.
        per_seed: [seeds]; infinite where never reached; NaN is left out.

    Returns:
        The quantity; below six seeds its interval has no bound.
    """
    return _quantity(name, label, unit, median_interval(per_seed))


def rate(name: str, label: str, solved: ArrayLike) -> Quantity:
    """The share of networks of which something is so, with Wilson's interval.

    Args:
        name, label: as of `mean_over_seeds`.
        solved: [networks] whether it is; without any the share is NaN.
    """
    return _quantity(name, label, "share", _rate(solved))


def rate_gap(name: str, label: str, first: ArrayLike, second: ArrayLike) -> Quantity:
    """The share of seeds that solve in one group less that in another, with Newcombe's interval.

    Args:
        name, label: as of `mean_over_seeds`.
        first, second: [seeds] whether this one solves.
    """
    return _quantity(name, label, "points", rate_difference(_rate(first), _rate(second)))


def solved_settings(name: str, label: str, solved: ArrayLike) -> Quantity:
    """The share of settings that most seeds solve.

    Args:
        name, label: as of `mean_over_seeds`.
        solved: [seeds, settings] whether this replica does.

    Returns:
        The quantity; its bounds are the shares of settings whose whole Wilson interval, and any
        part of whose Wilson interval, is above one half. NaN without seeds.
    """
    return _quantity(name, label, "share", _solved_settings(solved))


def solved_settings_gap(name: str, label: str, first: ArrayLike, second: ArrayLike) -> Quantity:
    """The share of settings that most seeds solve with one method less that with another.

    Args:
        name, label: as of `mean_over_seeds`.
        first, second: [seeds, settings] whether this replica solves.

    Returns:
        The quantity; its bounds are those between which 95% of RESAMPLES draws of seeds lie, of
        both methods the same seeds where they have as many. NaN without seeds.
    """
    one, other = (np.asarray(each, dtype=np.float64) for each in (first, second))
    if not one.size or not other.size:
        nan = float("nan")
        return _quantity(name, label, "points", Interval(nan, nan, nan, 0))
    chance = np.random.default_rng(0)
    draws = []
    for _ in range(RESAMPLES):
        drawn = chance.random(max(len(one), len(other)))
        shares = [
            _most(each[(drawn[: len(each)] * len(each)).astype(int)]) for each in (one, other)
        ]
        draws.append(shares[0] - shares[1])
    low, high = np.percentile(draws, [2.5, 97.5])
    found = Interval(_most(one) - _most(other), low, high, min(len(one), len(other)))
    return _quantity(name, label, "points", found)


def _most(solved: Array) -> float:
    """The share of settings that most seeds solve, of [seeds, settings]."""
    return float((solved.mean(axis=0) > 0.5).mean())


def over_items_and_seeds(
    name: str, label: str, unit: Unit, statistic: Callable[[Array], Any], sample: Array
) -> Quantity:
    """A statistic of items that every seed has met, with the chance of both in its interval.

    An item is left out with what all seeds made of it, a seed with all its items: the seeds'
    readings of one item are no independent evidence. The two variances add, and the smaller count
    gives the degrees of freedom: too wide rather than too narrow, since what is particular to one
    reading is in both variances. With a single seed the interval is over items.

    Args:
        name, label, unit: as of `mean_over_seeds`.
        statistic: takes counts and sums over items and seeds, [...] or several of them
            [places, ...], and gives a number, or [places]; NaN where there is none.
        sample: [items, seeds, ...], the counts and sums of each.

    Returns:
        The quantity with its interval, None below two items and where the statistic is NaN without
        one of the items or seeds.

    Source: A. B. Owen 2007, "The pigeonhole bootstrap", for the sum of the two variances.
    """
    items, seeds = sample.shape[:2]
    whole = sample.sum(axis=(0, 1))
    value, axes = float(statistic(whole)), range(2 if seeds > 1 else 1)
    bounds = float("nan"), float("nan")
    if items > 1:
        without = (whole - sample.sum(axis=1 - axis) for axis in axes)
        variance = sum(variance_left_out(statistic(each)) for each in without)
        bounds = student(value, variance, min(sample.shape[axis] for axis in axes) - 1)
    return _quantity(name, label, unit, Interval(value, *bounds, seeds))


def quantity_text(quantity: Quantity) -> str:
    """The value with its interval, as tables print it."""
    return interval_text(quantity.value, quantity.low, quantity.high, quantity.unit)


def _rate(solved: ArrayLike) -> Interval:
    solves: NDArray[np.bool_] = np.asarray(solved, dtype=np.bool_)
    return wilson(int(solves.sum()), solves.size)


def _solved_settings(solved: ArrayLike) -> Interval:
    """What `solved_settings` says, of [K, S]."""
    if not np.size(solved):
        return Interval(float("nan"), float("nan"), float("nan"), 0)
    rates = [_rate(setting) for setting in np.asarray(solved).T]
    ends = np.array([(rate.estimate, rate.low, rate.high) for rate in rates])
    estimate, low, high = (ends > 0.5).mean(axis=0).tolist()
    return Interval(estimate, low, high, rates[0].count)


def _quantity(name: str, label: str, unit: Unit, found: Interval) -> Quantity:
    """The quantity with its interval, which is NaN where there is none; no number has none."""
    cut = found.within(*LIMITS.get(unit, (-math.inf, math.inf)))
    known = not math.isnan(found.estimate)
    low, high = (b if known and not math.isnan(b) else None for b in (cut.low, cut.high))
    return Quantity(name, label, unit, found.estimate, low, high, found.count)
