"""Training curves: what a diverged or an early stopped replica means for the mean over seeds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

MOST_POINTS = 120
"""Points of one faint line: more is not seen at the width of a figure and swells the file."""


def errors_by_update(curves: pd.DataFrame, failure: float) -> pd.DataFrame:
    """Errors of the seeds of one setting side by side.

    Args:
        curves: training curves of one mechanism and setting; NaN errors mean the replica diverged.
        failure: the error a diverged replica has from then on.

    Returns:
        Indexed by update, one column per seed. A replica that stopped early keeps its last error.
    """
    filled = curves.assign(error=curves["error"].fillna(failure))
    wide = filled.pivot_table(index="update", columns="seed", values="error", aggfunc="last")
    return wide.ffill()


def median_line(wide: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Updates and the median error over the seeds, which no single lost seed moves."""
    return wide.index.to_numpy(dtype=float), wide.median(axis=1).to_numpy(dtype=float)


def seed_lines(
    curves: pd.DataFrame, across: str = "update", value: str = "error"
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """The thinned line of each seed of one setting, without the rows after it diverged."""
    for _, own in curves.groupby("seed", sort=True):
        line = own.sort_values("update")[[across, value]].dropna()
        thinned = line.iloc[:: max(1, -(-len(line) // MOST_POINTS))]
        yield thinned[across].to_numpy(dtype=float), thinned[value].to_numpy(dtype=float)


def last_points(curves: pd.DataFrame) -> tuple[list[float], list[float]]:
    """Forward passes and accuracy at the end of every seed of a setting that did not diverge."""
    ends = [own.sort_values("update").iloc[-1] for _, own in curves.groupby("seed", sort=True)]
    kept = [end for end in ends if end[["computed_steps", "error"]].notna().all()]
    return [float(end["computed_steps"]) for end in kept], [float(1 - end["error"]) for end in kept]


def accuracy_by_compute(
    curves: pd.DataFrame, points: int = 150
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean accuracy over the seeds of one setting against the forward passes spent so far.

    Args:
        curves: training curves of one mechanism and setting.
        points: length of the common grid of forward passes.

    Returns:
        Forward passes [points] and mean accuracy [points]. A replica that has ended keeps its last
        accuracy; one that diverged has accuracy 0 from there on.
    """
    lines, stillborn = [], 0
    for _, own in curves.groupby("seed", sort=True):
        ordered = own.sort_values("update")
        alive = ordered[["computed_steps", "error"]].notna().all(axis=1)
        line = ordered[alive]
        if line.empty:
            stillborn += 1
            continue
        after = float(1 - line["error"].iloc[-1]) if alive.all() else 0.0
        lines.append((line["computed_steps"].to_numpy(), 1 - line["error"].to_numpy(), after))
    if not lines:
        return np.empty(0), np.empty(0)
    grid = np.linspace(min(x[0] for x, _, _ in lines), max(x[-1] for x, _, _ in lines), points)
    rows = [np.interp(grid, x, y, right=after) for x, y, after in lines]
    return grid, np.sum(rows, axis=0) / (len(rows) + stillborn)
