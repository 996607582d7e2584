"""How well each replica of an experiment did, from its evaluation table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from pondering.params.replica import Replica
from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.results.tables import headline, replica_means


class Standing(NamedTuple):
    """A replica's evaluation: means over difficulties of equal weight."""

    error: float  # a share, or in the unit of the task
    ponder_time: float


Standings = Mapping[str, Standing]  # by a replica's text


def standings(layout: Layout, experiment: str) -> Standings:
    """How the replicas of an experiment did, from its evaluation table; empty without one.

    The first split and the paper's mode of prediction count, as in the summary for `dvc metrics`.

    Raises:
        UserError: the table is damaged.
    """
    path = layout.table(experiment)
    if not path.is_file():
        return {}
    try:
        means = replica_means(headline(pd.read_csv(path)))
        return {
            Replica.of_row(*each).text(): Standing(*map(float, values))
            for each, values in zip(means.index, means.values, strict=True)
        }
    except (KeyError, IndexError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{path}: not a readable table ({reason}); run `dvc repro` again") from None
