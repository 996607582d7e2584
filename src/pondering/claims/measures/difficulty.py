"""How steps and error follow difficulty (Graves 2016: G3, G5, G7, G8)."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pandas as pd

from pondering.claims.evidence import (
    Evidence,
    InsufficientError,
    NotRunError,
    require,
    small_taus,
)
from pondering.claims.frames import (
    Array,
    average,
    best,
    by,
    by_difficulty,
    lines,
    lowest_error,
    trend,
)
from pondering.claims.intervals import count, over_seeds
from pondering.claims.measures.sequences import end_spike, tracking
from pondering.claims.quantities import Measured
from pondering.results.statistics import Interval, mean_interval


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
    """How steps and error follow difficulty, with ACT and without (G3).

    Lines are drawn through networks that have solved the task: one that has not has no ponder to
    speak of. Intervals take networks for the sample.

    Args:
        scattered: the same with scattered elements, whose networks with τ > 0 all enter; NaN where
            they were not run.
        tau_from, tau_to: the intermediate time penalties, both included.
        learned_below: a network with a smaller error has solved the task.
        minimum_networks: fewer solved networks than this show no line.
    """
    words = f"{tau_from:g} ≤ τ ≤ {tau_to:g}"
    act = evidence.sweep(
        experiment, "act", "test", lambda tau: (tau >= tau_from) & (tau <= tau_to), words
    )
    plain = evidence.plain(experiment)
    require(act["difficulty"].nunique(), 4, "difficulties")
    every, apart, plain_apart = _networks(act), NO_NETWORKS, plain[:0]
    with suppress(NotRunError, InsufficientError):
        apart = _networks(evidence.sweep(scattered, "act", "test", lambda tau: tau > 0, "τ > 0"))
        plain_apart = evidence.plain(scattered)
    solved, solved_apart = (each[each["error"] < learned_below] for each in (every, apart))
    own = _of_lines(solved, minimum_networks)
    elsewhere = _of_lines(solved_apart, minimum_networks)
    return {
        "solved_networks": count(len(solved), len(every)),
        **own,
        "rise_all": mean_interval(every["rise"]),
        "plain_error_rise": mean_interval(_thirds(plain)),
        "scattered_solved": count(len(solved_apart) if len(apart) else np.nan, len(apart)),
        **{f"scattered_{name}": each for name, each in elsewhere.items()},
        "scattered_plain_error_rise": mean_interval(_thirds(plain_apart)),
    }


NO_NETWORKS = pd.DataFrame(columns=["error", "rise", "explained", "setting"], dtype=float)


def _networks(act: pd.DataFrame) -> pd.DataFrame:
    """A row for each network: error, setting, steps gained from easiest to hardest, R²."""
    steps = by_difficulty(act, "ponder_time")
    found = lines(steps).assign(error=by_difficulty(act, "error").mean(axis=1))
    found["rise"] = found["slope"] * float(np.ptp(steps.columns))
    return found.reset_index("setting")


def _of_lines(solved: pd.DataFrame, minimum: int) -> dict[str, Interval]:
    """Means over networks; NaN where fewer than the minimum have solved the task."""
    enough = solved if len(solved) >= minimum else solved[:0]
    return {
        "rise": mean_interval(enough["rise"]),
        "linearity": mean_interval(enough["explained"]),
        "steepness_trend": over_seeds(_steepness, enough[["setting", "rise"]]),
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
    """Steps and error on either side of a middle difficulty (G5).

    Args:
        tau_at_most: the largest time penalty of the networks that ponder.
        middle, last: the difficulty after which it changes (5 gates), and the largest (10).

    Raises:
        InsufficientError: the difficulties do not reach from 1 to `last`.
    """
    act = evidence.sweep(experiment, "act", "test", *small_taus(tau_at_most))
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
        "act_error": over_seeds(average, by(act, "error")),
        "rise": mean_interval(late.iloc[:, -1] - late.iloc[:, 0]),
        "gradual": mean_interval(trend(late)),
        "easiest_excess": mean_interval(steps.iloc[:, 0] - early.min(axis=1, skipna=False)),
        "plain_jump": mean_interval(hard.mean(axis=1) - easy.mean(axis=1)),
    }


def ponder_by_digits(
    evidence: Evidence,
    *,
    experiment: str,
    minimum_levels: int,
    minimum_numbers: int,
    learned_at_most: float,
) -> Measured:
    """Steps against digits: linearity, slope at the highest penalty, and within a sequence (G7).

    Args:
        minimum_levels: fewer difficulties than this cannot tell a line from a curve.
        minimum_numbers: where no traced sequence has so many, there are too few sums to follow.
        learned_at_most: only settings with a mean error up to this enter; a network that has not
            learned the task has no ponder to speak of.
    """
    act = evidence.sweep(experiment, "act")
    require(act["difficulty"].nunique(), minimum_levels, "difficulties")
    errors = by(act, "error")
    found: Measured = {"act_error": over_seeds(lowest_error, errors)}
    learned = errors.columns[errors.mean() <= learned_at_most]
    if len(learned):
        fits = lines(by_difficulty(act[act["setting"].isin(learned)], "ponder_time")).unstack()
        found |= {
            "linearity": over_seeds(average, fits["explained"]),
            "highest_slope": mean_interval(fits["slope"].iloc[:, -1]),
            "highest": f"{learned[-1]:g}",
            "tracking": tracking(evidence, experiment, errors[learned], minimum_numbers),
        }
    return found


def sorting(evidence: Evidence, *, experiment: str) -> Measured:
    """What ACT gains on sorting, what it costs, and where in a sequence it ponders (G8)."""
    act, plain = evidence.sweep(experiment, "act"), by(evidence.plain(experiment), "error")[1.0]
    require(act["difficulty"].nunique(), 4, "difficulties")
    errors = by(act, "error")
    own = act[act["setting"] == best(errors)]
    steps = by(own, "ponder_time", "difficulty").clip(lower=1e-6).rename(columns=np.log)

    def gain(without: Array, with_act: Array) -> float:
        return float(average(without)) - lowest_error(with_act)

    def relative(without: Array, with_act: Array) -> float:
        whole = float(average(without))
        return gain(without, with_act) / whole if whole else float("nan")

    return {
        "plain_error": mean_interval(plain),
        "best_error": over_seeds(lowest_error, errors),
        "gain": over_seeds(gain, plain, errors),
        "relative_gain": over_seeds(relative, plain, errors),
        "computation": mean_interval(by(own, "ponder_time")),
        "error_trend": mean_interval(trend(by(own, "error", "difficulty"))),
        "growth": mean_interval(lines(np.log(steps))["slope"]),
        "end_spike": end_spike(evidence, experiment),
    }
