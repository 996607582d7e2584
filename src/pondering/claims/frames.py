"""From tidy rows to a frame of a row a seed, and what is reckoned from such frames.

A replica that failed has no steps: NaN. A setting that was not trained with a seed is NaN too.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pondering.results.statistics import Interval, rate, spearman
from pondering.results.tables import per_seed, ranked

Array = NDArray[np.float64]
NAN = float("nan")


def by(rows: pd.DataFrame, column: str, across: str = "setting") -> pd.DataFrame:
    """A column of tidy rows as [seeds, settings], means over difficulties with equal weight.

    Args:
        rows: as `Evidence.sweep` gives them.
        column: error or ponder_time.
        across: setting, or difficulty: then the means are over settings.
    """
    return rows.groupby(["seed", across])[column].mean().unstack()


def by_difficulty(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """A column of tidy rows as [networks, difficulties]; networks are (seed, setting)."""
    return rows.pivot(index=["seed", "setting"], columns="difficulty", values=column)


def average(values: ArrayLike, axis: int | None = None) -> Array:
    """The mean leaving NaN out, NaN where nothing is left, without NumPy's warning."""
    array = np.asarray(values, dtype=np.float64)
    there = ~np.isnan(array)
    with np.errstate(invalid="ignore", divide="ignore"):
        total = np.where(there, array, 0.0).sum(axis=axis) / there.sum(axis=axis)
    return np.asarray(total, dtype=np.float64)


def difference(first: ArrayLike, second: ArrayLike) -> float:
    """The mean of one array less that of another, NaN left out."""
    return float(average(first) - average(second))


def best(rows: pd.DataFrame) -> float:
    """The best setting of a mechanism, whose rows these are, chosen as the pages choose it."""
    return near_best(rows)[0]


def near_best(rows: pd.DataFrame) -> list[float]:
    """The settings whose mean error is within one standard error of the lowest, the best first.

    The standard error is that of the best setting over its seeds. Of one seed the best alone.
    """
    means = ranked(per_seed(rows))
    error, spread = means.loc[0, ["error", "error_se"]]
    most = error + (0.0 if math.isnan(spread) else spread)
    return [float(each) for each in means["setting"][means["error"] <= most]]


def lowest_error(errors: Array) -> float:
    """Error at the setting with the lowest mean over seeds, of [seeds, settings]."""
    return float(average(errors, axis=0).min())


def trend(frame: pd.DataFrame) -> Array:
    """Spearman's correlation of each row with the columns' numbers.

    Args:
        frame: [rows, points]; points of NaN (failed replicas) are left out.

    Returns:
        [rows] correlations; a constant row, or one of NaN alone, has no relation: 0.
    """
    x = frame.columns.to_numpy(float)
    return np.nan_to_num([spearman(x, row) for row in frame.to_numpy(float)], nan=0.0)


def lines(frame: pd.DataFrame) -> pd.DataFrame:
    """A straight line through each row, against the columns' numbers.

    Args:
        frame: [rows, points], of at least two different points.

    Returns:
        Columns slope, and explained, R squared in 0..1. Both are 0 in a row with NaN (a failed
        replica); explained is 0 in a constant one.
    """
    x = frame.columns.to_numpy(float)
    centred, rows = x - x.mean(), np.ascontiguousarray(frame.to_numpy(float))
    deviations = rows - rows.mean(axis=-1, keepdims=True)
    slope = deviations @ centred / (centred @ centred)
    total = (deviations**2).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        explained = np.where(total > 1e-18, slope**2 * (centred @ centred) / total, 0.0)
    found = {"slope": np.nan_to_num(slope, nan=0.0), "explained": explained}
    return pd.DataFrame(found, index=frame.index)


SEED_AND_SETTING = ["seed", "setting"]


def reached(curves: pd.DataFrame, error: float, column: str = "update") -> pd.DataFrame:
    """[seeds, settings] update, or computed_steps, when the training error first falls to `error`.

    Infinite where it never does.
    """
    every = curves.groupby(SEED_AND_SETTING).size().index
    hits = curves[curves["error"] <= error].groupby(SEED_AND_SETTING)[column].first()
    return hits.reindex(every, fill_value=math.inf).unstack()


def mean_error(curves: pd.DataFrame) -> pd.DataFrame:
    """[seeds, settings] error averaged over training, by straight lines between logged updates."""
    replicas = curves.groupby(SEED_AND_SETTING)[["update", "error"]]
    return replicas.apply(_area).astype(float).unstack()


def computed(curves: pd.DataFrame) -> pd.DataFrame:
    """[seeds, settings] forward passes of the step function per update; NaN where it diverged."""
    ends = curves.groupby(SEED_AND_SETTING).tail(1).set_index(SEED_AND_SETTING)
    return (ends["computed_steps"] / ends["update"]).astype(float).unstack()


def _area(curve: pd.DataFrame) -> float:
    updates, error = (curve[name].to_numpy(float) for name in ("update", "error"))
    if len(curve) < 2 or updates[-1] == updates[0]:
        return float(error.mean())
    return float(np.trapezoid(error, updates) / (updates[-1] - updates[0]))


def count(number: float, seeds: int) -> Interval:
    """A number of networks, which has no interval."""
    return Interval(float(number), NAN, NAN, seeds)


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
