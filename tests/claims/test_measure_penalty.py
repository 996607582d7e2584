"""The numbers behind the claims on the time penalty (G1, G2, G4, G6), by a second reckoning."""

from __future__ import annotations

import math
import re
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
    mean,
    measured,
    median,
    over,
    over_mean,
    plain_error,
    table,
    training,
    trend,
    whole_and_broken,
)
from support.claim_tables import results

TAUS = (0.0, 0.001, 0.002, 0.004, 0.01, 0.02, 0.03)
LEVELS = (1, 2, 4, 7, 8, 12)
EXACT = 0.125


def solving(percent: str) -> str:
    return f"settings of ACT that solve the task (mean error below {percent}%)"


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
            SEEDS[1:] if gone else SEEDS,
        ),
    })  # fmt: skip


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


def test_a_ratio_of_spreads_says_what_is_taken_for_next_to_nothing() -> None:
    act = table("parity", "act", TAUS, LEVELS)
    act.loc[act["setting"] >= 0.02, "ponder_time"] = 2.0
    one = act[act["seed"] == 2]
    curves, plain = training("parity", "act", TAUS), table("parity", "repeat", [1], LEVELS)
    for rows, said in ((act, r"highest third \(0, taken as 0.001\)$"), (one, "highest third$")):
        source = results([plain, rows], [curves])
        spread = measured("trends_with_tau", source, experiment="parity", minimum_settings=7)[-1]
        assert re.search(said, spread.label)
        low = re.search(r"s.d. ([^)]*)", spread.label)
        assert (low is None) is (rows is one) is math.isnan(spread.value)
        assert low is None or spread.value == pytest.approx(1000 * float(low[1]), rel=5e-3)
