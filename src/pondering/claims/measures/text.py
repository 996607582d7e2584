"""The measures behind the claims on Wikipedia (G9, G10)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from pondering.claims.evidence import Evidence, InsufficientError, NotRunError
from pondering.claims.frames import average, by, count, difference, mean_error
from pondering.claims.quantities import Measured
from pondering.results.statistics import (
    Interval,
    interval,
    mean_interval,
    student,
    variance_left_out,
)

FEWEST_CHARACTERS = 10
"""Least number of letters, of spaces and of random digits; of other kinds any number will do."""
CONTRASTS = {
    "space_peak": (["space"], "letter", "ponder"),
    "punctuation_peak": (["comma", "stop"], "space", "ponder"),
    "bracket_peak": (["bracket"], "letter", "ponder"),
    "id_rise": (["id"], "letter", "ponder"),
    "id_loss": (["id"], "letter", "loss"),
    "id_entropy": (["id"], "letter", "entropy"),
}
"""Quantity -> kinds of characters, the kind they are compared with, and in what."""


def bits_per_character(evidence: Evidence, *, experiment: str) -> Measured:
    """G9, figures 21 and 22: bits per character, ponder, learning; seeds that ran at every tau."""
    act = evidence.sweep(experiment, "act")
    bits, plain = by(act, "error").dropna(), by(evidence.plain(experiment), "error")
    until = evidence.common_updates(experiment, ("act", "repeat"))
    curves, slow = (
        mean_error(evidence.curves(experiment, name, until)) for name in ("act", "repeat")
    )
    return {
        "plain_bits": mean_interval(plain),
        "difference": interval(difference, bits, plain),
        "range_over_tau": interval(lambda rows: np.ptp(average(rows, axis=0)), bits),
        "ponder": interval(average, by(act, "ponder_time").loc[bits.index]),
        "learning_difference": interval(
            difference, curves.reindex(bits.index), slow.loc[:, slow.columns == 1]
        ),
    }


def ponder_by_character(evidence: Evidence, *, experiment: str) -> Measured:
    """G10, figures 23 and 24: steps at boundaries of a text, inside words and in random numbers.

    All seeds read the same windows of the text. Seeds that diverged have read none and are left
    out.

    Raises:
        NotRunError: no trace of ACT on a text exists.
        InsufficientError: too few characters of a kind.
    """
    evidence.sweep(experiment, "act")
    names = ["seed", "sequence", "kind", "target", "ponder_time", "loss", "entropy"]
    read = evidence.traces(experiment, "text").reindex(columns=names)
    read = read.astype(dict.fromkeys(names[-3:], float))  # anyone's traces may lack some
    if read.empty:
        raise NotRunError(f"{experiment} has no trace of ACT on a text")
    read["ponder"] = deviations(read)
    counts = read[read["seed"] == read["seed"].iloc[0]]["kind"].value_counts()
    for kind in ("letter", "space", "id"):
        if counts.get(kind, 0) < FEWEST_CHARACTERS:
            raise InsufficientError(
                f"the traced text has {counts.get(kind, 0)} characters of kind {kind!r}, "
                f"{FEWEST_CHARACTERS} are needed"
            )

    def contrast(kinds: Sequence[str], against: str, what: str) -> Interval:
        chosen = read[what].where(read["kind"].isin(kinds))
        other = read[what].where(read["kind"] == against)
        return over_windows_and_seeds(read, operator.sub, chosen, other)

    steps, digits = read["ponder_time"], (read["kind"] == "id") & read["target"].str.isdigit()
    return {
        "ponder_spread": over_windows_and_seeds(
            read, lambda mean, square: np.sqrt(square - mean**2), steps, steps**2
        ),
        "digit_loss": over_windows_and_seeds(read, operator.pos, read["loss"].where(digits)),
        **{name: contrast(*each) for name, each in CONTRASTS.items()},
        "punctuation": count(counts.reindex(["comma", "stop"]).sum(), read["seed"].nunique()),
    }


def deviations(read: pd.DataFrame) -> pd.Series:
    """Steps in standard deviations from the mean of the window that a seed has read.

    So networks that ponder much and little can be compared. 0 where all steps are the same.

    Args:
        read: columns seed, sequence (the window) and ponder_time.
    """
    steps = read.groupby(["seed", "sequence"])["ponder_time"]
    spread = steps.transform("std", ddof=0)
    return ((read["ponder_time"] - steps.transform("mean")) / spread).where(spread > 1e-9, 0.0)


def over_windows_and_seeds(
    read: pd.DataFrame, statistic: Callable[..., Any], *columns: pd.Series
) -> Interval:
    """A statistic of means over windows that every seed has read; its interval has both chances.

    A window is left out with what all seeds made of it, a seed with all its windows: the seeds'
    readings of one window are no independent evidence. The two variances add, and the smaller count
    gives the degrees of freedom: too wide rather than too narrow, since what is particular to one
    reading is in both variances. With a single seed the interval is over windows.

    Args:
        read: columns sequence (the window) and seed, a row for each character.
        statistic: of the mean of each column, a number or an array; NaN where there is none.
        columns: of the same rows; a character that is NaN does not count.

    Returns:
        The interval; NaN below two windows and where the statistic is NaN without one or a seed.

    Source: A. B. Owen 2007, "The pigeonhole bootstrap", for the sum of the two variances.
    """
    values = pd.concat(columns, axis=1, keys=range(len(columns)))
    total, number, seeds = values.sum(), values.count(), read["seed"].nunique()
    value, left_out = float(statistic(*total / number)), []
    for of in ("sequence", "seed") if seeds > 1 else ("sequence",):
        groups = values.groupby(read[of])
        means = (total - groups.sum()) / (number - groups.count())
        left_out.append(statistic(*means.to_numpy().T))
    if len(left_out[0]) < 2:
        return Interval(value, float("nan"), float("nan"), seeds)
    variance = sum(map(variance_left_out, left_out))
    return Interval(value, *student(value, variance, min(map(len, left_out)) - 1), seeds)
