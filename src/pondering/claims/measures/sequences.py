"""Steps by length and within sequences, on addition and sorting (Graves 2016: G7, G8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pondering.claims.evidence import Evidence, require
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
from pondering.claims.quantities import Measured
from pondering.results.statistics import Interval, interval, mean_interval

Steps = Sequence[Mapping[str, Any]]
"""A traced sequence; the target of a step is "" where it has none."""


def ponder_by_digits(
    evidence: Evidence,
    *,
    experiment: str,
    minimum_levels: int,
    minimum_numbers: int,
    learned_at_most: float,
) -> Measured:
    """G7, figures 14 and 15: steps against digits, and within sequences.

    Args:
        minimum_levels: fewer difficulties than this cannot tell a line from a curve.
        minimum_numbers: where no traced sequence has so many, there are too few sums to follow.
        learned_at_most: only settings with a mean error up to this enter; a network that has not
            learned the task has no ponder to speak of.
    """
    act = evidence.sweep(experiment, "act")
    require(act["difficulty"].nunique(), minimum_levels, "difficulties")
    errors = by(act, "error")
    found: Measured = {"act_error": interval(lowest_error, errors)}
    learned = errors.columns[errors.mean() <= learned_at_most]
    if len(learned):
        fits = lines(by_difficulty(act[act["setting"].isin(learned)], "ponder_time")).unstack()
        found |= {
            "linearity": interval(average, fits["explained"]),
            "highest_slope": mean_interval(fits["slope"].iloc[:, -1]),
            "highest": f"{learned[-1]:g}",
            "tracking": _tracking(evidence, experiment, errors[learned], minimum_numbers),
        }
    return found


def _tracking(
    evidence: Evidence, experiment: str, learned: pd.DataFrame, minimum_numbers: int
) -> Interval:
    """Correlation, within sequences, of steps with the digits of both numbers that are summed.

    The means of each sequence are taken off first, so that a seed or a sequence that ponders much
    everywhere shows nothing. A seed that was not traced has diverged: it tracks nothing. Traces of
    penalties that have not learned the task are left out.

    Args:
        learned: [seeds, settings] of ACT at the time penalties that have learned the task.
        minimum_numbers: what the longest traced sequence must have.

    Source: Graves 2016, figure 15, counts the digits of both numbers.
    """
    traces = evidence.traces(experiment, "mixed")
    sums = {seed: [_summed(each["steps"]) for each in own] for seed, own in traces.items()}
    if sums:
        longest = max(len(each) for own in sums.values() for each in own)
        require(1 + longest, minimum_numbers, "numbers of a sum")
    found = {
        seed: _within(own)
        for seed, own in sums.items()
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
    require(act["difficulty"].nunique(), 4, "difficulties")
    errors = by(act, "error")
    own = act[act["setting"] == best(errors)]
    steps = by(own, "ponder_time", "difficulty").clip(lower=1e-6).rename(columns=np.log)
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
        "computation": mean_interval(by(own, "ponder_time")),
        "error_trend": mean_interval(trend(by(own, "error", "difficulty"))),
        "growth": mean_interval(lines(np.log(steps))["slope"]),
        "end_spike": mean_interval(
            [average([_excess_at_end(each["steps"]) for each in own]) for own in traces]
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
