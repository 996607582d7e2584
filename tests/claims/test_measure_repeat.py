"""The numbers behind the claim on the fixed repeat (F1), by a second reckoning."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from oracle.claim_oracle import (
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

TAUS = (0.0, 0.001, 0.004, 0.01)
REPEATS = (1, 2, 3, 5)


@pytest.mark.parametrize("solved", [0.0625, 0.25, 0.0])
@whole_and_broken
def test_a_fixed_repeat_against_act(gone: Replicas, solved: float) -> None:
    """F1; the plain network is no repeat, an error at the bound itself is solved, or nothing is."""
    tables, curves = [], []
    for name in ("parity", "addition"):
        tables += [
            table(name, "repeat", REPEATS, (1, 2, 4), exact={1: 0.01}, gone=gone),
            table(name, "act", TAUS, (1, 2, 4), gone=gone),
        ]
        for mechanism, settings in (("repeat", REPEATS), ("act", TAUS)):
            frame = training(name, mechanism, settings, gone=gone)
            frame["error"] = (32 * frame["error"] + 0.6).round() / 32  # many at the bound
            curves.append(frame)
    source = results(tables, curves)
    expected = {}
    for which, name in (("first", "parity"), ("second", "addition")):
        repeat, act = (Grid(source, name, mechanism) for mechanism in ("repeat", "act"))
        expected[f"{which}_best"] = over(
            f"{name}: accuracy of the better of the two", "share",
            lambda seeds, repeat=repeat, act=act: 1
            - min(repeat.lowest(seeds, REPEATS[1:]), act.lowest(seeds)),
        )  # fmt: skip
        expected[f"{which}_gap"] = over(
            f"{name}: error of the best repeat less that of the best ACT", "points",
            lambda seeds, repeat=repeat, act=act: repeat.lowest(seeds, REPEATS[1:])
            - act.lowest(seeds),
        )  # fmt: skip

    def soonest(mechanism: str, settings: Sequence[float], seeds: Sequence[int]) -> float:
        learning = known[mechanism]
        return min(median([learning.first(s, k, solved) for k in seeds]) for s in settings)

    def ratio(seeds: Sequence[int]) -> float:
        return soonest("repeat", REPEATS[1:], seeds) / soonest("act", TAUS, seeds)

    known = {mechanism: Training(source, "parity", mechanism) for mechanism in ("repeat", "act")}
    expected["first_speed"] = over(
        f"parity: updates to {100 * solved:g}% training error, best repeat over best ACT",
        "times", ratio,
    )  # fmt: skip
    found = measured(
        "repeat_against_act", source, first="parity", second="addition", solved_error=solved
    )
    check(found, expected)
