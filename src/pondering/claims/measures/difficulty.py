"""How steps and error follow difficulty (Graves 2016: G3, G5, G7, G8)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

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


Steps = Sequence[Mapping[str, Any]]
"""A traced sequence; the target of a step is "" where it has none."""


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

    The means of each sequence are taken off first, so that a seed or a sequence that ponders much
    everywhere shows nothing. A seed that was not traced has diverged: it tracks nothing. Traces of
    penalties that have not learned the task are left out.

    Args:
        learned: [seeds, settings] of ACT at the time penalties that have learned the task.

    Source: Graves 2016, figure 15, counts the digits of both numbers.
    """
    traces = evidence.traces(experiment, "mixed")
    sums = {seed: [_summed(each["steps"]) for each in several] for seed, several in traces.items()}
    if sums:
        longest = max(len(each) for several in sums.values() for each in several)
        require(1 + longest, FEWEST_NUMBERS, "numbers of a sum")
    found = {
        seed: _within(several)
        for seed, several in sums.items()
        if np.isclose(traces[seed][0]["setting"], learned.columns).any()
    }
    return mean_interval([found.get(seed, 0.0) for seed in learned.index] if found else [])


def _summed(steps: Steps) -> Array:
    """Every sum of a sequence of numbers, whose target is the sum so far.

    Returns:
        [sums, (digits of both summands, steps)].
    """
    pairs, total = [], ""
    for step in steps:
        if total:
            pairs.append((len(step["input"]) + len(total), step["ponder_time"]))
        total = step["target"] or step["input"]
    return np.array(pairs, dtype=np.float64).reshape(-1, 2)


def _within(sequences: Sequence[Array]) -> float:
    """Correlation of the two columns after each sequence's own means are taken off.

    Args:
        sequences: [steps, 2] each.

    Returns:
        The correlation; 0 where the second column never varies, NaN where the first does not.
    """
    parts = [rows - rows.mean(axis=0) for rows in sequences if len(rows)]
    centred = np.concatenate([np.zeros((0, 2)), *parts])
    squares = (centred**2).sum(axis=0)
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
    traces = evidence.traces(experiment, "mixed").values()

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
        "end_spike": mean_interval(
            [average([_excess_at_end(each["steps"]) for each in several]) for several in traces]
        ),
    }


def _excess_at_end(steps: Steps) -> float:
    """Mean steps at the last input and the one before it, less the mean at all other inputs.

    A mean, not a maximum: without a spike the expected value is zero. Outputs, which have a target,
    are not compared: they may take fewer steps than inputs without any spike. NaN below three
    inputs.
    """
    ponder = [step["ponder_time"] for step in steps if not step["target"]]
    return float(np.mean(ponder[-2:]) - np.mean(ponder[:-2])) if len(ponder) > 2 else float("nan")
