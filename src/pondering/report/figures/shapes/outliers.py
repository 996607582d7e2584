"""Where an axis of errors ends, so that one seed that was lost does not flatten all others."""

from __future__ import annotations

import math

import pandas as pd

OUTLYING = 3.0
"""Times the highest median of a setting."""

MOST_OUTLYING = 0.1
"""Share of the seeds that may lie beyond the end of an axis."""


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
