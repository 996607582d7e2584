"""The numbers behind methods held against each other (B, M, F1), by a second reckoning."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest
from oracle.claim_oracle import (
    BROKEN,
    NAN,
    SEEDS,
    UPDATES,
    WHOLE,
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
    whole_and_broken,
)
from support.claim_tables import results, rows

from pondering.claims.evidence import InsufficientError
from pondering.claims.measures.methods import ratio_of_soonest
from pondering.results.results import Results
from pondering.results.statistics import Interval

PRIORS = (0.1, 0.2, 0.45, 0.6, 0.9)
TAUS = (0.0, 0.001, 0.004, 0.01)
LEVELS = (1, 2, 4, 7, 8)
NEVER = math.inf


def pair(gone: Replicas = WHOLE, splits: Sequence[str] = ("test",), name: str = "pair") -> Results:
    """PonderNet and ACT on one task, ACT trained for less long."""
    return results(
        [
            table(name, "pondernet", PRIORS, LEVELS, splits=splits, gone=gone),
            table(name, "act", TAUS, LEVELS, splits=splits, gone=gone),
        ],
        [training(name, "pondernet", PRIORS), training(name, "act", TAUS, updates=UPDATES[:-2])],
    )


def grids(source: Results, split: str = "test", name: str = "pair") -> tuple[Grid, Grid]:
    return Grid(source, name, "pondernet", split), Grid(source, name, "act", split)


def better(ponder: Grid, act: Grid) -> Expected:
    return over(lambda seeds: 1 - min(ponder.lowest(seeds), act.lowest(seeds)))


def gain(ponder: Grid, act: Grid) -> Expected:
    return over(lambda seeds: act.lowest(seeds) - ponder.lowest(seeds))


def accuracy(grid: Grid) -> Expected:
    return over(lambda seeds: 1 - grid.lowest(seeds))


@whole_and_broken
def test_best_against_best(gone: Replicas) -> None:
    """B1: accuracies at settings chosen anew in each resample, steps at those of all seeds."""
    source = pair(gone)
    ponder, act = grids(source)
    for grid in (ponder, act):
        assert len({min(grid.settings, key=lambda s, k=k: grid.error[s, k]) for k in SEEDS}) > 1
    places = ponder.best(), act.best()
    check(
        measured("B1", source, experiment="pair"),
        pondernet_accuracy=accuracy(ponder),
        act_accuracy=accuracy(act),
        best_accuracy=better(ponder, act),
        accuracy_gain=gain(ponder, act),
        steps_difference=over(
            lambda seeds: (
                mean(ponder.steps[places[0], k] for k in seeds)
                - mean(act.steps[places[1], k] for k in seeds)
            )
        ),
    )


@whole_and_broken
def test_extrapolation(gone: Replicas) -> None:
    """B2: beyond the trained range at the settings chosen inside it."""
    source = pair(gone, ("interpolation", "extrapolation"))
    inside, beyond = grids(source, "interpolation"), grids(source, "extrapolation")
    places = [grid.best() for grid in inside]
    assert beyond[0].best() != places[0]
    right = [
        {k: 1 - grid.error[place, k] for k in SEEDS}
        for grid, place in zip(beyond, places, strict=True)
    ]
    steps = [{k: grid.steps[places[0], k] for k in SEEDS} for grid in (inside[0], beyond[0])]
    check(
        measured("B2", source, experiment="pair"),
        inside_accuracy=accuracy(inside[0]),
        pondernet_accuracy=over_mean(right[0]),
        act_accuracy=over_mean(right[1]),
        accuracy_gain=over(lambda seeds: mean(right[0][k] - right[1][k] for k in seeds)),
        steps_ratio=over(
            lambda seeds: mean(steps[1][k] for k in seeds) / mean(steps[0][k] for k in seeds)
        ),
        steps_beyond=over_mean(steps[1]),
    )


@pytest.mark.parametrize("learned_error", [0.3, 0.1, 0.025])
def test_computation_in_training(learned_error: float) -> None:
    """B3, over the updates both were trained for; some replicas or all never learn.

    PonderNet is the variant that is asked for; the other one is there, too.
    """
    variant = "pondernet[epsilon=0.05]"
    whole, halting = pair(), {"mechanism": variant}
    other = table("pair", "pondernet", PRIORS, LEVELS, errors=(0, 0.001)).assign(**halting)
    other["ponder_time"] += 1
    learning = training("pair", "pondernet", PRIORS).assign(**halting)
    learning["computed_steps"] *= 2
    source = results([whole.tables["pair"], other], [whole.curves["pair"], learning])
    ponder, act = Grid(source, "pair", variant), Grid(source, "pair", "act")
    curves = [Training(source, "pair", name, UPDATES[-3]) for name in (variant, "act")]
    places = [grid.best() for grid in (ponder, act)]

    def computed(which: int, seeds: Sequence[int], place: float = NAN) -> float:
        at = places[which] if math.isnan(place) else place
        ends = [curves[which].rows[at, k][-1] for k in seeds]
        return mean(row["computed_steps"] / row["update"] for row in ends)

    def near(grid: Grid) -> list[float]:
        """Settings within one standard error of the best."""
        best = [grid.error[grid.best(), k] for k in SEEDS]
        most = mean(best) + statistics.stdev(best) / math.sqrt(len(best))
        return [s for s in grid.settings if grid.mean_error(s, SEEDS) <= most]

    pairs = list(itertools.product(near(ponder), near(act)))
    assert len(pairs) > 1
    highest = max(pairs, key=lambda at: computed(0, SEEDS, at[0]) / computed(1, SEEDS, at[1]))

    until_learned = [
        median([each.first(place, k, learned_error, "computed_steps") for k in SEEDS])
        for each, place in zip(curves, places, strict=True)
    ]
    found = measured("B3", source, experiment="pair", learned_error=learned_error)
    check(
        found,
        compute_to_learn=(until_learned[0] / until_learned[1], 4),
        best_accuracy=better(ponder, act),
        compute_ratio=over(lambda seeds: computed(0, seeds) / computed(1, seeds)),
        compute_ratio_highest=over(
            lambda seeds: computed(0, seeds, highest[0]) / computed(1, seeds, highest[1])
        ),
        sampled_steps=over_mean({k: ponder.steps[places[0], k] for k in SEEDS}),
        accuracy_gain=gain(ponder, act),
    )


@whole_and_broken
def test_robustness_over_settings(gone: Replicas) -> None:
    """B4: the largest prior is among them, and a median at the bound itself solves the task."""
    name, bound = "parity", 0.6875
    source = results(
        [
            table(name, "pondernet", PRIORS, LEVELS, exact={0.45: 1 - bound}, gone=gone),
            table(name, "act", TAUS, LEVELS, exact={0.01: 1 - bound}, gone=gone),
        ]
    )
    ponder, act = grids(source, name=name)
    chosen = {ponder: (0.1, 0.2, 0.45, 0.6), act: TAUS}

    rate = {
        grid: {s: mean(1.0 - grid.error[s, k] >= bound for k in SEEDS) for s in settings}
        for grid, settings in chosen.items()
    }
    steady = {grid: [s for s in rate[grid] if rate[grid][s] > 0.5] for grid in chosen}

    def scatter(grid: Grid, seeds: Sequence[int]) -> float:
        return mean(statistics.stdev([grid.error[s, k] for k in seeds]) for s in steady[grid])

    solved = {grid: len(steady[grid]) / len(rate[grid]) for grid in chosen}
    assert all(0 < share < 1 for share in solved.values())
    found = measured(
        "B4",
        source,
        experiment=name,
        solved_accuracy=bound,
        lambda_p_at_most=0.6,
        minimum_settings=4,
    )
    check(
        found,
        pondernet_solved=(solved[ponder], 4),
        act_solved=(solved[act], 4),
        solved_gap=(solved[ponder] - solved[act], 4),
        best_accuracy=over(
            lambda seeds: 1 - min(ponder.lowest(seeds, chosen[ponder]), act.lowest(seeds))
        ),
        scatter_gap=over(lambda seeds: scatter(act, seeds) - scatter(ponder, seeds)),
    )


def flat(setting: float, seed: int, level: float) -> float:
    return 0.02


@pytest.mark.parametrize(("priors", "taus", "lacking"), [(6, 5, "ACT"), (5, 6, "PonderNet")])
def test_six_settings_of_each_are_needed(priors: int, taus: int, lacking: str) -> None:
    """The priors beyond the claim's largest are counted, but not judged."""

    def judged(priors: int, taus: int) -> object:
        ponder = rows("pair", "pondernet", [0.15 * (n + 1) for n in range(priors)], flat)
        act = rows("pair", "act", [0.001 * (n + 1) for n in range(taus)], flat)
        return measured("B4", results([ponder, act]), experiment="pair")

    assert judged(6, 6)
    with pytest.raises(InsufficientError, match=f"^5 settings of {lacking} were run, 6 are"):
        judged(priors, taus)


@pytest.mark.parametrize("lambda_p", [0.1, 0.2, 0.45])
def test_settled_steps(lambda_p: float) -> None:
    """B5: half, three quarters and all of training are logged; a replica may have diverged."""
    source = results(
        [table("pair", "pondernet", PRIORS, LEVELS, gone=BROKEN)],
        [training("pair", "pondernet", PRIORS, gone=BROKEN)],
    )
    ponder, curves = Grid(source, "pair", "pondernet"), Training(source, "pair", "pondernet")

    def drift(seed: int) -> float:
        each = curves.rows[lambda_p, seed]
        third = [row["ponder_time"] for row in each if 4000 < row["update"] <= 6000]
        last = [row["ponder_time"] for row in each if row["update"] > 6000]
        if any(math.isnan(value) for value in third + last):
            return NAN
        return abs(mean(last) - mean(third)) / mean(third)

    found = measured("B5", source, experiment="pair", lambda_p=lambda_p)
    there = [v for v in (ponder.steps[lambda_p, k] for k in SEEDS) if not math.isnan(v)]
    shortest = [v for v in (ponder.steps[PRIORS[-1], k] for k in SEEDS) if not math.isnan(v)]
    check(
        found,
        steps=(median(there), len(there)),
        steps_of_shortest=(median(shortest), len(shortest)),
        accuracy=over_mean({k: 1 - ponder.error[lambda_p, k] for k in SEEDS}),
        drift=over_mean({k: drift(k) for k in SEEDS}),
    )


@whole_and_broken
def test_accuracy_on_digits(gone: Replicas) -> None:
    """M1: every image weighs the same, so a class weighs by its size."""
    source = results(
        [
            table("mnist", "pondernet", PRIORS, range(10), gone=gone),
            table("mnist", "repeat", [1, 2], range(10)),
        ]
    )
    rows = source.tables["mnist"].to_dict("records")
    images = {row["difficulty"]: row["examples"] for row in rows}

    def right(mechanism: str, setting: float) -> dict[int, float]:
        grid = Grid(source, "mnist", mechanism)
        return {
            k: sum(images[d] * (1 - grid.error_at[setting, k, d]) for d in grid.levels)
            / sum(images.values())
            for k in grid.seeds
        }

    ponder, plain = right("pondernet", 0.2), right("repeat", 1)
    check(
        measured("M1", source),
        pondernet_accuracy=over_mean(ponder),
        plain_accuracy=over_mean(plain),
        against_plain=over(lambda seeds: mean(ponder[k] - plain[k] for k in seeds)),
    )


@whole_and_broken
def test_rotated_digits(gone: Replicas) -> None:
    """M2: a turn to the left is as far as one to the right."""
    name, turns = "mnist_rotated", (-75, -30, 0, 10, 30, 50)
    source = results(
        [
            table(name, "pondernet", PRIORS, (10, 22.5, 45, 90, 120), splits=("range",), gone=gone),
            table(name, "pondernet", PRIORS, turns, splits=("angle",), gone=gone),
        ]
    )
    ranges, angles = (Grid(source, name, "pondernet", split) for split in ("range", "angle"))
    error, steps = (
        {(k, d): values[0.2, k, d] for k in SEEDS for d in (22.5, 90)}
        for values in (ranges.error_at, ranges.steps_at)
    )
    found = measured("M2", source)
    check(
        found,
        trained_accuracy=over_mean({k: 1 - error[k, 22.5] for k in SEEDS}),
        accuracy_fall=over_mean({k: error[k, 90] - error[k, 22.5] for k in SEEDS}),
        steps_change=over_mean({k: steps[k, 90] - steps[k, 22.5] for k in SEEDS}),
        angle_trend=over_mean(
            {
                k: trend([abs(d) for d in turns], [angles.steps_at[0.2, k, d] for d in turns])
                for k in SEEDS
            }
        ),
    )


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
