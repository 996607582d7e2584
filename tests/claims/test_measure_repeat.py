"""The numbers behind the claim on the fixed repeat (F1), by a second reckoning."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from oracle.claim_oracle import (
    SEEDS,
    Expected,
    Grid,
    Replicas,
    Training,
    check,
    measured,
    median,
    over,
    table,
    training,
    whole_and_broken,
)
from support.claim_tables import results

from pondering.claims.frames import ratio_of_soonest
from pondering.results.statistics import Interval

TAUS = (0.0, 0.001, 0.004, 0.01)
REPEATS = (1, 2, 3, 5)


@pytest.mark.parametrize("solved", [0.0625, 0.25, 0.0])
@whole_and_broken
def test_a_fixed_repeat_against_act(gone: Replicas, solved: float) -> None:
    """F1; the plain network is no repeat, an error at the bound itself is solved, or nothing is."""
    tables, curves = [], []
    for name in ("parity_fojo", "addition"):
        tables += [
            table(name, "repeat", REPEATS, (1, 2, 4), exact={1: 0.01}, gone=gone),
            table(name, "act", TAUS, (1, 2, 4), gone=gone),
        ]
        for mechanism, settings in (("repeat", REPEATS), ("act", TAUS)):
            frame = training(name, mechanism, settings, gone=gone)
            frame["error"] = (32 * frame["error"] + 0.6).round() / 32  # many at the bound
            curves.append(frame)
    source = results(tables, curves)
    expected: dict[str, Expected] = {}
    for which, name in (("first", "parity_fojo"), ("second", "addition")):
        repeat, act = (Grid(source, name, mechanism) for mechanism in ("repeat", "act"))
        expected[f"{which}_best"] = over(
            lambda seeds, repeat=repeat, act=act: (
                1 - min(repeat.lowest(seeds, REPEATS[1:]), act.lowest(seeds))
            )
        )
        expected[f"{which}_gap"] = over(
            lambda seeds, repeat=repeat, act=act: (
                repeat.lowest(seeds, REPEATS[1:]) - act.lowest(seeds)
            )
        )

    known = {name: Training(source, "parity_fojo", name) for name in ("repeat", "act")}
    soonest = [
        min(median([known[mechanism].first(s, k, solved) for k in SEEDS]) for s in settings)
        for mechanism, settings in (("repeat", REPEATS[1:]), ("act", TAUS))
    ]
    found = measured("F1", source, solved_error=solved)
    check(found, first_speed=(soonest[0] / soonest[1], 4), **expected)


NEVER = math.inf


@pytest.mark.parametrize(
    ("repeats", "penalties", "value", "low", "high"),
    [
        (range(10, 50, 2), range(20, 100, 4), 0.5, 18 / 80, 40 / 36),
        ([10] * 20, [*[20] * 12, *[NEVER] * 8], 0.5, 0.0, 0.5),
        ([*[10] * 12, *[NEVER] * 8], [20] * 20, 0.5, 0.5, NEVER),
        ([*[10] * 12, *[NEVER] * 8], [*[20] * 12, *[NEVER] * 8], 0.5, 0.0, NEVER),
        ([10] * 20, [NEVER] * 20, 0.0, 0.0, 0.0),
    ],
)
def test_a_ratio_of_medians_lies_between_the_ends_of_both(
    repeats: Sequence[float], penalties: Sequence[float], value: float, low: float, high: float
) -> None:
    """Of 20 numbers the 5th and the 16th bound the median with 98.8%, the 6th and 15th with 95.9%.

    A second setting that takes longer changes nothing.
    """
    first, second = (
        pd.DataFrame({1: each, 3: 3 * np.array(each)}) for each in (repeats, penalties)
    )
    found = ratio_of_soonest(first, second)
    assert (found.estimate, found.low, found.high) == pytest.approx((value, low, high))
    assert found.count == 20


def test_too_few_seeds_bound_no_ratio_and_never_over_never_is_none() -> None:
    for few, many in ((5, 20), (20, 5)):
        first, second = pd.DataFrame([10.0] * few), pd.DataFrame([20.0] * many)
        assert ratio_of_soonest(first, second) == Interval(0.5, 0.0, NEVER, 5)
    never = pd.DataFrame([NEVER] * 20)
    assert math.isnan(ratio_of_soonest(never, never).estimate)
