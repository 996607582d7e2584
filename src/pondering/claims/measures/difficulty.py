"""How steps and error follow difficulty (Graves 2016: G3, G5, G7, G8)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import pandas as pd

from pondering.claims.evidence import Evidence, InsufficientError, NotRunError, require
from pondering.claims.frames import (
    Array,
    average,
    best,
    by,
    by_difficulty,
    count,
    lines,
    lowest_error,
    trend,
)
from pondering.claims.quantities import Measured, parted
from pondering.results.statistics import Interval, interval, mean_interval

FEWEST_NETWORKS = 5
"""Fewer solved networks show no line."""
FEWEST_LEVELS = 4
"""Fewer difficulties cannot tell a line from a curve."""
FEWEST_NUMBERS = 3
"""Where no traced sequence has so many, there are too few sums to follow."""


def ponder_by_bits(
    evidence: Evidence,
    *,
    experiments: Sequence[str],
    tau_from: float,
    tau_to: float,
    learned_below: float,
) -> Measured:
    """G3, figure 6: how steps and error follow difficulty, with ACT and without.

    Lines are drawn through networks that have solved the task: one that has not has no ponder to
    speak of. Intervals take networks for the sample.

    Args:
        experiments: parity of leading bits, and of scattered elements, whose networks with τ > 0
            all enter.
        tau_from, tau_to: the intermediate time penalties, both included.
        learned_below: a network with a smaller error has solved the task.
    """
    found = _by_bits(evidence, experiments[0], learned_below, tau_from * (1 - 1e-9), tau_to)
    with suppress(NotRunError, InsufficientError):
        apart = _by_bits(evidence, experiments[1], learned_below, 0)
        del apart["rise_all"]
        found |= parted(apart, "scattered elements")
    return found


def _by_bits(
    evidence: Evidence,
    experiment: str,
    learned_below: float,
    above: float,
    at_most: float = math.inf,
) -> Measured:
    """The quantities of one layout; NaN where too few networks are solved."""
    act = evidence.sweep(experiment, "act", above=above, at_most=at_most)
    plain = evidence.plain(experiment)
    require(act["difficulty"].nunique(), FEWEST_LEVELS, "difficulties")
    steps = by_difficulty(act, "ponder_time")
    every = lines(steps).assign(error=by_difficulty(act, "error").mean(axis=1))
    every["rise"] = every["slope"] * float(np.ptp(steps.columns))
    every = every.reset_index("setting")
    solved = every[every["error"] < learned_below]
    enough = solved if len(solved) >= FEWEST_NETWORKS else solved[:0]
    return {
        "solved_networks": count(len(solved), len(every)),
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


def ponder_by_digits(evidence: Evidence, *, experiment: str, learned_at_most: float) -> Measured:
    """G7, figures 14 and 15: steps against digits, and within sequences.

    Args:
        learned_at_most: only settings with a mean error up to this enter; a network that has not
            learned the task has no ponder to speak of.
    """
    act = evidence.sweep(experiment, "act")
    require(act["difficulty"].nunique(), FEWEST_LEVELS, "difficulties")
    errors = by(act, "error")
    found: Measured = {"act_error": interval(lowest_error, errors)}
    learned = errors.columns[errors.mean() <= learned_at_most]
    if len(learned):
        fits = lines(by_difficulty(act[act["setting"].isin(learned)], "ponder_time")).unstack()
        found |= {
            "linearity": interval(average, fits["explained"]),
            "highest_slope": mean_interval(fits["slope"].iloc[:, -1]),
            "tracking": _tracking(evidence, experiment, errors[learned]),
        }
    return found


def _tracking(evidence: Evidence, experiment: str, learned: pd.DataFrame) -> Interval:
    """Correlation, within sequences, of steps with the digits of both numbers that are summed.

    The target of a number is the sum so far; the first has none. A seed that was not traced has
    diverged: it tracks nothing. Traces of penalties that have not learned the task are left out.

    Args:
        learned: [seeds, settings] of ACT at the time penalties that have learned the task.

    Source: Graves 2016, figure 15, counts the digits of both numbers.
    """
    steps = evidence.traces(experiment, "mixed")
    if steps.empty:
        return mean_interval([])
    total = steps["target"].where(steps["target"] != "", steps["input"])
    before = total.groupby([steps["seed"], steps["sequence"]]).shift()
    sums = steps.assign(digits=steps["input"].str.len() + before.str.len()).dropna(subset="digits")
    longest = int(sums.groupby(["seed", "sequence"]).size().max())
    require(1 + longest, FEWEST_NUMBERS, "numbers of a sum")
    known = sums[[np.isclose(each, learned.columns).any() for each in sums["setting"]]]
    found = {seed: correlation_within(rows) for seed, rows in known.groupby("seed")}
    return mean_interval([found.get(seed, 0.0) for seed in learned.index] if found else [])


def correlation_within(sums: pd.DataFrame) -> float:
    """Correlation of steps with digits after each sequence's own means are taken off.

    So a sequence that ponders much everywhere shows nothing.

    Args:
        sums: columns sequence, digits and ponder_time.

    Returns:
        The correlation; 0 where steps never vary, NaN where digits do not.
    """
    columns = sums[["digits", "ponder_time"]]
    centred = columns - columns.groupby(sums["sequence"]).transform("mean")
    squares = (centred**2).sum().to_numpy()
    if not squares[0] > 0:
        return float("nan")
    return float(centred.prod(axis=1).sum() / np.sqrt(squares.prod())) if squares[1] > 0 else 0.0


def sorting(evidence: Evidence, *, experiment: str) -> Measured:
    """G8, figures 17 to 20: what ACT gains on sorting, what it costs, and where it ponders."""
    act, plain = evidence.sweep(experiment, "act"), by(evidence.plain(experiment), "error")[1.0]
    require(act["difficulty"].nunique(), FEWEST_LEVELS, "difficulties")
    errors = by(act, "error")
    chosen = act[act["setting"] == best(act)]
    steps = by(chosen, "ponder_time", "difficulty").clip(lower=1e-6).rename(columns=np.log)

    def gain(without: Array, with_act: Array) -> float:
        return float(average(without)) - lowest_error(with_act)

    def relative(without: Array, with_act: Array) -> float:
        whole = float(average(without))
        return gain(without, with_act) / whole if whole else float("nan")

    return {
        "plain_error": mean_interval(plain),
        "best_error": interval(lowest_error, errors),
        "gain": interval(gain, plain, errors),
        "relative_gain": interval(relative, plain, errors),
        "computation": mean_interval(by(chosen, "ponder_time")),
        "error_trend": mean_interval(trend(by(chosen, "error", "difficulty"))),
        "growth": mean_interval(lines(np.log(steps))["slope"]),
        "end_spike": _end_spike(evidence, experiment),
    }


def _end_spike(evidence: Evidence, experiment: str) -> Interval:
    """Mean steps at the last input and the one before it, less the mean at all other inputs.

    A mean, not a maximum: without a spike the expected value is zero. Outputs, which have a target,
    are not compared: they may take fewer steps than inputs without any spike. NaN below three
    inputs.
    """
    steps = evidence.traces(experiment, "mixed")
    if steps.empty:
        return mean_interval([])
    sequences = steps[steps["target"] == ""].groupby(["seed", "sequence"])["ponder_time"]
    excess = sequences.apply(lambda each: each.iloc[-2:].mean() - each.iloc[:-2].mean())
    return mean_interval(excess.groupby("seed").mean())
