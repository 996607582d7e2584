"""The networks of an experiment as rows, and means over them that leave out seed by seed."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pandas as pd

from pondering.claims.evidence import Evidence
from pondering.claims.frames import average, by_difficulty, trend
from pondering.claims.intervals import count
from pondering.params.replica import options_listed, read_variant
from pondering.results.statistics import SOLVED_ERROR, Interval, interval
from pondering.results.tables import per_seed, splits_of


def variants(evidence: Evidence, experiment: str, mechanism: str) -> list[str]:
    """A mechanism as the table of an experiment writes it: without options, and with any.

    Raises:
        NotRunError: the experiment has no such runs.
    """
    there = dict.fromkeys(map(str, evidence.table(experiment)["mechanism"]))
    found = [name for name in there if read_variant(name)[0] == mechanism]
    if not found:
        raise evidence.not_run(f"{experiment} has no runs of {mechanism}")
    return found


def options_text(variant: str) -> str:
    """The options of a variant: "beta 0.1, kl prior_p"; "" without any."""
    return ", ".join(options_listed(read_variant(variant)[1]))


def networks(
    evidence: Evidence,
    experiment: str,
    names: Iterable[str],
    *,
    above: float = -math.inf,
    at_most: float = math.inf,
) -> pd.DataFrame:
    """A row for each network, on the split that counts.

    Args:
        names: mechanisms as tables write them.
        above, at_most: as of `Evidence.sweep`.

    Returns:
        mechanism, setting, seed, error, ponder_time (difficulties weigh alike), solved, and trend,
        Spearman's correlation of steps with difficulty, 0 where all steps are the same.

    Raises:
        NotRunError, InsufficientError: as of `Evidence.sweep`.
    """
    every = []
    for name in names:
        rows = evidence.sweep(experiment, name, above=above, at_most=at_most)
        steps = by_difficulty(rows, "ponder_time")
        trends = pd.Series(trend(steps), steps.index, name="trend")
        every.append(per_seed(rows).join(trends, on=["seed", "setting"]))
    found = pd.concat(every, ignore_index=True)
    return found.assign(solved=found["error"] < SOLVED_ERROR)


def mean_over_networks(frame: pd.DataFrame, column: str) -> Interval:
    """The mean of a column over networks, with the jackknife over seeds; NaN without a network.

    Args:
        frame: what `networks` gives, or some of its rows.
        column: one of its columns.
    """
    table = frame.pivot(index="seed", columns=["mechanism", "setting"], values=column)
    return interval(average, table if len(frame) else np.empty((0, 1)))


def count_of(frame: pd.DataFrame) -> Interval:
    """How many networks there are."""
    return count(len(frame), frame["seed"].nunique())


def audit(evidence: Evidence, experiment: str) -> pd.DataFrame:
    """The frozen audit of an experiment's readout, on the split that counts.

    Raises:
        NotRunError: there is none.
    """
    split = splits_of(evidence.table(experiment))[0]
    rows = evidence.results.readouts.get(experiment)
    if rows is None:
        raise evidence.not_run(f"{experiment} has no audit of the readout")
    return rows[rows["split"] == split]
