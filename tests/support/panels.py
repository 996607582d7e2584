"""Reads numbers from figures, and computes the numbers that they should show row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle


def must(figure: Figure | None) -> Figure:
    """The figure that a drawing function must return."""
    assert figure is not None
    return figure


def bar_heights(axes: Axes) -> list[float]:
    return [p.get_height() for p in axes.patches if isinstance(p, Rectangle)]


def line_with(axes: Axes, x: Any, y: Any) -> bool:
    """Whether a line of the panel has just these data."""
    wanted = np.column_stack([np.asarray(x, float), np.asarray(y, float)])
    return any(
        line.get_xydata().shape == wanted.shape
        and np.allclose(line.get_xydata(), wanted, equal_nan=True)
        for line in axes.lines
    )


def seed_means(table: pd.DataFrame, mechanism: str, setting: float) -> list[tuple[float, float]]:
    """Error and ponder time of each seed."""
    found = []
    shown = table[(table["mechanism"] == mechanism) & (table["setting"] == setting)]
    shown = shown[shown["prediction"] != "expected"]
    for seed in sorted(set(shown["seed"])):
        rows = shown[shown["seed"] == seed]
        found.append((sum(rows["error"]) / len(rows), sum(rows["ponder_time"]) / len(rows)))
    return found
