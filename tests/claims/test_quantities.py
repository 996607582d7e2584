"""Quantities: intervals of every kind, cut to their units, and numbers as people write them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pondering.claims.measures.quantities import (
    Quantity,
    mean_over_seeds,
    median_over_seeds,
    over_items_and_seeds,
    over_seeds,
    quantity_text,
    rate,
    rate_gap,
    solved_settings,
    solved_settings_gap,
)
from pondering.results.units import Unit, number_text

T15, T5 = 2.131450, 2.570582
"""Student's t at 97.5%, of 15 and 5 degrees of freedom."""


def mean(counted: np.ndarray) -> np.ndarray:
    """Of counts and sums [..., 2]."""
    count, total = np.moveaxis(counted, -1, 0)
    found: np.ndarray = total / np.where(count > 0, count, math.nan)
    return found


def width(sample: np.ndarray) -> float:
    """Of the interval of the mean over [items, seeds]."""
    counted = np.stack([np.ones_like(sample), sample], axis=-1)
    found = over_items_and_seeds("any", "", "steps", mean, counted)
    assert found.low is not None and found.high is not None
    assert found.low < found.value < found.high and found.seeds == sample.shape[1]
    return found.high - found.low


def test_seeds_that_read_alike_are_no_further_evidence_and_seeds_that_differ_widen() -> None:
    """16 windows of a text, read by six seeds."""
    drawn = np.random.default_rng(3).normal(size=(16, 6))
    one, alike = width(drawn[:, :1]), width(np.repeat(drawn[:, :1], 6, axis=1))
    assert one == pytest.approx(2 * T15 * drawn[:, 0].std(ddof=1) / 4, rel=1e-6)
    assert alike == pytest.approx(one * T5 / T15, rel=1e-6)  # by the six seeds, on the safe side
    squares = [drawn.mean(axis=1 - axis).var(ddof=1) / drawn.shape[axis] for axis in (0, 1)]
    assert width(drawn) == pytest.approx(2 * T5 * math.sqrt(sum(squares)), rel=1e-6)
    assert width(drawn) < 0.8 * one
    assert width(drawn[:, :1] + np.array([0, 0, 0, 0, 0, 9])) > 2 * alike


def test_a_single_item_has_no_interval() -> None:
    found = over_items_and_seeds("any", "", "steps", mean, np.array([[(1.0, 2.0)] * 3]))
    assert (found.value, found.low, found.high, found.seeds) == (2.0, None, None, 3)


def test_an_item_that_cannot_be_left_out_gives_no_interval() -> None:
    sample = np.array([[(0.0, 0.0), (0.0, 0.0)], [(1.0, 1.0), (1.0, 2.0)]])
    found = over_items_and_seeds("any", "", "steps", mean, sample)
    assert (found.value, found.low, found.high) == (1.5, None, None)


@pytest.mark.parametrize(
    ("unit", "least", "most"), [("share", 0, 1), ("points", -1, 1), ("correlation", -1, 1)]
)
def test_bounds_are_cut_to_what_a_unit_can_be(unit: Unit, least: int, most: int) -> None:
    per_seed = np.array([least, most, most], dtype=float)
    for found in (
        mean_over_seeds("any", "", unit, per_seed),
        over_seeds("any", "", unit, np.mean, per_seed),
        median_over_seeds("any", "", unit, per_seed),
    ):
        assert (found.low, found.high) == (least, most)
    free = mean_over_seeds("any", "", "steps", per_seed)
    assert free.low is not None and free.low < least
    assert free.high is not None and free.high > most


def test_one_seed_has_no_interval() -> None:
    found = over_seeds("any", "", "share", np.mean, np.array([0.5]))
    assert (found.value, found.low, found.high, found.seeds) == (0.5, None, None, 1)


def test_the_median_of_updates_may_be_never() -> None:
    found = median_over_seeds("any", "", "updates", [math.inf, 300, 100, math.inf, 200, 400])
    assert quantity_text(found) == "350 updates (100 to never)"
    few = median_over_seeds("any", "", "updates", [300, 100, math.nan])
    assert quantity_text(few) == "200 updates (no bound)" and few.seeds == 2


def test_the_difference_of_two_rates() -> None:
    """9 of 10 and 3 of 10: Newcombe's bounds."""
    first, second = np.arange(10) < 9, np.arange(10) < 3
    gap = rate_gap("any", "", first, second)
    assert (gap.unit, gap.value, gap.seeds) == ("points", pytest.approx(0.6), 10)
    assert (gap.low, gap.high) == pytest.approx((0.1705, 0.8090), abs=1e-4)
    assert rate_gap("any", "", first, second[:7]).seeds == 7


def test_a_relative_change_has_no_upper_limit() -> None:
    found = mean_over_seeds("any", "", "change", [0.1, 0.1, 4.0])
    assert found.low == 0 and found.high is not None and found.high > 4
    assert quantity_text(found).startswith("140.0% (0.0 to ")


def test_settings_that_most_seeds_solve() -> None:
    """Wilson's lower bound is above one half from 9 of 10, its upper one from 2 of 10, 1 of 7."""
    counts = (10, 9, 8, 6, 5, 2, 1, 0)
    solved = np.arange(10)[:, None] < np.array(counts)
    found = solved_settings("any", "", solved)
    assert (found.unit, found.value, found.seeds) == ("share", 4 / 8, 10)
    assert (found.low, found.high) == (2 / 8, 6 / 8)
    gap = solved_settings_gap("any", "", solved, solved[:7, 4:])  # 5, 2, 1 and 0 of seven
    assert (gap.unit, gap.value, gap.seeds) == ("points", 4 / 8 - 1 / 4, 7)
    for none in (
        solved_settings("any", "", solved[:0]),
        solved_settings_gap("any", "", solved, solved[:0]),
    ):
        assert math.isnan(none.value) and (none.low, none.high, none.seeds) == (None, None, 0)


def test_the_gap_of_solved_settings_moves_with_the_seeds_that_are_drawn() -> None:
    """One setting that six of ten seeds solve: most do in a draw by a binomial of ten and 0.6."""
    solved = np.arange(10)[:, None] < np.array([10, 10, 6, 0])
    never = np.zeros((10, 4), dtype=bool)
    gap = solved_settings_gap("any", "", solved, never)
    assert (gap.value, gap.low, gap.high) == (0.75, 0.5, 0.75)
    same = solved_settings_gap("any", "", solved, solved)  # of the same seeds in every draw
    assert (same.value, same.low, same.high) == (0, 0, 0)
    sure = solved_settings_gap("any", "", solved[:, :2], never[:, :2])
    assert (sure.value, sure.low, sure.high) == (1, 1, 1)


@pytest.mark.parametrize(
    ("quantity", "text"),
    [
        (Quantity("", "", "share", 0.0412, 0.03, 0.052, 3), "4.1% (3.0 to 5.2)"),
        (Quantity("", "", "share", 0.9884, 0.98, 0.99, 3), "98.84% (98.00 to 99.00)"),
        (Quantity("", "", "steps", -0.0001, None, None, 1), "0.00 steps"),
        (Quantity("", "", "steps", -0.0048, -0.0173, 0.0077, 6), "−0.005 steps (−0.017 to 0.008)"),  # noqa: RUF001
        (Quantity("", "", "bits", 0.0127, -0.0004, 0.0258, 5), "0.0127 bits (−0.0004 to 0.0258)"),  # noqa: RUF001
        (Quantity("", "", "steps", -1.5, -2.0, -1.0, 3), "−1.50 steps (−2.00 to −1.00)"),  # noqa: RUF001
        (Quantity("", "", "updates", math.inf, 12000.0, math.inf, 3), "never (12,000 to never)"),
        (Quantity("", "", "bits", math.nan, None, None, 0), "not measured"),
        (Quantity("", "", "points", -0.099, -0.2, 0.0, 3), "−9.9 points (−20.0 to 0.0)"),  # noqa: RUF001
        (Quantity("", "", "points", 0.99, None, None, 1), "99.0 points"),
        (Quantity("", "", "times", 9790.93, 0.0, 9931.71, 3), "9,791 times (0.00 to 9,932)"),
        (Quantity("", "", "times", 1.5, 0.25, 120.4, 3), "1.50 times (0.25 to 120)"),
        (Quantity("", "", "times", 0.0047, 0.0031, 0.0069, 3), "0.0047 times (0.0031 to 0.0069)"),
        (Quantity("", "", "share", 1.0, None, None, 3), "100.0%"),
        (Quantity("", "", "share", 1.0, 1.0, 1.0, 3), "100.0% (no spread)"),
    ],
)
def test_numbers_are_printed_as_people_write_them(quantity: Quantity, text: str) -> None:
    assert quantity_text(quantity) == text


def test_nothing_is_written_with_the_decimals_of_its_unit() -> None:
    assert number_text(0.0, "share") == "0.0%"


def test_a_share_of_no_network_has_no_interval() -> None:
    none = rate("back", "back", [])
    assert math.isnan(none.value) and (none.low, none.high) == (None, None)
    assert quantity_text(none) == "not measured"
