"""Intervals of rates, settings and texts, limits of units, and numbers as text."""

from __future__ import annotations

import math
import operator

import numpy as np
import pandas as pd
import pytest

from pondering.claims.frames import solved_settings
from pondering.claims.measures.methods import solved_settings_gap
from pondering.claims.measures.text import over_windows_and_seeds
from pondering.claims.quantities import (
    Quantity,
    in_words,
    plain_estimate,
    quantities_of,
    quantity_text,
)
from pondering.results.statistics import Interval, mean_interval, median_interval, rate
from pondering.results.units import Unit, number_text

T15 = 2.131450
"""Student's t at 97.5%, of 15 degrees of freedom."""


def mean(sample: np.ndarray) -> Interval:
    """The mean over [windows, seeds], NaN left out."""
    window, seed = (places.ravel() for places in np.indices(sample.shape))
    rows = pd.DataFrame({"sequence": window, "seed": seed, "value": sample.ravel()})
    return over_windows_and_seeds(rows, operator.pos, rows["value"])


def test_one_seed_has_an_interval_over_its_windows() -> None:
    """G10's published numbers have several seeds (`test_claims.py`)."""
    sample = np.random.default_rng(3).normal(size=(16, 1))
    found = mean(sample)
    assert found.count == 1
    assert found.high - found.low == pytest.approx(2 * T15 * sample.std(ddof=1) / 4, rel=1e-6)


@pytest.mark.parametrize(("sample", "value"), [([[2.0] * 3], 2.0), ([[math.nan] * 2, [1, 2]], 1.5)])
def test_a_window_that_cannot_be_left_out_gives_no_interval(sample: object, value: float) -> None:
    found = mean(np.array(sample))
    assert found.estimate == value and math.isnan(found.low) and math.isnan(found.high)


def quantity(found: Interval, unit: Unit = "steps") -> Quantity:
    return quantities_of({"any": found}, {"any": (unit, "")})[0]


@pytest.mark.parametrize(
    ("unit", "least", "most"), [("share", 0, 1), ("points", -1, 1), ("correlation", -1, 1)]
)
def test_intervals_are_cut_to_the_range_of_their_unit(unit: Unit, least: int, most: int) -> None:
    for found in (mean_interval([least, most, most]), median_interval([least, most, most])):
        cut = quantity(found, unit)
        assert (cut.low, cut.high) == (least, most)
    change = quantity(mean_interval([0.1, 0.1, 4.0]), "change")
    assert change.low == 0 and change.high is not None and change.high > 4


def test_one_seed_or_no_measurement_has_no_interval() -> None:
    for found in (mean_interval([0.5]), rate([])):
        assert (quantity(found).low, quantity(found).high) == (None, None)
    assert quantity_text(quantity(rate([]), "share")) == "not measured"


def test_a_label_has_the_letters_of_a_star() -> None:
    one = Interval(1.0, 0.5, 2.0, 3)
    texts: dict[str, tuple[Unit, str]] = {"a": ("steps", "an a"), "b_*": ("steps", "b at *")}
    found = quantities_of({"a": one, "b_-3": one, "a, Sort": one}, texts)
    labels = {(each.name, each.part): each.label for each in found}
    minus = "b at \N{MINUS SIGN}3"
    assert labels == {("a", ""): "an a", ("b_-3", ""): minus, ("a", "Sort"): "an a"}


def test_settings_that_most_seeds_solve() -> None:
    """Wilson's lower bound is above one half from 9 of 10, its upper one from 2 of 10, 1 of 7."""
    solved = pd.DataFrame(np.arange(10)[:, None] < np.array((10, 9, 8, 6, 5, 2, 1, 0)))
    assert solved_settings(solved) == Interval(4 / 8, 2 / 8, 6 / 8, 10)
    gap = solved_settings_gap(solved, solved.iloc[:7, 4:])  # 5, 2, 1 and 0 of seven
    assert (gap.estimate, gap.count) == (4 / 8 - 1 / 4, 7)
    for none in (solved_settings(solved[:0]), solved_settings_gap(solved, solved[:0])):
        assert math.isnan(none.estimate) and none.count == 0


def test_the_gap_of_solved_settings_varies_over_draws_of_seeds() -> None:
    """Six of ten seeds solve one setting, so most seeds of a draw may solve it or not."""
    solved = pd.DataFrame(np.arange(10)[:, None] < np.array([10, 10, 6, 0]))
    never = pd.DataFrame(np.zeros((10, 4), dtype=bool))
    assert solved_settings_gap(solved, never) == Interval(0.75, 0.5, 0.75, 10)
    same = solved_settings_gap(solved, solved)  # each draw has the same seeds of both
    assert same == Interval(0, 0, 0, 10)
    assert solved_settings_gap(solved[[0, 1]], never[[0, 1]]) == Interval(1, 1, 1, 10)


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
        (Quantity("", "", "updates", 9000.0, -math.inf, math.inf, 3), "9,000 updates (no bound)"),
        (Quantity("", "", "networks", 7.0, None, None, 10), "7 networks"),
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
def test_numbers_with_units_as_text(quantity: Quantity, text: str) -> None:
    assert quantity_text(quantity) == text
    assert number_text(0.0, "share") == "0.0%"


def test_a_quantity_in_a_sentence() -> None:
    """A name finds its first quantity, or the quantity of a part; "never" is no number."""
    found = [
        Quantity("solved", "", "share", 0.3, 0.1, 0.6, 10),
        Quantity("solved", "", "share", 0.5, 0.2, 0.8, 10, "Sort, bias 3"),
        Quantity("updates", "", "updates", math.inf, None, None, 10),
    ]
    estimates = [plain_estimate(each) for each in found]
    sources = ("solved", "solved: interval", "Sort, bias 3/solved: count")
    texts = [in_words(each, estimates) for each in sources]
    assert texts == ["30.0%", "30.0% (10.0 to 60.0)", "5 of 10"]
    for unknown in ("updates", "ACT/solved", "other"):
        with pytest.raises(LookupError):
            in_words(unknown, estimates)
