"""Named quantities, each with its text and a 95% interval over seeds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pondering.results.statistics import Interval
from pondering.results.units import Unit, interval_text

LIMITS: dict[Unit, tuple[float, float]] = {
    "share": (0, 1),
    "change": (0, math.inf),
    "points": (-1, 1),
    "correlation": (-1, 1),
}
"""Where a number of this unit must lie; Student's t knows nothing of it and goes beyond."""

Measured = dict[str, Interval]
"""What a measure gives, by the name of the quantity, or by "NAME, PART" where it is of several
tasks or mechanisms."""
Texts = Mapping[str, tuple[Any, ...]]
"""Quantity -> unit, label, and its bound if it has one."""


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


def quantities_of(found: Measured, texts: Texts) -> tuple[Quantity, ...]:
    """What a measure gave, with the texts that its claim has for it.

    A `*` in a text stands for any letters, the same in the name of a quantity and in its label.
    """
    every = []
    for key, each in found.items():
        name, _, part = key.partition(", ")
        unit, label = _text(name, texts)
        cut = each.within(*LIMITS.get(unit, (-math.inf, math.inf)))
        known = not math.isnan(each.estimate)
        low, high = (end if known and not math.isnan(end) else None for end in (cut.low, cut.high))
        every.append(Quantity(name, label, unit, each.estimate, low, high, each.count, part))
    return tuple(every)


def _text(name: str, texts: Texts) -> tuple[Unit, str]:
    """Unit and label of a quantity, by the first name that fits it."""
    for known, (unit, label, *_) in texts.items():
        if found := re.fullmatch(known.replace("*", "(.*)"), name):
            letters = "".join(found.groups()).replace("-", "\N{MINUS SIGN}")
            return unit, label.replace("*", letters)
    raise KeyError(f"{name} has no label in claims.yaml")


def parted(found: Measured, part: str) -> Measured:
    """The same, of a part of the claim; a part that a name has already stands behind it."""
    names = (key.partition(", ") for key in found)
    keys = [", ".join(filter(None, (name, part, more))) for name, _, more in names]
    return dict(zip(keys, found.values(), strict=True))


def quantity_text(quantity: Quantity) -> str:
    """The value with its interval, as tables print it."""
    return interval_text(quantity.value, quantity.low, quantity.high, quantity.unit)


def in_words(source: str, estimates: Iterable[Mapping[str, Any]]) -> str:
    """A quantity in a sentence.

    Args:
        source: "plain_error" is its value, "plain_error: interval" has the interval too, and
            "plain_error: count" is how many of how many networks; "ACT/accuracy" is that of a part.
        estimates: as `plain_estimate` gives them.

    Raises:
        LookupError: it was not measured.
    """
    name, _, form = source.partition(": ")
    part, _, name = name.rpartition("/")
    for each in estimates:
        known = each["quantity"] == name and each["value"] is not None
        if known and part in ("", each["part"]):
            if form == "count":
                return f"{round(each['value'] * each['seeds'])} of {each['seeds']}"
            text: str = each["text"]
            return text if form == "interval" else text.partition(" (")[0]
    raise LookupError(source)


def plain_estimate(quantity: Quantity) -> dict[str, Any]:
    """A quantity as plain data."""
    return {
        "quantity": quantity.name,
        "part": quantity.part,
        "label": quantity.label,
        "unit": quantity.unit,
        "value": _finite(quantity.value),
        "low": _finite(quantity.low),
        "high": _finite(quantity.high),
        "seeds": quantity.seeds,
        "text": quantity_text(quantity),
    }


def _finite(value: float | None) -> float | None:
    """Six significant digits: what is printed, without the last bits that differ by machine."""
    return float(f"{value:.6g}") if value is not None and math.isfinite(value) else None
