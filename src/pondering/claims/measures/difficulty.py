"""How steps and error follow difficulty on parity and logic (Graves 2016: G3, G5)."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np
import pandas as pd

from pondering.claims.evidence import Evidence, InsufficientError, NotRunError, require
from pondering.claims.frames import Array, average, by, by_difficulty, count, lines, trend
from pondering.claims.quantities import Measured
from pondering.results.statistics import Interval, interval, mean_interval


def ponder_by_bits(
    evidence: Evidence,
    *,
    experiment: str,
    scattered: str,
    tau_from: float,
    tau_to: float,
    learned_below: float,
    minimum_networks: int,
) -> Measured:
    """G3, figure 6: how steps and error follow difficulty, with ACT and without.

    Lines are drawn through networks that have solved the task: one that has not has no ponder to
    speak of. Intervals take networks for the sample.

    Args:
        scattered: the same with scattered elements, whose networks with τ > 0 all enter.
        tau_from, tau_to: the intermediate time penalties, both included.
        learned_below: a network with a smaller error has solved the task.
        minimum_networks: fewer solved networks than this show no line.
    """
    asked = learned_below, minimum_networks
    leading = _by_bits(evidence, experiment, *asked, tau_from * (1 - 1e-9), tau_to)
    found: Measured = {"solved_networks": leading.pop("solved"), **leading}
    with suppress(NotRunError, InsufficientError):
        apart = _by_bits(evidence, scattered, *asked, 0)
        del apart["rise_all"]
        found |= {f"scattered_{name}": each for name, each in apart.items()}
    return found


def _by_bits(
    evidence: Evidence,
    experiment: str,
    learned_below: float,
    minimum: int,
    above: float,
    at_most: float = math.inf,
) -> dict[str, Interval]:
    """The quantities of one layout; NaN where fewer networks than the minimum are solved."""
    act = evidence.sweep(experiment, "act", above=above, at_most=at_most)
    plain = evidence.plain(experiment)
    require(act["difficulty"].nunique(), 4, "difficulties")
    steps = by_difficulty(act, "ponder_time")
    every = lines(steps).assign(error=by_difficulty(act, "error").mean(axis=1))
    every["rise"] = every["slope"] * float(np.ptp(steps.columns))
    every = every.reset_index("setting")
    solved = every[every["error"] < learned_below]
    enough = solved if len(solved) >= minimum else solved[:0]
    return {
        "solved": count(len(solved), len(every)),
        "rise": mean_interval(enough["rise"]),
        "linearity": mean_interval(enough["explained"]),
        "steepness_trend": interval(_steepness, enough[["setting", "rise"]]),
        "rise_all": mean_interval(every["rise"]),
        "plain_error_rise": mean_interval(_thirds(plain)),
    }


def _steepness(networks: Array) -> float:
    """Correlation of rise with τ over [networks, (τ, rise)]; one setting shows no trend."""
    taus, rises = networks.T
    if len(np.unique(taus)) < 2:
        return float("nan")
    return float(trend(pd.DataFrame([rises], columns=taus))[0])


def _thirds(plain: pd.DataFrame) -> Array:
    """[seeds] error in the hardest third of the difficulties less that in the easiest third."""
    errors = by(plain, "error", "difficulty")
    third = max(1, errors.shape[1] // 3)
    return average(errors.iloc[:, -third:], axis=1) - average(errors.iloc[:, :third], axis=1)


def ponder_by_gates(
    evidence: Evidence, *, experiment: str, tau_at_most: float, middle: float, last: float
) -> Measured:
    """G5, figure 10: steps and error on either side of a middle difficulty.

    Args:
        tau_at_most: the largest time penalty of the networks that ponder.
        middle, last: the difficulty after which it changes (5 gates), and the largest (10).

    Raises:
        InsufficientError: the difficulties do not reach from 1 to `last`.
    """
    act = evidence.sweep(experiment, "act", above=0, at_most=tau_at_most)
    errors = by(evidence.plain(experiment), "error", "difficulty").loc[:, :last]
    steps = by(act, "ponder_time", "difficulty")
    levels = steps.columns
    if levels.min() > 1 or levels.max() < last:
        raise InsufficientError(
            f"difficulties 1 to {last:g} are needed, {levels.min():g} to {levels.max():g} were run"
        )
    early, late = steps.loc[:, (levels > 1) & (levels <= middle)], steps.loc[:, middle:last]
    hard, easy = errors.loc[:, errors.columns > middle], errors.loc[:, :middle]
    return {
        "act_error": interval(average, by(act, "error")),
        "rise": mean_interval(late.iloc[:, -1] - late.iloc[:, 0]),
        "gradual": mean_interval(trend(late)),
        "easiest_excess": mean_interval(steps.iloc[:, 0] - early.min(axis=1, skipna=False)),
        "plain_jump": mean_interval(hard.mean(axis=1) - easy.mean(axis=1)),
    }
