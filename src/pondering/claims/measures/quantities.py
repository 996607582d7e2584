"""What a measure hands back: named quantities, each with a 95% interval over seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from numpy.typing import ArrayLike

from pondering.claims.measures.arrays import Array
from pondering.results.statistics import (
    RESAMPLES,
    bootstrap_mean,
    bounds,
    generator_of,
    resampled_places,
)

Unit = Literal[
    "share",
    "points",
    "steps",
    "bits",
    "nats",
    "times",
    "correlation",
    "number",
    "updates",
    "deviations",
]
"""How a number is printed: shares in percent, differences of shares in percentage points."""


@dataclass(frozen=True)
class Quantity:
    """One measured number: `value` is NaN where it could not be measured, inf where never reached.

    `low` and `high` bound the 95% interval (None with a single seed); `seeds` entered.
    """

    name: str
    label: str
    unit: Unit
    value: float
    low: float | None
    high: float | None
    seeds: int


def mean_over_seeds(name: str, label: str, unit: Unit, per_seed: ArrayLike) -> Quantity:
    """The mean of one number per seed, with its bootstrap interval.

    Args:
        name: the name claims.yaml knows it by.
        label: what a reader sees.
        unit: how it is printed.
        per_seed: [seeds]; NaN marks a seed without a value and is left out.

    Returns:
        The quantity; NaN where no seed has a value.
    """
    found = bootstrap_mean(per_seed, name)
    return _quantity(name, label, unit, found.estimate, (found.low, found.high), found.count)


def over_seeds(
    name: str, label: str, unit: Unit, statistic: Callable[..., Any], *samples: Array
) -> Quantity:
    """Any statistic of arrays that carry seeds first, with a percentile bootstrap over seeds.

    Equally many seeds in all samples are resampled together, since settings are compared on the
    same batches; otherwise each sample is resampled apart. Choices made inside the statistic (the
    best setting, say) are made again in each resample.

    Args:
        name: the name claims.yaml knows it by.
        label: what a reader sees.
        unit: how it is printed.
        statistic: takes the samples and gives a number; NaN where there is none.
        samples: arrays [seeds, ...].

    Returns:
        The quantity with its interval, None below two seeds.
    """
    seeds = min((len(sample) for sample in samples), default=0)
    value = float(statistic(*samples)) if seeds else float("nan")
    if seeds < 2 or math.isnan(value):
        return Quantity(name, label, unit, value, None, None, seeds)
    drawn = [float(statistic(*again)) for again in _resamples(name, samples)]
    return _quantity(name, label, unit, value, bounds(drawn, seeds), seeds)


def over_items_and_seeds(
    name: str, label: str, unit: Unit, statistic: Callable[[Array], float], sample: Array
) -> Quantity:
    """A statistic of items that every seed has met, with a bootstrap over both at once.

    An item is drawn again with what all seeds made of it, a seed with all its items: the seeds'
    readings of one item are no independent evidence. With a single seed the interval is over items.

    Args:
        name, label, unit: as of `over_seeds`.
        statistic: takes the sample and gives a number; NaN where there is none.
        sample: [items, seeds, ...].

    Returns:
        The quantity with its interval, None below two items.

    Source: A. B. Owen 2007, "The pigeonhole bootstrap".
    """
    items, seeds = sample.shape[:2]
    generator, value = generator_of(name), float(statistic(sample))
    drawn = [
        float(statistic(sample[generator.integers(0, items, items)][:, places]))
        for places in generator.integers(0, seeds, (RESAMPLES if items > 1 else 0, seeds))
    ]
    return _quantity(name, label, unit, value, bounds(drawn, items), seeds)


def quantity_text(quantity: Quantity) -> str:
    """The value with its interval, as the tables print it: "4.1% (3.0 to 5.2)"."""
    unit, digits = quantity.unit, _digits(quantity.value, quantity.unit)
    value = number_text(quantity.value, unit, digits)
    if quantity.low is None or quantity.high is None:
        return value
    low, high = (_bare(bound, unit, digits) for bound in (quantity.low, quantity.high))
    return f"{value} ({low} to {high})"


def number_text(value: float, unit: Unit, digits: int | None = None) -> str:
    """A number with its unit; a minus sign is a real minus, and zero has none.

    Args:
        value: NaN is "not measured"; inf is "never" reached or "no bound".
        unit: its unit.
        digits: decimals; None takes what suits the value.
    """
    text = _bare(value, unit, _digits(value, unit) if digits is None else digits)
    words = {"steps": " steps", "bits": " bits", "nats": " nats", "updates": " updates"}
    words |= {"times": " times", "deviations": " s.d.", "share": "%", "points": " points"}
    return text + words.get(unit, "") if math.isfinite(value) else text


def _bare(value: float, unit: Unit, digits: int) -> str:
    if math.isnan(value):
        return "not measured"
    if math.isinf(value):
        return "never" if unit == "updates" else "no bound"
    hundred = unit in ("share", "points")
    if not hundred and abs(value) >= 100:
        digits = 0
    text = f"{100 * value if hundred else value:,.{digits}f}"
    if text.strip("-0.") == "":
        text = text.lstrip("-")
    return text.replace("-", "\N{MINUS SIGN}")


def _digits(value: float, unit: Unit) -> int:
    """Decimals: more where a share is near nothing or near all."""
    if unit in ("share", "points"):
        size = abs(value)
        return 2 if 0 < size < 0.00995 or (unit == "share" and 0.98 <= size < 1) else 1
    return {"updates": 0, "bits": 3}.get(unit, 2)


def _quantity(
    name: str, label: str, unit: Unit, value: float, interval: tuple[float, float], seeds: int
) -> Quantity:
    """The quantity with its interval, which is NaN where there is none."""
    low, high = (None if math.isnan(bound) else bound for bound in interval)
    return Quantity(name, label, unit, value, low, high, seeds)


def _resamples(name: str, samples: tuple[Array, ...]) -> Iterator[list[Array]]:
    """The samples drawn again, seed by seed; see `over_seeds` for which are drawn together."""
    generator = generator_of(name)
    counts = [len(sample) for sample in samples]
    if len(set(counts)) == 1:
        for places in resampled_places(generator, counts[0]):
            yield [sample[places] for sample in samples]
        return
    for _ in range(RESAMPLES):
        yield [sample[generator.integers(0, len(sample), len(sample))] for sample in samples]
