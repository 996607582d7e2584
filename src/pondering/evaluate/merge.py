"""Published results beside new ones: rows and traces of replicas whose networks are not here.

So seeds and settings can be added to published results where none of the networks are.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from pondering.evaluate.load import trained_here
from pondering.params.replica import Replica
from pondering.params.schema import Params
from pondering.project.atomic import sha256_file
from pondering.project.errors import UserError
from pondering.results.tables import REPLICA
from pondering.train import program
from pondering.train.replica import by_hash
from pondering.train.replicas_csv import published

Row = dict[str, Any]
ALONE = ("sequence", "image")
"""Kinds of traces that one replica has for all of its mechanism."""


class Merge:
    """The published results of one experiment that stand beside new ones.

    They are of the replicas that a training stage has left out because they are published.

    Attributes:
        planned: every replica of every mechanism, in the order of the tables.
        published: the status of each replica whose published results are taken.

    Raises:
        UserError: networks are missing whose published results this evaluation would not give.
    """

    def __init__(self, params: Params, experiment: str) -> None:
        self.planned: list[Replica] = []
        self.published: dict[Replica, str] = {}
        for mechanism in params.experiment(experiment).mechanisms:
            replicas = by_hash(params, experiment, mechanism)
            self.planned += params.experiment(experiment).replicas(mechanism)
            rows = published(params, experiment, replicas)
            here = trained_here(params, experiment, mechanism) if rows else {}
            status = {replicas[sha256]: row["status"] for sha256, row in rows.items()}
            self.published |= {each: said for each, said in status.items() if each not in here}
        if self.published and not _is_todays(params, experiment):
            raise UserError(
                f"{params.published.provenance(experiment)}: measured in another way than today, "
                "and the networks are not here; set compute.published: train in params.yaml and "
                f"run `{params.training(experiment)}`"
            )

    def has_all(self, mechanism: str) -> bool:
        """Whether the published results are taken of all replicas of a mechanism."""
        return all(each in self.published for each in self.planned if each.mechanism == mechanism)

    def rows(self, table: pd.DataFrame, path: Path, by: Sequence[str] = ()) -> pd.DataFrame:
        """New rows and published ones in the order of one whole run.

        Args:
            table: new rows; a replica's own keep their order.
            path: the published table.
            by: columns that precede the replica in the order of a mechanism's rows.
        """
        if not self.published:
            return table
        before = pd.read_csv(path)
        rows = self._beside(table.to_dict("records"), before.to_dict("records"), by)
        return pd.DataFrame(rows, columns=before.columns.union(table.columns, sort=False))

    def traces(self, new: Sequence[Row], path: Path) -> list[Row]:
        """New traces and published ones in the order of one whole run."""
        if not self.published:
            return list(new)
        before = json.loads(path.read_text(encoding="utf-8"))["traces"]
        first = dict[tuple[str, str], Replica]()
        return [
            each
            for each in self._beside(new, before, ("kind",))
            if first.setdefault((each["mechanism"], each["kind"]), _replica(each)) == _replica(each)
            or each["kind"] not in ALONE
        ]

    def _beside(self, new: Sequence[Row], before: Sequence[Row], by: Sequence[str]) -> list[Row]:
        found = [*(each for each in before if _replica(each) in self.published), *new]
        groups = list(dict.fromkeys(tuple(each[name] for name in by) for each in found))
        mechanisms = [each.mechanism for each in self.planned]
        places = {each: number for number, each in enumerate(self.planned)}

        def place(row: Row) -> tuple[int, int, int]:
            replica, group = _replica(row), tuple(row[name] for name in by)
            mechanism = mechanisms.index(replica.mechanism)
            return mechanism, groups.index(group), places[replica]

        return sorted(found, key=place)


def _is_todays(params: Params, experiment: str) -> bool:
    """Whether the published results were measured by today's program, values and sets."""
    record = json.loads(params.published.provenance(experiment).read_text(encoding="utf-8"))
    values = record["config"]["evaluation"]
    today = params.experiment(experiment).evaluation.model_dump(mode="json")
    same = all(values.get(name, value) == value for name, value in today.items())
    same &= record.get("program") == program.evaluation()
    return bool(same and record["data_hash"] == sha256_file(params.layout.frozen(experiment)))


def _replica(row: Row) -> Replica:
    return Replica.of_row(*(row[name] for name in REPLICA))
