"""The numbers behind the digits and the fixed repeat, by a second reckoning, and what was seen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
from oracle.claim_oracle import (
    NAN,
    SEEDS,
    Expected,
    Grid,
    Replicas,
    Training,
    check,
    mean,
    measured,
    median,
    over,
    over_mean,
    table,
    training,
    trend,
)
from support.claim_tables import results

from pondering.claims.measures.evidence import Evidence

PRIORS = (0.1, 0.2, 0.45)
TAUS = (0.0, 0.001, 0.004, 0.01)
REPEATS = (1, 2, 3, 5)
WHOLE: Replicas = ()
BROKEN: Replicas = ((0.2, 3), (0.004, 5), (2, 8), (3, 2))
whole_and_broken = pytest.mark.parametrize("gone", [WHOLE, BROKEN], ids=["whole", "broken"])


def digits(ponder_seeds: Sequence[int], plain_seeds: Sequence[int], gone: Replicas = ()) -> None:
    """M1: every image weighs the same, so a class weighs by its size."""
    source = results([
        table("mnist", "pondernet", PRIORS, range(10), seeds=ponder_seeds, gone=gone),
        table("mnist", "repeat", [1, 2], range(10), seeds=plain_seeds),
    ])  # fmt: skip
    rows = source.tables["mnist"].to_dict("records")
    images = {row["difficulty"]: row["examples"] for row in rows}
    ponder, plain = (Grid(source, "mnist", name) for name in ("pondernet", "repeat"))

    def right(grid: Grid, setting: float) -> dict[int, float]:
        return {
            k: sum(images[d] * (1 - grid.error_at[setting, k, d]) for d in grid.levels)
            / sum(images.values())
            for k in grid.seeds
        }

    with_ponder, without = right(ponder, 0.2), right(plain, 1)
    expected = {
        "pondernet_accuracy": over_mean("accuracy of PonderNet", "share", with_ponder),
        "plain_accuracy": over_mean("accuracy of the plain network", "share", without),
    }
    label = "accuracy of PonderNet less that of the plain network"
    if ponder_seeds == plain_seeds:
        expected["against_plain"] = over(
            label, "points", lambda seeds: mean(with_ponder[k] - without[k] for k in seeds),
            ponder_seeds,
        )  # fmt: skip
    else:  # drawn apart, by chance
        value = mean(with_ponder.values()) - mean(without.values())
        fewest = min(len(ponder_seeds), len(plain_seeds))
        expected["against_plain"] = Expected(label, "points", value, NAN, NAN, fewest, drawn=True)
    if len(ponder_seeds) > 4:  # too many to take every resample
        expected = {name: replace(each, drawn=True) for name, each in expected.items()}
    check(measured("digit_accuracy", source, experiment="mnist", lambda_p=0.2), expected)


@whole_and_broken
def test_accuracy_on_digits(gone: Replicas) -> None:
    digits(SEEDS, SEEDS, gone)


@pytest.mark.parametrize(
    ("ponder", "plain"), [((3,), (3,)), (SEEDS[1:], SEEDS), ((1, 2, 3, 5, 8), (1, 2, 3, 5, 8))]
)
def test_accuracy_on_digits_with_other_seeds(ponder: Sequence[int], plain: Sequence[int]) -> None:
    """One seed has no interval; unequal and many seeds are drawn."""
    digits(ponder, plain)


@whole_and_broken
def test_rotated_digits(gone: Replicas) -> None:
    """M2: a turn to the left is as far as one to the right."""
    name, turns = "mnist_rotated", (-75, -30, 0, 10, 30, 50)
    source = results([
        table(name, "pondernet", PRIORS, (10, 22.5, 45, 90, 120), splits=("range",), gone=gone),
        table(name, "pondernet", PRIORS, turns, splits=("angle",), gone=gone),
    ])  # fmt: skip
    ranges, angles = (Grid(source, name, "pondernet", split) for split in ("range", "angle"))
    error, steps = (
        {(k, d): values[0.2, k, d] for k in SEEDS for d in (22.5, 90)}
        for values in (ranges.error_at, ranges.steps_at)
    )
    found = measured(
        "rotated_digits", source, experiment=name, lambda_p=0.2, trained=22.5, farthest=90
    )
    check(found, {
        "trained_accuracy": over_mean(
            "accuracy up to 22.5°", "share", {k: 1 - error[k, 22.5] for k in SEEDS}
        ),
        "accuracy_fall": over_mean(
            "accuracy lost from 22.5° to 90°", "points",
            {k: error[k, 90] - error[k, 22.5] for k in SEEDS},
        ),
        "steps_change": over_mean(
            "change of steps from 22.5° to 90°", "steps",
            {k: steps[k, 90] - steps[k, 22.5] for k in SEEDS},
        ),
        "angle_trend": over_mean("correlation of steps with the angle", "correlation", {
            k: trend([abs(d) for d in turns], [angles.steps_at[0.2, k, d] for d in turns])
            for k in SEEDS
        }),
    })  # fmt: skip


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
        repeats, penalties = soonest("repeat", REPEATS[1:], seeds), soonest("act", TAUS, seeds)
        if math.isinf(penalties):
            return NAN if math.isinf(repeats) else 0.0
        return repeats / penalties

    known = {mechanism: Training(source, "parity", mechanism) for mechanism in ("repeat", "act")}
    expected["first_speed"] = over(
        f"parity: updates to {100 * solved:g}% training error, best repeat over best ACT",
        "times", ratio,
    )  # fmt: skip
    found = measured(
        "repeat_against_act", source, first="parity", second="addition", solved_error=solved
    )
    check(found, expected)


def test_what_was_looked_at_is_remembered() -> None:
    """Runs, replicas, seeds and sizes of the split asked for; the fewest seeds of any setting."""
    act = table("parity", "act", TAUS, (2, 4, 9), gone=BROKEN)
    act = act[~((act["setting"] == 0.01) & (act["seed"] == 8))]
    act["status"] = act["status"].mask((act["setting"] == 0.0) & (act["seed"] == 2), "running")
    source = results([act, table("parity", "repeat", [1, 2], (1, 2, 7))])
    evidence = Evidence(source)
    sweep = evidence.sweep("parity", "act")
    assert (sweep.error.shape, sweep.settings.tolist()) == ((4, 4, 3), list(TAUS))
    assert evidence.sizes == {"parity": (2.0, 9.0)}
    evidence.plain("parity")
    evidence.sweep("parity", "act", "decoy")
    assert evidence.runs == ["parity-act", "parity-repeat"]
    assert evidence.sizes == {"parity": (1.0, 9.0)}
    assert evidence.replicas == {"parity-act": 15, "parity-repeat": 8}
    assert evidence.diverged == {"parity-act": 1, "parity-repeat": 0}
    assert (evidence.unfinished, evidence.seeds) == ({"parity-act"}, [3, 4, 3])
