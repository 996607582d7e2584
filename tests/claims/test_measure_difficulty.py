"""The numbers behind the claims on difficulty (G3, G5, G7, G8), by a second reckoning."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from oracle.claim_oracle import (
    BROKEN,
    NAN,
    SEEDS,
    WHOLE,
    Grid,
    Replicas,
    check,
    correlation,
    draw,
    line,
    mean,
    measured,
    over,
    over_mean,
    plain_error,
    table,
    trend,
)
from support.claim_tables import results, step, trace

from pondering.claims.evidence import InsufficientError

TAUS = (0.0, 0.001, 0.002, 0.004, 0.01, 0.02, 0.03)
LEVELS = (1, 2, 4, 7, 8, 12)
PENALTIES = (0.0, 0.001, 0.004, 0.01, 0.02, 0.05)
DIGITS = (1, 2, 4, 5)
LENGTHS = (2, 3, 5, 8, 15)
Pairs = list[list[tuple[int, float]]]


@pytest.mark.parametrize(("gone", "fewest"), [(WHOLE, 5), (BROKEN, 5), (WHOLE, 16)])
def test_steps_and_errors_by_bits(gone: Replicas, fewest: int) -> None:
    """G3; a network with an error at the bound itself has not solved the task."""
    bound = 0.25
    act = [
        table(name, "act", TAUS, LEVELS, errors=(0, 0.45), exact=exact, gone=gone)
        for name, exact in (("parity", {0.01: bound}), ("apart", {}))
    ]
    plain = [table(name, "repeat", [1, 2], LEVELS) for name in ("parity", "apart")]
    source = results([*plain, *act])

    def expected(name: str, settings: Sequence[float]) -> dict[str, Any]:
        """By penalty, rise and R squared of every network that solves the task."""
        grid, without = Grid(source, name, "act"), Grid(source, name, "repeat")
        every, solved = [], []
        for s, k in itertools.product(settings, SEEDS):
            slope, explained = line(LEVELS, [grid.steps_at[s, k, d] for d in LEVELS])
            every.append((s, 11 * slope, explained))
            if grid.error[s, k] < bound:
                solved.append(every[-1])
        taus, rises, fits = zip(*solved, strict=True) if len(solved) >= fewest else ((), (), ())

        def harder(seed: int) -> float:
            errors = [without.error_at[1, seed, d] for d in LEVELS]
            return mean(errors[4:]) - mean(errors[:2])

        return {
            "solved": (len(solved), len(every)),
            "rise": (mean(rises), len(rises)),
            "linearity": (mean(fits), len(rises)),
            "steepness_trend": (trend(taus, rises) if rises else NAN, len(rises)),
            "rise_all": (mean(rise for _, rise, _ in every), len(every)),
            "plain_error_rise": over_mean({k: harder(k) for k in SEEDS}),
        }

    leading, apart = expected("parity", TAUS[1:6]), expected("apart", TAUS[1:])
    assert 5 <= leading["solved"][0] < 16 <= leading["solved"][1] == 20
    del apart["rise_all"]
    asked = {
        "tau_from": 0.001,
        "tau_to": 0.02,
        "learned_below": bound,
        "experiments": ("parity", "apart"),
    }
    check(
        measured("G3", source, minimum_networks=fewest, **asked),
        solved_networks=leading.pop("solved"),
        **leading,
        **{f"scattered_{name}": each for name, each in apart.items()},
    )


@pytest.mark.parametrize(("gone", "last"), [(WHOLE, 12), (BROKEN, 12), (WHOLE, 8)])
def test_steps_and_errors_by_gates(gone: Replicas, last: int) -> None:
    """G5: up to seven gates and above; a seed of which every small τ diverged has no steps.

    What lies beyond the last difficulty that is asked for counts for nothing.
    """
    gone = [*gone, *((s, 2) for s in TAUS)] if gone else gone
    source = results(
        [
            table("logic_10", "repeat", [1, 2], LEVELS),
            table("logic_10", "act", TAUS, LEVELS, gone=gone),
        ]
    )
    plain, act = Grid(source, "logic_10", "repeat"), Grid(source, "logic_10", "act")
    small = TAUS[1:6]
    steps = {(k, d): mean(act.steps_at[s, k, d] for s in small) for k in SEEDS for d in LEVELS}

    def jump(seed: int) -> float:
        above, below = (
            [plain.error_at[1, seed, d] for d in LEVELS if d <= last and (d > 7) is side]
            for side in (True, False)
        )
        return mean(above) - mean(below)

    late = [d for d in LEVELS if 7 <= d <= last]
    found = measured("G5", source, experiment="logic_10", tau_at_most=0.02, middle=7, last=last)
    check(
        found,
        act_error=over(lambda seeds: mean(act.error[s, k] for s in small for k in seeds)),
        rise=over_mean({k: steps[k, last] - steps[k, 7] for k in SEEDS}),
        gradual=over_mean({k: trend(late, [steps[k, d] for d in late]) for k in SEEDS}),
        easiest_excess=over_mean(
            {k: steps[k, 1] - min(steps[k, d] for d in (2, 4, 7)) for k in SEEDS}
        ),
        plain_jump=over_mean({k: jump(k) for k in SEEDS}),
    )
    if not gone:  # the ends of the ranges make a difference
        assert {1, 7, 8} <= {min((1, 2, 4, 7, 8), key=lambda d: steps[k, d]) for k in SEEDS}


def additions(setting: float, scale: float) -> tuple[list[dict[str, Any]], dict[int, Pairs]]:
    """Traces, and by seed and sequence the digits of both summands with the steps of each sum.

    Seed 5 was not traced; the numbers of seed 8 all have three digits, as have their sums; the
    steps of seed 3 scatter by the scale.
    """
    traces, known = [], {}
    for seed in (2, 3, 8):
        known[seed] = []
        for sequence in range(6):
            steps, pairs, total = [], [], 0
            for place in range(5):
                key = (seed, sequence, place)
                size = 3 if seed == 8 else int(draw(1, 2.5 + place, "size", *key))
                number = int(draw(10 ** (size - 1), 1.9 * 10 ** (size - 1), "number", *key))
                both = len(str(number)) + len(str(total))
                ponder = 2 + draw(0, 3, "ponder", *key) * (scale if seed == 3 else 1)
                if place:
                    pairs.append((both, ponder))
                total += number
                steps.append(step(str(number), str(total) if place else "", ponder))
            known[seed].append(pairs)
            traces.append(trace("mixed", steps, seed=seed, setting=setting))
            wrong = [
                one | {"ponder_time": draw(0, 9, seed, sequence, one["input"])} for one in steps
            ]
            traces.append(trace("sequence", wrong, seed=seed, setting=setting))
            traces.append(trace("mixed", wrong, "repeat", seed=seed, setting=setting))
    return traces, known


def follows(sequences: Pairs) -> float:
    """Correlation of the pairs with the means of each sequence taken off; NaN of equal digits."""
    digits, steps = [], []
    for pairs in sequences:
        digits += [both - mean(each for each, _ in pairs) for both, _ in pairs]
        steps += [ponder - mean(each for _, each in pairs) for _, ponder in pairs]
    return correlation(digits, steps) if any(digits) else NAN


@pytest.mark.parametrize(("gone", "bound", "scale"), [((), 0.25, 0.01), (BROKEN, 0.625, 0)])
def test_steps_by_digits(gone: Replicas, bound: float, scale: float) -> None:
    """G7; a setting with a mean error at the bound has learned; steps without scatter track 0."""
    traces, known = additions(0.004, scale)
    act = table(
        "addition",
        "act",
        PENALTIES,
        DIGITS,
        errors=(0, 0.45),
        exact={0.01: 0.25, 0.02: 0.5, 0.05: 0.75},
        gone=gone,
    )
    source = results([act], traces={"addition": traces})
    grid = Grid(source, "addition", "act")
    learned = [s for s in PENALTIES if grid.mean_error(s, SEEDS) <= bound]
    highest = learned[-1]
    assert highest == (0.02 if gone else 0.01) and 0.004 in learned
    lines = {
        (s, k): line(DIGITS, [grid.steps_at[s, k, d] for d in DIGITS])
        for s in PENALTIES
        for k in SEEDS
    }
    found = measured("G7", source, minimum_numbers=5, learned_at_most=bound)
    tracked = {seed: follows(sequences) for seed, sequences in known.items()}
    assert math.isnan(tracked[8])
    check(
        found,
        act_error=over(grid.lowest),
        linearity=over(lambda seeds: mean(lines[s, k][1] for s in learned for k in seeds)),
        highest_slope=over_mean({k: lines[highest, k][0] for k in SEEDS}),
        tracking=over_mean({k: tracked.get(k, 0.0) for k in SEEDS}),
    )


def test_what_has_not_learned_has_no_line_and_tracks_nothing() -> None:
    """Traces are of one setting; where that has not learned, they say nothing."""
    traces, _ = additions(0.004, 1)
    act = table("addition", "act", PENALTIES, DIGITS, exact={0.004: 0.5, 0.01: 0.0})
    for kept in (traces, []):
        source = results([act], traces={"addition": kept})
        for bound, names in ((0.1, ["linearity", "highest_slope", "tracking"]), (-1.0, [])):
            found = measured("G7", source, minimum_numbers=5, learned_at_most=bound)
            assert [*found] == ["act_error", *names]
            assert not names or math.isnan(found["tracking"].estimate)


def test_sums_of_too_few_numbers_are_not_judged() -> None:
    traces, _ = additions(0.004, 1)
    source = results(
        [table("addition", "act", PENALTIES, DIGITS, exact={0.004: 0.0})],
        traces={"addition": traces},
    )
    with pytest.raises(InsufficientError, match=r"^5 numbers of a sum were run, 6 are needed$"):
        measured("G7", source, minimum_numbers=6)


def sorted_numbers() -> tuple[list[dict[str, Any]], dict[int, float]]:
    """Traces, and by seed the mean excess at the last two inputs; seed 5 was not traced."""
    traces, known = [], {}
    for seed in (2, 3, 8):
        excess = []
        for size in (2, 3, 4, 6, 1):
            targets = [""] * size + [str(n) for n in range(size)]
            steps = [
                step("0.5", target, draw(1, 6, seed, size, place))
                for place, target in enumerate(targets)
            ]
            ponder = [one["ponder_time"] for one in steps]
            if size > 2:
                excess.append(mean(ponder[size - 2 : size]) - mean(ponder[: size - 2]))
            traces.append(trace("mixed", steps, seed=seed, setting=0.01))
            traces.append(trace("sequence", steps[::-1], seed=seed, setting=0.01))
        known[seed] = mean(excess)
    return traces, known


@pytest.mark.parametrize(
    ("gone", "exact"),
    [((), {}), (BROKEN, dict.fromkeys((0.0, 0.001, 0.01, 0.02, 0.05), 0.75))],
    ids=["whole", "broken"],
)
def test_sorting(gone: Replicas, exact: Mapping[float, float]) -> None:
    """G8; the second time a replica of the best τ diverged."""
    traces, spikes = sorted_numbers()
    source = results(
        [
            table("sort", "repeat", [1, 2], LENGTHS),
            table("sort", "act", PENALTIES, LENGTHS, exact=exact, gone=gone),
        ],
        traces={"sort": traces},
    )
    plain, act = Grid(source, "sort", "repeat"), Grid(source, "sort", "act")
    best = act.best()
    if gone:
        assert best == 0.004
    else:  # another for some seeds
        assert len({min(PENALTIES, key=lambda s, k=k: act.error[s, k]) for k in SEEDS}) > 1

    def power(seed: int) -> float:
        logarithms = [math.log(act.steps_at[best, seed, d]) for d in LENGTHS]
        return line([math.log(d) for d in LENGTHS], logarithms)[0]

    check(
        measured("G8", source),
        plain_error=plain_error(plain),
        best_error=over(act.lowest),
        gain=over(lambda seeds: plain.mean_error(1, seeds) - act.lowest(seeds)),
        relative_gain=over(lambda seeds: 1 - act.lowest(seeds) / plain.mean_error(1, seeds)),
        computation=over_mean({k: act.steps[best, k] for k in SEEDS}),
        error_trend=over_mean(
            {k: trend(LENGTHS, [act.error_at[best, k, d] for d in LENGTHS]) for k in SEEDS}
        ),
        growth=over_mean({k: power(k) for k in SEEDS}),
        end_spike=over_mean(spikes),
    )
