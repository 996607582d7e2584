"""The networks of an experiment as rows, and means over them that leave out seed by seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pandas as pd

from pondering.claims import intervals
from pondering.claims.evidence import Evidence, InsufficientError, Keep, NotRunError
from pondering.claims.frames import average, by_difficulty, trend
from pondering.claims.intervals import over_seeds
from pondering.claims.quantities import Measured
from pondering.params.replica import options_listed, read_variant
from pondering.results.statistics import SOLVED_ERROR, Interval
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
    keep: Keep | None = None,
    words: str = "",
) -> pd.DataFrame:
    """A row for each network, on the split that counts.

    Args:
        evidence: the results of a profile, which remembers the runs.
        experiment: the task.
        names: mechanisms as tables write them.
        keep, words: as of `Evidence.sweep`.

    Returns:
        mechanism, setting, seed, error, ponder_time (difficulties weigh alike), solved, and trend,
        Spearman's correlation of steps with difficulty, 0 where all steps are the same.

    Raises:
        NotRunError, InsufficientError: as of `Evidence.sweep`.
    """
    every = []
    split = splits_of(evidence.table(experiment))[0]
    for name in names:
        rows = evidence.sweep(experiment, name, split, keep, words)
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
    return over_seeds(average, table if len(frame) else np.empty((0, 1)))


def count_of(frame: pd.DataFrame) -> Interval:
    """How many networks there are."""
    return intervals.count(len(frame), frame["seed"].nunique())


def audit(evidence: Evidence, experiment: str, column: str) -> pd.DataFrame:
    """The audit of an experiment's readout, on the split that counts.

    Args:
        column: which it must have.

    Raises:
        NotRunError: there is none, or one from before it had that column.
    """
    split = splits_of(evidence.table(experiment))[0]
    rows = evidence.results.readouts.get(experiment)
    if rows is None or column not in rows or rows[column].isna().all():
        raise evidence.not_run(f"{experiment} has no audit of the readout with {column}")
    return rows[rows["split"] == split]


def parted(found: Measured, *parts: str) -> Measured:
    """The same, of a part: the title of a task, and what comes of the task itself."""
    named: Measured = {}
    for key, each in found.items():
        name, *more = key.split(", ", 1)
        named[", ".join(filter(None, (name, *parts, *more)))] = each
    return named


def of_each(
    evidence: Evidence, experiments: Iterable[str], measure: Callable[[str], Measured]
) -> Measured:
    """What is measured of each experiment, whose title comes before the parts that it has itself.

    What cannot be measured is left out, and the evidence remembers it.

    Raises:
        NotRunError: none can be measured.
    """
    every: Measured = {}
    for experiment in experiments:
        try:
            every |= parted(measure(experiment), evidence.results.title(experiment))
        except NotRunError:
            continue
        except InsufficientError as problem:
            evidence.not_run(f"{experiment}: {problem}")
    if not every:
        raise NotRunError("; ".join(dict.fromkeys(evidence.missing)))
    return every
