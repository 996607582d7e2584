"""The networks of an experiment as rows, and means over them that leave out seed by seed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from pondering.claims.measures.arrays import Array, average, trend
from pondering.claims.measures.evidence import Evidence, InsufficientError, NotRunError
from pondering.claims.measures.quantities import Quantity, over_seeds
from pondering.params.replica import read_variant
from pondering.results.statistics import SOLVED_ERROR
from pondering.results.tables import splits_of
from pondering.results.units import Unit


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


def networks(
    evidence: Evidence,
    experiment: str,
    names: Iterable[str],
    keep: Callable[[Array], Any] | None = None,
    words: str = "",
) -> pd.DataFrame:
    """A row for each network, on the split that counts.

    Args:
        evidence: the results of a profile, which remembers the runs.
        experiment: the task.
        names: mechanisms as tables write them.
        keep, words: as of `Evidence.sweep`.

    Returns:
        mechanism, setting, seed, error, steps (difficulties weigh alike), solved, and trend,
        Spearman's correlation of steps with difficulty, 0 where all steps are the same.

    Raises:
        NotRunError, InsufficientError: as of `Evidence.sweep`.
    """
    rows: list[dict[str, Any]] = []
    split = splits_of(evidence.table(experiment))[0]
    for name in names:
        cube = evidence.sweep(experiment, name, split, keep, words)
        errors, steps = cube.seed_error(), cube.seed_ponder()
        for k, s in np.argwhere(cube.status != ""):
            known = {"mechanism": name, "setting": cube.settings[s], "seed": int(cube.seeds[k])}
            found = {"error": errors[k, s], "steps": steps[k, s]}
            (rises,) = trend(cube.difficulties, cube.ponder[k, s][None])
            rows.append(known | found | {"solved": errors[k, s] < SOLVED_ERROR, "trend": rises})
    return pd.DataFrame(rows)


def by_seed(frame: pd.DataFrame, column: str, seeds: Sequence[int] | None = None) -> Array:
    """A column of networks as [seeds, networks of a seed], NaN where there is none.

    Args:
        seeds: a row each, in this order; None: those that there are.
    """
    table = frame.pivot(index="seed", columns=["mechanism", "setting"], values=column)
    table = table if seeds is None else table.reindex(seeds)
    return np.asarray(table.to_numpy(float), dtype=np.float64)


def mean_over_networks(
    name: str, label: str, unit: Unit, frame: pd.DataFrame, column: str
) -> Quantity:
    """The mean of a column over networks, with the jackknife over seeds; NaN without a network.

    Args:
        name, label, unit: as of `mean_over_seeds`.
        frame: what `networks` gives, or some of its rows.
    """
    values = by_seed(frame, column) if len(frame) else np.empty((0, 1))
    return over_seeds(name, label, unit, average, values)


def count_of(name: str, label: str, frame: pd.DataFrame) -> Quantity:
    """How many networks there are."""
    return Quantity(name, label, "networks", float(len(frame)), None, None, frame["seed"].nunique())


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


def of_each(
    evidence: Evidence, experiments: Iterable[str], measure: Callable[[str], list[Quantity]]
) -> list[Quantity]:
    """What is measured of each experiment, whose title comes before the parts that it has itself.

    What cannot be measured is left out, and the evidence remembers it.

    Raises:
        NotRunError: none can be measured.
    """
    every: list[Quantity] = []
    for experiment in experiments:
        try:
            found = measure(experiment)
        except NotRunError:
            continue
        except InsufficientError as problem:
            evidence.not_run(f"{experiment}: {problem}")
            continue
        title = evidence.results.title(experiment)
        every += [replace(q, part=", ".join(filter(None, (title, q.part)))) for q in found]
    if not every:
        raise NotRunError("; ".join(dict.fromkeys(evidence.missing)))
    return every
