"""What is reckoned from arrays of errors and steps: means, medians, trends, lines, accuracies.

Seeds come first in every array, settings second. A failed replica has no steps: NaN.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pondering.results.statistics import spearman

Array = NDArray[np.float64]


def average(values: ArrayLike, axis: int | tuple[int, ...] | None = None) -> Array:
    """The mean leaving NaN out, NaN where nothing is left, without NumPy's warning."""
    array = np.asarray(values, dtype=np.float64)
    there = ~np.isnan(array)
    total = np.where(there, array, 0.0).sum(axis=axis)
    count = there.sum(axis=axis)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(total / count, dtype=np.float64)


def present(values: Array) -> Array:
    """The numbers that are there, of [K]; a seed that was not trained has NaN."""
    return values[~np.isnan(values)]


def deviations(values: Array) -> Array:
    """Sample deviation over seeds of [K, S], leaving out NaN (a failed replica); NaN below two."""
    columns = map(present, values.T)
    return np.array([np.std(c, ddof=1) if c.size > 1 else np.nan for c in columns])


def trend(settings: ArrayLike, rows: Array) -> Array:
    """Spearman's correlation of each row with `settings`; no relation (0) where it does not exist.

    Args:
        settings: [points].
        rows: [seeds, points]; points of NaN (failed replicas) are left out.

    Returns:
        [seeds] correlations; a constant row, or one of NaN alone, counts as 0, not as missing.
    """
    found = [spearman(settings, row) for row in rows]
    return np.asarray(np.nan_to_num(found, nan=0.0), dtype=np.float64)


def linear_fit(x: ArrayLike, rows: Array) -> tuple[Array, Array]:
    """Slope and share of variance explained of each row's straight line.

    Args:
        x: [points], at least two different values.
        rows: [..., points]; a row with NaN (a failed replica) has slope 0 and explains nothing.

    Returns:
        Slopes [...] and R squared [...], in 0..1; a constant row has slope 0 and R squared 0.
    """
    across = np.asarray(x, dtype=np.float64)
    centred = across - across.mean()
    deviations = rows - rows.mean(axis=-1, keepdims=True)
    slope = deviations @ centred / (centred @ centred)
    total = (deviations**2).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        explained = slope**2 * (centred @ centred) / total
    flat = ~(total > 1e-18)
    return np.nan_to_num(slope, nan=0.0), np.where(flat, 0.0, np.nan_to_num(explained, nan=0.0))


def difference(first: Array, second: Array) -> float:
    """The mean of one array less that of another, NaN left out."""
    return float(average(first) - average(second))


def lowest_error(errors: Array) -> float:
    """Error at the setting with the lowest mean over seeds, of errors [K, S]."""
    return float(average(errors, axis=0).min())


def best_accuracy(errors: Array) -> float:
    """Accuracy at the setting with the lowest mean error over seeds, of errors [K, S]."""
    return 1 - lowest_error(errors)


def better_accuracy(first: Array, second: Array) -> float:
    """The better of two methods' best accuracies, of errors [K, S] each."""
    return max(best_accuracy(first), best_accuracy(second))


def accuracy_gain(first: Array, second: Array) -> float:
    """What the first method's best accuracy has above the second's, of errors [K, S] each."""
    return best_accuracy(first) - best_accuracy(second)
