"""Quantities: the interval over items and seeds at once, and numbers as people write them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pondering.claims.measures.quantities import (
    Quantity,
    number_text,
    over_items_and_seeds,
    quantity_text,
)


def width(sample: np.ndarray) -> float:
    """Of the interval of the mean over [items, seeds]."""
    found = over_items_and_seeds("any", "", "steps", lambda drawn: float(drawn.mean()), sample)
    assert found.low is not None and found.high is not None
    assert found.low < found.value < found.high and found.seeds == sample.shape[1]
    return found.high - found.low


def test_seeds_that_read_alike_are_no_further_evidence_and_seeds_that_differ_widen() -> None:
    """16 windows of a text, read by six seeds."""
    drawn = np.random.default_rng(3).normal(size=(16, 6))
    one, alike = width(drawn[:, :1]), width(np.repeat(drawn[:, :1], 6, axis=1))
    assert one == pytest.approx(2 * 1.96 * drawn[:, 0].std() / 4, rel=0.1)
    assert alike == pytest.approx(one, rel=0.1)
    assert width(drawn) < 0.8 * one
    assert width(drawn[:, :1] + np.array([0, 0, 0, 0, 0, 9])) > 2 * alike


def test_a_single_item_has_no_interval() -> None:
    found = over_items_and_seeds("any", "", "steps", lambda drawn: 2.0, np.ones((1, 3)))
    assert (found.value, found.low, found.high, found.seeds) == (2.0, None, None, 3)


@pytest.mark.parametrize(
    ("quantity", "text"),
    [
        (Quantity("", "", "share", 0.0412, 0.03, 0.052, 3), "4.1% (3.0 to 5.2)"),
        (Quantity("", "", "share", 0.9884, 0.98, 0.99, 3), "98.84% (98.00 to 99.00)"),
        (Quantity("", "", "steps", -0.001, None, None, 1), "0.00 steps"),
        (Quantity("", "", "steps", -1.5, -2.0, -1.0, 3), "−1.50 steps (−2.00 to −1.00)"),  # noqa: RUF001
        (Quantity("", "", "updates", math.inf, 12000.0, math.inf, 3), "never (12,000 to never)"),
        (Quantity("", "", "bits", math.nan, None, None, 0), "not measured"),
        (Quantity("", "", "points", -0.099, -0.2, 0.0, 3), "−9.9 points (−20.0 to 0.0)"),  # noqa: RUF001
        (Quantity("", "", "points", 0.99, None, None, 1), "99.0 points"),
        (Quantity("", "", "times", 9790.93, 0.0, 9931.71, 3), "9,791 times (0.00 to 9,932)"),
        (Quantity("", "", "times", 1.5, 0.25, 120.4, 3), "1.50 times (0.25 to 120)"),
        (Quantity("", "", "share", 1.0, None, None, 3), "100.0%"),
    ],
)
def test_numbers_are_printed_as_people_write_them(quantity: Quantity, text: str) -> None:
    assert quantity_text(quantity) == text


def test_nothing_is_written_with_the_decimals_of_its_unit() -> None:
    assert number_text(0.0, "share") == "0.0%"
