"""How well each replica of an experiment did, from its evaluation table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import pandas as pd

from pondering.params.ranges import setting_text
from pondering.params.replica import Replica
from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.results.tables import best_setting, headline, replica_means


class Standing(NamedTuple):
    """A replica's evaluation: means over difficulties of equal weight."""

    error: float  # a share, or in the unit of the task
    ponder_time: float


Standings = Mapping[str, Standing]  # by a replica's text


def standings_of(table: pd.DataFrame) -> Standings:
    """How the replicas of an evaluation table did, which has at least one row.

    The first split and the paper's mode of prediction count, as in the summary for `dvc metrics`.
    """
    means = replica_means(headline(table))
    return {
        Replica.of_row(*each).text(): Standing(*map(float, values))
        for each, values in zip(means.index, means.values, strict=True)
    }


def standings(layout: Layout, experiment: str) -> Standings:
    """How the replicas of an experiment did, from its evaluation table; empty without one.

    Raises:
        UserError: the table is damaged.
    """
    path = layout.table(experiment)
    if not path.is_file():
        return {}
    try:
        return standings_of(pd.read_csv(path))
    except (KeyError, IndexError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split())
        raise UserError(f"{path}: not a readable table ({reason}); run `dvc repro` again") from None


def best(replicas: Iterable[Replica], table: Standings) -> str | None:
    """The setting that stands for a mechanism, published and shown: the lowest mean over seeds.

    Args:
        replicas: of one mechanism, all with the same options or all without.
        table: how they did.

    Returns:
        The setting as `setting_text` writes it; None where none of the replicas was evaluated.
    """
    rows = [each.row() | table[each.text()]._asdict() for each in replicas if each.text() in table]
    setting = best_setting(pd.DataFrame(rows), rows[0]["mechanism"]) if rows else None
    return None if setting is None else setting_text(setting)
