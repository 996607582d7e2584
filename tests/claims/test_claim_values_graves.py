"""The numbers behind the claims of Graves 2016 are those that a second reckoning finds."""

from __future__ import annotations

import math
import statistics

import pytest
from oracle.claim_oracle import (
    NAN,
    SEEDS,
    Expected,
    Grid,
    Replicas,
    Training,
    check,
    line,
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

TAUS = (0.0, 0.001, 0.002, 0.004, 0.01, 0.02, 0.03)
LEVELS = (1, 2, 4, 7, 8, 12)
EXACT = 0.125
WHOLE: Replicas = ()
BROKEN: Replicas = ((0.001, 3), (0.02, 8), (0.004, 5))
whole_and_broken = pytest.mark.parametrize("gone", [WHOLE, BROKEN], ids=["whole", "broken"])


def solving(percent: str) -> str:
    return f"settings of ACT that solve the task (mean error below {percent}%)"


def plain_error(plain: Grid) -> Expected:
    values = {k: plain.error[1, k] for k in plain.seeds}
    return over_mean("error of the plain network", "share", values)


def speed_trend(curves: Training) -> Expected:
    return over_mean(
        "correlation of the error averaged over training with τ",
        "correlation",
        {k: trend(TAUS, [curves.area[s, k] for s in TAUS]) for k in SEEDS},
    )


@whole_and_broken
def test_errors_with_and_without_act(gone: Replicas) -> None:
    """G1 and G4: τ = 0 is no penalty; an error at the bound itself is not below it."""
    source = results(
        [
            table("logic", "repeat", [1, 2], LEVELS),
            table("logic", "act", TAUS, LEVELS, errors=(0, 0.27), exact={0.01: EXACT}, gone=gone),
        ],
        [training("logic", "act", TAUS, gone=gone)],
    )
    plain, act = Grid(source, "logic", "repeat"), Grid(source, "logic", "act")
    curves, small = Training(source, "logic", "act"), TAUS[1:6]

    def with_act(seeds: list[int]) -> float:
        return mean(act.error[s, k] for s in small for k in seeds)

    found = measured(
        "error_with_and_without", source, experiment="logic", tau_at_most=0.02, solved_below=EXACT
    )
    check(found, {
        "plain_error": plain_error(plain),
        "act_error": over("error of ACT, 0 < τ ≤ 0.02", "share", with_act),
        "solved_settings": over(
            solving("12.5"), "share",
            lambda seeds: mean(act.mean_error(s, seeds) < EXACT for s in small),
        ),
        "gap": over(
            "error without ACT less error with it", "points",
            lambda seeds: mean(plain.error[1, k] for k in seeds) - with_act(seeds),
        ),
        "solve_updates": over(
            "median updates to 12.5% training error, lowest τ", "updates",
            lambda seeds: median([curves.first(0.001, k, EXACT) for k in seeds]),
        ),
    })  # fmt: skip


@whole_and_broken
def test_trends_with_tau(gone: Replicas) -> None:
    """G2; a seed of which every replica diverged has no steps, and counts as no trend."""
    gone = [*gone, *((s, 2) for s in TAUS)] if gone else gone
    source = results(
        [
            table("parity", "repeat", [1, 2], LEVELS),
            table("parity", "act", TAUS, LEVELS, gone=gone),
        ],
        [training("parity", "act", TAUS, gone=gone)],
    )
    act, curves = Grid(source, "parity", "act"), Training(source, "parity", "act")

    def steps(seed: int) -> list[float]:
        return [act.steps[s, seed] for s in TAUS]

    def spread(setting: float, seeds: list[int]) -> float:
        there = [v for v in (act.steps[setting, k] for k in seeds) if not math.isnan(v)]
        return statistics.stdev(there) if len(there) > 1 else NAN

    def spreads(seeds: list[int]) -> list[float]:
        return [mean(spread(s, seeds) for s in third) for third in (TAUS[:2], TAUS[-2:])]

    def ratio(seeds: list[int]) -> float:
        low, high = spreads(seeds)
        return low / (0.001 if high < 0.001 else high)

    low, high = spreads(SEEDS)
    found = measured("trends_with_tau", source, experiment="parity", minimum_settings=7)
    check(found, {
        "plain_error": plain_error(Grid(source, "parity", "repeat")),
        "act_error": over("error of ACT at its best τ", "share", act.lowest),
        "ponder_trend": over_mean("correlation of steps with τ", "correlation", {
            k: trend(TAUS, steps(k)) for k in SEEDS
        }),
        "error_trend": over_mean("correlation of error with τ", "correlation", {
            k: trend(TAUS, [act.error[s, k] for s in TAUS]) for k in SEEDS
        }),
        "speed_trend": speed_trend(curves),
        "spread_ratio": over(
            "spread of steps over seeds, lowest third of τ "
            f"(s.d. {low:.3g}) over highest third ({high:.2g})", "times", ratio,
        ),
    })  # fmt: skip


@pytest.mark.parametrize(("gone", "bound"), [(WHOLE, 0.25), (BROKEN, 0.25), (BROKEN, 0.75)])
def test_steps_and_errors_by_bits(gone: Replicas, bound: float) -> None:
    """G3; a setting with a mean error at the bound itself has not learned."""
    between = TAUS[1:6]
    source = results([
        table("parity", "repeat", [1, 2], LEVELS),
        table("parity", "act", TAUS, LEVELS, errors=(0, 0.42), exact={0.01: 0.25}, gone=gone),
    ])  # fmt: skip
    plain, act = Grid(source, "parity", "repeat"), Grid(source, "parity", "act")
    learned = [s for s in between if act.mean_error(s, SEEDS) < bound]
    lines = {
        (s, k): line(LEVELS, [act.steps_at[s, k, d] for d in LEVELS])
        for s in between
        for k in SEEDS
    }

    def harder(seed: int) -> float:
        errors = [plain.error_at[1, seed, d] for d in LEVELS]
        return mean(errors[4:]) - mean(errors[:2])

    found = measured(
        "ponder_by_bits", source, experiment="parity", tau_from=0.001, tau_to=0.02,
        learned_below=bound,
    )  # fmt: skip
    expected = {
        "learned_settings": over(
            "intermediate settings of ACT that have learned the task", "share",
            lambda seeds: mean(act.mean_error(s, seeds) < bound for s in between),
        ),
        "plain_error_rise": over_mean(
            "error of the plain network, hardest third less easiest third", "points",
            {k: harder(k) for k in SEEDS},
        ),
        "rise": over(
            "steps gained from easiest to hardest", "steps",
            lambda seeds: mean(11 * lines[s, k][0] for s in learned for k in seeds),
        ),
        "linearity": over(
            "R² of a straight line", "number",
            lambda seeds: mean(lines[s, k][1] for s in learned for k in seeds),
        ),
        "steepness_trend": over_mean("correlation of slope with τ", "correlation", {
            k: trend(learned, [NAN if (s, k) in gone else lines[s, k][0] for s in learned])
            if len(learned) > 1 else NAN
            for k in SEEDS
        }),
    }  # fmt: skip
    assert (len(learned) == 5) is (bound > 0.25) and learned
    check(found, expected)


@pytest.mark.parametrize(("gone", "last"), [(WHOLE, 12), (BROKEN, 12), (WHOLE, 8)])
def test_steps_and_errors_by_gates(gone: Replicas, last: int) -> None:
    """G5: up to seven gates and above; a seed of which every small τ diverged has no steps.

    What lies beyond the last difficulty that is asked for counts for nothing.
    """
    gone = [*gone, *((s, 2) for s in TAUS)] if gone else gone
    source = results([
        table("logic_10", "repeat", [1, 2], LEVELS),
        table("logic_10", "act", TAUS, LEVELS, gone=gone),
    ])  # fmt: skip
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
    found = measured(
        "ponder_by_gates", source, experiment="logic_10", tau_at_most=0.02, middle=7, last=last
    )
    check(found, {
        "act_error": over(
            "error of ACT", "share",
            lambda seeds: mean(act.error[s, k] for s in small for k in seeds),
        ),
        "rise": over_mean(
            f"steps gained from 7 to {last}", "steps",
            {k: steps[k, last] - steps[k, 7] for k in SEEDS},
        ),
        "gradual": over_mean(f"correlation of steps with difficulty, 7 to {last}", "correlation", {
            k: trend(late, [steps[k, d] for d in late]) for k in SEEDS
        }),
        "easiest_excess": over_mean(
            "steps at difficulty 1 less the fewest of 2 to 7", "steps",
            {k: steps[k, 1] - min(steps[k, d] for d in (2, 4, 7)) for k in SEEDS},
        ),
        "plain_jump": over_mean(
            f"error of the plain network above 7, to {last}, less up to 7", "points",
            {k: jump(k) for k in SEEDS},
        ),
    })  # fmt: skip
    if not gone:  # the ends of the ranges make a difference
        assert {1, 7, 8} <= {min((1, 2, 4, 7, 8), key=lambda d: steps[k, d]) for k in SEEDS}


@whole_and_broken
def test_every_tau_on_addition(gone: Replicas) -> None:
    """G6."""
    act = table("addition", "act", TAUS, LEVELS, errors=(0, 0.27), exact={0.01: EXACT}, gone=gone)
    source = results([act], [training("addition", "act", TAUS, gone=gone)])
    grid, curves = Grid(source, "addition", "act"), Training(source, "addition", "act")
    found = measured(
        "solved_at_every_tau", source, experiment="addition", solved_below=EXACT,
        minimum_settings=7,
    )  # fmt: skip
    check(found, {
        "solved_settings": over(
            solving("12.5"), "share",
            lambda seeds: mean(grid.mean_error(s, seeds) < EXACT for s in TAUS),
        ),
        "worst_error": over(
            "error at the worst τ", "share",
            lambda seeds: max(grid.mean_error(s, seeds) for s in TAUS),
        ),
        "speed_trend": speed_trend(curves),
    })  # fmt: skip
