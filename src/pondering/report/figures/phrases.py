"""Turns of phrase that the figures in words share."""

from __future__ import annotations

import numpy as np
import pandas as pd


def plus_minus(mean: float, error: float) -> str:
    """A mean with its standard error, where there is one."""
    return f"{mean:.3g} ± {error:.1g}" if np.isfinite(error) else f"{mean:.3g}"


def in_steps(value: float) -> str:
    """A number of steps."""
    if not np.isfinite(value):
        return "no steps known"
    return f"{value:.3g} step{'' if f'{value:.3g}' == '1' else 's'}"


def seed_count(seeds: pd.Series) -> str:
    """The number of seeds, or its range."""
    low, high = int(seeds.min()), int(seeds.max())
    return f"{low} seed{'s' if high > 1 else ''}" if low == high else f"{low} to {high} seeds"
