"""A ratio of two medians, of numbers that may be infinite: "never reached"."""

from __future__ import annotations

import math

from pondering.claims.measures.arrays import Array, present
from pondering.claims.measures.quantities import Quantity
from pondering.results.statistics import Interval, median_interval

EACH_OF_TWO = 0.975
"""Level of two intervals that hold at once in 95% of cases, by Bonferroni."""


def ratio_of_soonest(name: str, label: str, first: Array, second: Array) -> Quantity:
    """Ratio of the smallest medians over seeds that any setting has.

    Its interval is from the lowest to the highest ratio within the two medians' own, of 97.5% each.
    Never over never is no number, and excludes nothing where it is a bound.

    Args:
        name: the name claims.yaml knows it by.
        label: what a reader sees.
        first, second: [K, S] each; infinite is "never", NaN a seed that was not trained.
    """
    above, below = (_soonest(values) for values in (first, second))
    low = max(above.low, 0.0) / below.high
    high = above.high / below.low if below.low > 0 else math.inf
    return Quantity(
        name,
        label,
        "times",
        above.estimate / below.estimate,
        0.0 if math.isnan(low) else low,
        math.inf if math.isnan(high) else high,
        min(above.count, below.count),
    )


def _soonest(values: Array) -> Interval:
    found = [median_interval(present(column), EACH_OF_TWO) for column in values.T]
    return min(found, key=lambda interval: interval.estimate)
