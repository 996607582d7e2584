"""Numbers with their units, as every page, table and terminal prints them."""

from __future__ import annotations

import math
from typing import Literal

Unit = Literal[
    "share", "part", "change", "points", "steps", "bits", "nats", "times", "correlation", "number",
    "updates", "networks", "deviations",
]  # fmt: skip
"""How a number is printed: shares, parts that may be less than nothing and relative changes in
percent, gaps of shares in points, nats in bits."""

HUNDREDTHS: tuple[Unit, ...] = ("share", "part", "change", "points")
"""What is printed in percent or points."""
WORDS: dict[Unit, str] = {
    "share": "%", "part": "%", "change": "%", "points": " points", "steps": " steps",
    "bits": " bits", "nats": " bits", "times": " times", "updates": " updates",
    "networks": " networks", "deviations": " s.d.",
}  # fmt: skip


def interval_text(value: float, low: float | None, high: float | None, unit: Unit) -> str:
    """A value with its interval, where it has one: "4.1% (3.0 to 5.2)".

    An interval that is narrower than the print is "no spread". All have a digit more where one of
    them would look like 0.
    """
    digits = _digits(value, unit)
    digits += any(_looks_like_nothing(end, unit, digits) for end in (value, low, high) if end)
    text = number_text(value, unit, digits)
    if low is None or high is None:
        return text
    if low == -math.inf:
        return f"{text} (no bound)"
    ends = [_bare(end, unit, digits) for end in (low, high)]
    return f"{text} ({' to '.join(ends)})" if ends[0] != ends[1] else f"{text} (no spread)"


def number_text(value: float, unit: Unit, digits: int | None = None) -> str:
    """A number with its unit; a minus sign is a real minus, and zero has none.

    Args:
        value: NaN is "not measured"; inf is "never" reached or "no bound".
        unit: its unit.
        digits: decimals; None takes what suits the value.
    """
    text = _bare(value, unit, _digits(value, unit) if digits is None else digits)
    if not math.isfinite(value):
        return text
    word = WORDS.get(unit, "")
    is_one = text == "1" and unit in ("steps", "bits", "updates", "networks")
    return text + (word.removesuffix("s") if is_one else word)


def _bare(value: float, unit: Unit, digits: int) -> str:
    if math.isnan(value):
        return "not measured"
    if math.isinf(value):
        return "never" if unit == "updates" else "no bound"
    hundred = unit in HUNDREDTHS
    if not hundred and abs(value) >= 100:
        digits = 0
    scale = 100 if hundred else 1 / math.log(2) if unit == "nats" else 1
    text = f"{scale * value:,.{digits}f}"
    if text.strip("-0.") == "":
        text = text.lstrip("-")
    return text.replace("-", "\N{MINUS SIGN}")


def _looks_like_nothing(value: float, unit: Unit, digits: int) -> bool:
    """Where a further digit would show that it is something."""
    with_one, with_two = (_bare(value, unit, each).strip("0.,") for each in (digits, digits + 1))
    return not with_one and bool(with_two)


def _digits(value: float, unit: Unit) -> int:
    """Decimals: more where a share is near nothing or near all, and where a ratio is small."""
    if unit in HUNDREDTHS:
        size = abs(value)
        return 2 if 0 < size < 0.00995 or (unit == "share" and 0.98 <= size < 1) else 1
    if unit == "times" and 0 < abs(value) < 0.05:
        return 4
    return {"updates": 0, "networks": 0, "bits": 3, "nats": 3}.get(unit, 2)
