"""How often the project's 95% intervals hold the truth: the table in docs/methods.md.

`python results/test_intervals.py`, run in `tests`, prints the table's rows in a minute. The tests
simulate fewer experiments.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from pondering.results.statistics import (
    SOLVED_ERROR,
    interval,
    mean_interval,
    median_interval,
    rate,
)

PAGE = Path(__file__).parents[2] / "docs" / "methods.md"
SIMULATIONS, FEWER = 20_000, 1_000
SEEDS = (3, 5, 10, 20)
STALLS, STALLED, SETTLED = 0.1, 0.8, 0.02
SETTINGS = 8  # equally good settings, of which the best is chosen


class Stalling:
    """One error in ten is 80%, the others lie evenly between 0 and 2%; named as in scipy."""

    def rvs(self, size: tuple[int, ...], random_state: np.random.Generator) -> np.ndarray:
        stalls = random_state.random(size) < STALLS
        return np.where(stalls, STALLED, random_state.uniform(0, SETTLED, size))

    def mean(self) -> float:
        return STALLS * STALLED + (1 - STALLS) * SETTLED / 2

    def median(self) -> float:
        return SETTLED * 0.5 / (1 - STALLS)

    def cdf(self, error: float) -> float:
        assert SETTLED < error < STALLED
        return 1 - STALLS


KINDS: dict[str, tuple[str, Any]] = {
    "normal": ("normal, mean 5%, s.d. 2%", stats.norm(0.05, 0.02)),
    "skewed": ("skewed, Beta(0.5, 9.5)", stats.beta(0.5, 9.5)),
    "stalling": ("stalling, one in ten at 80%, others 0 to 2%", Stalling()),
}
"""Words of the page, and a distribution of errors over seeds."""
METHODS = ("student", "order statistics", "wilson", "best", "gain")


def coverage(kind: str, seeds: int, simulations: int = SIMULATIONS) -> dict[str, float]:
    """The share of simulated experiments whose interval holds the truth.

    Args:
        kind: one of `KINDS`.
        seeds: number of seeds of an experiment.
        simulations: number of experiments. All arguments together decide the draws.

    Returns:
        By method. Student holds the mean, order statistics the median, and Wilson the share of
        seeds with an error below 5%. The jackknife holds the lowest mean of `SETTINGS` settings
        ("best") and the difference of two lowest means ("gain").
    """
    truth = KINDS[kind][1]
    generator = np.random.default_rng([list(KINDS).index(kind), seeds, simulations])
    errors = truth.rvs((simulations, seeds), generator)

    def share(method: Callable[[np.ndarray], object], true: float) -> float:
        return cover(map(method, errors), true)

    def cover(found: Iterable[Any], true: float) -> float:
        return sum(one.low <= true <= one.high for one in found) / simulations

    ours, theirs = (truth.rvs((simulations, seeds, SETTINGS), generator) for _ in range(2))
    bests = (interval(lowest_mean, each) for each in ours)
    gains = (
        interval(lambda a, b: lowest_mean(b) - lowest_mean(a), *each)
        for each in zip(ours, theirs, strict=True)
    )
    return {
        "student": share(mean_interval, truth.mean()),
        "order statistics": share(median_interval, truth.median()),
        "wilson": share(lambda errors: rate(errors < SOLVED_ERROR), truth.cdf(SOLVED_ERROR)),
        "best": cover(bests, truth.mean()),
        "gain": cover(gains, 0.0),
    }


def lowest_mean(errors: np.ndarray) -> float:
    """The lowest mean of all settings, from errors [seeds, settings]."""
    return float(errors.mean(axis=0).min())


def table_of_the_page() -> dict[tuple[str, int], list[str]]:
    """The cells of the page's table by kind and seeds."""
    kinds = {words: kind for kind, (words, _) in KINDS.items()}
    rows = [line.strip("| ").split(" | ") for line in PAGE.read_text("utf-8").splitlines()]
    return {(kinds[row[0]], int(row[1])): row[2:] for row in rows if row[0] in kinds}


@pytest.mark.parametrize("seeds", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_simulation_agrees_with_the_pages_coverage(kind: str, seeds: int) -> None:
    """Within four standard deviations of both simulations; a share counts as 99.8% at most."""
    found = coverage(kind, seeds, FEWER)
    for method, cell in zip(METHODS, table_of_the_page()[kind, seeds], strict=True):
        if cell == "no bound":
            assert seeds < 6 and found[method] == 1
            continue
        share = float(cell) / 100
        spread = math.sqrt(max(share * (1 - share), 0.002) * (1 / FEWER + 1 / SIMULATIONS))
        assert found[method] == pytest.approx(share, abs=4 * spread), method


if __name__ == "__main__":
    for kind, seeds in itertools.product(KINDS, SEEDS):
        found = coverage(kind, seeds)
        cells = [f"{100 * found[method]:.1f}" for method in METHODS]
        if seeds < 6:
            cells[1] = "no bound"
        print(f"| {KINDS[kind][0]} | {seeds} | {' | '.join(cells)} |")
