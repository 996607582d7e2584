"""Axes of errors on which neither one lost seed nor one bad setting flattens all others."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pandas as pd

OUTLYING = 3.0
"""Times the highest median of a setting."""

MOST_OUTLYING = 0.1
"""Share of the seeds that may lie beyond the end of an axis."""

FAR_APART = 8.0
"""Times the lowest error, from which on the lower ones would lie over each other."""


def far_apart(errors: Iterable[float]) -> bool:
    """Whether the errors of settings, one each, need a logarithmic axis; one of 0 has no place."""
    known = [error for error in errors if not math.isnan(error)]
    return bool(known) and 0 < FAR_APART * min(known) < max(known)


def ceiling(seeds: pd.DataFrame) -> float:
    """The error above which seeds are marked at the end of an axis, not drawn in place.

    Args:
        seeds: columns mechanism, setting and error, a row a seed, as `per_seed` gives.

    Returns:
        Three times the highest median over the seeds of a setting, where some seeds, but at most a
        tenth, lie above it; else infinite.
    """
    top = OUTLYING * seeds.groupby(["mechanism", "setting"])["error"].median().max()
    above = (seeds["error"] > top).mean()
    return float(top) if top > 0 and 0 < above <= MOST_OUTLYING else math.inf
