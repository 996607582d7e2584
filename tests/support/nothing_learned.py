"""Results of every experiment in which no network has learned anything."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from support.claim_cases import CASES
from support.claim_cases_graves import TAUS
from support.claim_tables import curve, results, rows

from pondering.results.results import Results

Levels = Mapping[str, Mapping[str, Sequence[float]]]

AS_LARGE_AS_THE_PAPERS: Levels = {
    "parity": {"test": (1, 16, 32, 48, 64)},
    "parity_fojo": {"test": (1, 16, 32, 48, 64)},
    "parity_scattered": {"test": (1, 16, 32, 48, 64)},
    "parity_interpolation": {"test": (1, 16, 32, 48, 64)},
    "parity_extrapolation": {"interpolation": (1, 24, 48), "extrapolation": (49, 72, 96)},
    "logic": {"test": range(1, 11)},
    "addition": {"test": range(1, 6)},
    "sort": {"test": range(2, 16)},
    "wikipedia": {"train": (0,)},
    "mnist": {"test": range(10)},
    "mnist_rotated": {"range": (22.5, 45, 67.5, 90), "angle": range(0, 91, 5)},
}
SMALLER: Levels = {
    **AS_LARGE_AS_THE_PAPERS,
    "parity": {"test": (1, 8, 16, 24, 32)},
    "parity_fojo": {"test": (1, 8, 16, 24, 32)},
    "parity_scattered": {"test": (1, 3, 6, 9, 12)},
    "parity_interpolation": {"test": (1, 3, 6, 9, 12)},
    "parity_extrapolation": {"interpolation": (1, 4, 8), "extrapolation": (9, 12, 16)},
    "logic": {"test": range(1, 7)},
    "addition": {"test": range(1, 5)},
    "sort": {"test": range(2, 11)},
}
"""The real data stay as they are."""

CHANCE = {"addition": 0.99, "sort": 0.99, "wikipedia": 5.0, "mnist": 0.9, "mnist_rotated": 0.9}
"""Error of a network that guesses, or nearly; 0.5 on the other tasks."""

PRIORS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
SETTINGS = {
    "repeat": (1.0, 2.0, 3.0),
    "act": (1e-4, *TAUS, 1e-1),
    "pondernet": PRIORS,
    "pondernet[epsilon=0.05]": PRIORS,
}


def nothing_learned(levels: Levels, updates: int, seeds: Sequence[int]) -> Results:
    """Results at these difficulties, by experiment and split, after so many updates."""
    tables, curves = [], []
    for experiment, splits in levels.items():
        error = CHANCE.get(experiment, 0.5)
        for mechanism, settings in SETTINGS.items():
            curves.append(
                curve(experiment, mechanism, settings, lambda s, k, share, error=error: error,
                      updates=updates, seeds=seeds)
            )  # fmt: skip
            tables += [
                rows(experiment, mechanism, settings, lambda s, k, d, error=error: error,
                     levels=each, split=split, seeds=seeds)
                for split, each in splits.items()
            ]  # fmt: skip
    sources = CASES["G7"][0], CASES["G8"][0], CASES["G10"][2]
    traces = {name: found for source in sources for name, found in source.traces.items()}
    return results(tables, curves, traces, profile="paper")
