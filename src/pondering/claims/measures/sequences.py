"""What happens inside a sequence, from many sequences traced in short (Graves 2016: G7, G8)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pondering.claims.evidence import Evidence, require
from pondering.claims.frames import Array, average
from pondering.results.statistics import Interval, mean_interval

NO_TARGET = frozenset({"", "-", "\N{EN DASH}", "\N{EM DASH}", "\N{MIDDLE DOT}", "None"})
"""How a trace may write that a step has no target."""
Steps = Sequence[Mapping[str, Any]]


def tracking(
    evidence: Evidence, experiment: str, learned: pd.DataFrame, minimum_numbers: int
) -> Interval:
    """Correlation, within sequences, of steps with the digits of both numbers that are summed.

    Digits and steps are taken from their means in the sequence first, so that a seed or a sequence
    that ponders much everywhere shows nothing. A seed that was not traced has diverged: it tracks
    nothing.

    Args:
        evidence: the results of a profile.
        experiment: addition.
        learned: [seeds, settings] of ACT at the time penalties that have learned the task; traces
            of others are left out.
        minimum_numbers: what the longest traced sequence must have.

    Returns:
        The mean over seeds; NaN where there are no such traces.

    Raises:
        InsufficientError: the traced sequences are shorter.

    Source: Graves 2016, figure 15, counts the digits of both numbers.
    """
    traces = evidence.traces(experiment, "act", "mixed")
    sums = {seed: [summed(each["steps"]) for each in own] for seed, own in traces.items()}
    if sums:
        longest = max(len(each) for own in sums.values() for each in own)
        require(1 + longest, minimum_numbers, "numbers of a sum")
    found = {
        seed: within(own)
        for seed, own in sums.items()
        if np.isclose(traces[seed][0]["setting"], learned.columns).any()
    }
    return mean_interval([found.get(seed, 0.0) for seed in learned.index] if found else [])


def end_spike(evidence: Evidence, experiment: str) -> Interval:
    """Steps at the last two inputs, above those at the other inputs.

    Args:
        evidence: the results of a profile.
        experiment: sort.

    Returns:
        The mean over seeds of the mean over sequences; NaN where there are none.
    """
    traces = evidence.traces(experiment, "act", "mixed").values()
    return mean_interval(
        [average([excess_at_end(each["steps"]) for each in own]) for own in traces]
    )


def summed(steps: Steps) -> Array:
    """Every sum of a sequence: [sums, (digits of both summands, steps)].

    Args:
        steps: of a traced sequence of numbers; the target is the sum so far.
    """
    pairs, total = [], ""
    for step in steps:
        number = re.sub(r"\D", "", str(step["input"]))
        if total:
            pairs.append((len(number) + len(total), float(step["ponder_time"])))
        total = re.sub(r"\D", "", str(step["target"])).lstrip("0") or total or number
    return np.array(pairs, dtype=np.float64).reshape(-1, 2)


def within(sequences: Sequence[Array]) -> float:
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


def excess_at_end(steps: Steps) -> float:
    """Mean steps at the last input and the one before it, less the mean at all other inputs.

    A mean, not a maximum: without a spike the expected value is zero. Outputs are not compared:
    they may take fewer steps than inputs without any spike.

    Args:
        steps: of a traced sequence whose inputs have no target and whose outputs have one.

    Returns:
        The excess; NaN below three inputs.
    """
    ponder = [
        float(step["ponder_time"]) for step in steps if str(step["target"]).strip() in NO_TARGET
    ]
    return float(np.mean(ponder[-2:]) - np.mean(ponder[:-2])) if len(ponder) > 2 else float("nan")
