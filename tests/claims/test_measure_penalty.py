"""The numbers behind the claims on the time penalty (G1, G2, G4, G6), by a second reckoning."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable

import pytest
from oracle.claim_oracle import (
    CLAIMS,
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
    values,
    whole_and_broken,
)
from support.claim_tables import results, rows

from pondering.claims.evidence import Evidence

TAUS = (0.0, 0.001, 0.002, 0.004, 0.01, 0.02, 0.03)
LEVELS = (1, 2, 4, 7, 8, 12)
EXACT = 0.125


def share(true: Iterable[bool]) -> float:
    return mean(map(float, true))


def speed_trend(curves: Training) -> Expected:
    return over_mean({k: trend(TAUS, [curves.area[s, k] for s in TAUS]) for k in SEEDS})


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
    rate = {s: share(act.error[s, k] < EXACT for k in SEEDS) for s in small}
    plain_rate = share(plain.error[1, k] < EXACT for k in SEEDS)
    assert len(set(rate.values())) > 1
    found = measured("G4", source, tau_at_most=0.02, solved_below=EXACT)
    check(
        found,
        plain_error=(median([plain.error[1, k] for k in SEEDS]), 4),
        act_error=(max(median([act.error[s, k] for k in SEEDS]) for s in small), 4),
        solved_settings=(share(rate[s] > 0.5 for s in small), 4),
        gap=(min(rate.values()) - plain_rate, 4),
        solve_updates=(median([curves.first(0.001, k, EXACT) for k in SEEDS]), 4),
        solved_below_largest=(mean(rate[s] for s in small[:-1]), 4 * len(small[:-1])),
        plain_solved=(plain_rate, 4),
        plain_mean_error=over_mean({k: plain.error[1, k] for k in SEEDS}),
        act_mean_error=over(lambda seeds: mean(act.error[s, k] for s in small for k in seeds)),
    )


def test_a_network_that_was_not_trained_is_no_failure() -> None:
    """Three of four seeds at one time penalty; those of other settings do not count as seeds."""
    act = table("logic", "act", TAUS, LEVELS, errors=(0, 0.1))
    learning = training("logic", "act", TAUS)
    act, learning = (
        frame[~((frame["setting"] == 0.001) & (frame["seed"] == 8))] for frame in (act, learning)
    )
    act = act[(act["setting"] < 0.03) | (act["seed"] == 2)]
    plain = table("logic", "repeat", [1, 2], LEVELS)
    plain = plain[(plain["setting"] == 1) | (plain["seed"] == 2)]
    source = results([plain, act], [learning])
    evidence = Evidence(source)
    CLAIMS["G4"].measured_in(evidence)
    assert evidence.seeds == [4, 3]
    found = values(measured("G4", source, tau_at_most=0.02, solved_below=0.1))
    curves = Training(source, "logic", "act")
    assert found["solved_settings"] == 1.0
    assert found["solve_updates"] == median([curves.first(0.001, k, 0.1) for k in (2, 3, 5)])


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

    found = measured("G2", source, experiment="parity", minimum_settings=7)
    check(
        found,
        plain_error=plain_error(Grid(source, "parity", "repeat")),
        act_error=over(act.lowest),
        ponder_trend=over_mean({k: trend(TAUS, steps(k)) for k in SEEDS}),
        error_trend=over_mean({k: trend(TAUS, [act.error[s, k] for s in TAUS]) for k in SEEDS}),
        speed_trend=speed_trend(curves),
        spread_ratio=over(ratio, SEEDS[1:] if gone else SEEDS),
    )


@whole_and_broken
def test_every_tau_on_addition(gone: Replicas) -> None:
    """G6."""
    act = table("addition", "act", TAUS, LEVELS, errors=(0, 0.27), exact={0.01: EXACT}, gone=gone)
    source = results([act], [training("addition", "act", TAUS, gone=gone)])
    grid, curves = Grid(source, "addition", "act"), Training(source, "addition", "act")
    found = measured("G6", source, solved_below=EXACT, minimum_settings=7)
    hardest = LEVELS[-1]
    solved = [
        share(max(grid.error[s, k], grid.error_at[s, k, hardest]) < EXACT for k in SEEDS)
        for s in TAUS
    ]
    check(
        found,
        solved_settings=(share(each > 0.5 for each in solved), 4),
        worst_error=(max(median([grid.error[s, k] for k in SEEDS]) for s in TAUS), 4),
        speed_trend=speed_trend(curves),
    )


@pytest.mark.parametrize(("hardest", "solved"), [(0.04, 1.0), (0.1, 0.0)])
def test_what_fails_on_the_longest_sums_is_not_solved(hardest: float, solved: float) -> None:
    """Mean errors of 2% and of 4%; with 10% of the longest sums wrong the task is not solved."""
    act = rows(
        "addition", "act", TAUS, lambda s, k, d: hardest if d == 3 else 0.01, levels=(1, 2, 3)
    )
    source = results([act], [training("addition", "act", TAUS)])
    found = measured("G6", source, solved_below=0.05, minimum_settings=7)
    assert values(found)["solved_settings"] == solved
    assert values(found)["worst_error"] == pytest.approx((hardest + 0.02) / 3)


def test_a_ratio_of_spreads_says_what_is_taken_for_next_to_nothing() -> None:
    act = table("parity", "act", TAUS, LEVELS)
    act.loc[act["setting"] >= 0.02, "ponder_time"] = 2.0
    one = act[act["seed"] == 2]
    curves, plain = training("parity", "act", TAUS), table("parity", "repeat", [1], LEVELS)
    for kept, said in ((act, " (0, taken as 0.001)"), (one, "")):
        found = CLAIMS["G2"].measured_in(Evidence(results([plain, kept], [curves])))
        (label,) = (each.label for each in found if each.name == "spread_ratio")
        assert label.endswith(f"over highest third{said}")
