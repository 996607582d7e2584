"""Replicas whose results are published and whose parameters are not here: their rows are kept.

So seeds and settings can be added to published results where none of the networks are.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from pondering.evaluate.load import recorded
from pondering.params.read import Params
from pondering.params.replica import Replica
from pondering.project.atomic import sha256_file
from pondering.project.errors import UserError
from pondering.project.paths import PUBLISHED, Layout
from pondering.train.published import published
from pondering.train.replica import hashes

Trace = dict[str, Any]
ALONE = ("sequence", "image")
"""Kinds of traces that one replica has for all of its mechanism."""


@dataclass(frozen=True)
class Kept:
    """Those of one experiment.

    Args:
        planned: every replica of every mechanism, in the order of the tables.
        records: of those that are kept: setting, options, seed, status.
    """

    planned: Sequence[Replica]
    records: dict[Replica, dict[str, Any]]

    def whole(self, mechanism: str) -> bool:
        """Whether these are all replicas of a mechanism."""
        return all(each in self.records for each in self.planned if each.mechanism == mechanism)

    def status(self, mechanism: str) -> dict[Replica, str]:
        """Those of a mechanism, and whether they diverged."""
        own = (each for each in self.records if each.mechanism == mechanism)
        return {each: self.records[each]["status"] for each in own}

    def rows(self, table: pd.DataFrame, path: Path, by: Sequence[str] = ()) -> pd.DataFrame:
        """A table of the replicas that are here, with the published rows of those that are kept.

        Args:
            table: new rows; a replica's own keep their order.
            path: the published table.
            by: columns that precede the replica in the order of a mechanism's rows.

        Raises:
            UserError: there is no such table.
        """
        if not self.records:
            return table
        if not path.is_file():
            raise UserError(f"{path}: no such file; set compute.published: train in params.yaml")
        before = pd.read_csv(path)
        if not {*before} >= {*table}:
            raise UserError(f"{path}: other columns than today; set compute.published: train")
        old = before[[each in self.records for each in _replicas(before)]]
        # Empty columns have no type, and would take it from the others.
        whole = pd.concat([each for each in (old, table) if len(each)], ignore_index=True)
        order = pd.DataFrame([self._place[each] for each in _replicas(whole)])
        values = [pd.Series(pd.factorize(whole[column])[0]) for column in by]
        keys = pd.concat([order[0], *values, order[1]], axis=1, ignore_index=True)
        return whole.loc[keys.sort_values(list(keys), kind="stable").index].reset_index(drop=True)

    def traces(self, new: Sequence[Trace], path: Path) -> list[Trace]:
        """Traces of the replicas that are here, with the published ones of those that are kept.

        Args:
            new: of each mechanism in turn.
            path: the published traces.
        """
        if not self.records:
            return list(new)
        before = json.loads(path.read_text(encoding="utf-8"))["traces"]
        old = [each for each in before if _replica(each) in self.records]
        kinds = list(dict.fromkeys(each["kind"] for each in [*old, *new]))

        def order(trace: Trace) -> tuple[int, int, int]:
            mechanism, place = self._place[_replica(trace)]
            return mechanism, kinds.index(trace["kind"]), place

        found = sorted([*old, *new], key=order)
        first: dict[tuple[str, str], Replica] = {}
        for each in found:
            first.setdefault((each["mechanism"], each["kind"]), _replica(each))
        return [
            each
            for each in found
            if each["kind"] not in ALONE or _replica(each) == first[each["mechanism"], each["kind"]]
        ]

    @cached_property
    def _place(self) -> dict[Replica, tuple[int, int]]:
        """By replica, where its mechanism begins among those planned, and where it is itself."""
        named = [each.mechanism for each in self.planned]
        return {
            each: (named.index(each.mechanism), number) for number, each in enumerate(self.planned)
        }


def kept(params: Params, experiment: str, root: Path) -> Kept:
    """Those replicas that a training stage has left out, because they are published.

    Raises:
        UserError: networks are missing whose published results this evaluation would not give.
    """
    own = Layout(root, params.profile)
    there = Layout(root, params.profile, PUBLISHED)
    config = params.experiment(experiment)
    known = published(there.report, experiment)
    records: dict[Replica, dict[str, Any]] = {}
    planned = [each for mechanism in config.mechanisms for each in config.replicas(mechanism)]
    for mechanism in config.mechanisms if known else ():
        path = own.run(experiment, mechanism) / "run.json"
        try:
            here = {replica for replica, _ in recorded(path, mechanism)[0]}
        except (FileNotFoundError, ValueError):
            continue  # `load_trained` says so
        for replica, sha256 in hashes(params, experiment, mechanism).items():
            row = known.get((replica.text(), sha256))
            if row and replica not in here:
                records[replica] = replica.record() | {"status": row["status"]}
    if records and not _is_todays(own, there, params, experiment):
        raise UserError(
            f"{there.provenance(experiment)}: measured in another way than today, and the "
            "networks are not here; set compute.published: train in params.yaml and run "
            f"`dvc repro {params.training(experiment)}`"
        )
    return Kept(planned, records)


def _is_todays(own: Layout, there: Layout, params: Params, experiment: str) -> bool:
    """Whether the published results were measured on today's sets, with today's values."""
    try:
        record = json.loads(there.provenance(experiment).read_text(encoding="utf-8"))
        values, sets = record["config"]["evaluation"], record["data_hash"]
    except (OSError, ValueError, LookupError):
        return False
    today = params.experiment(experiment).evaluation.model_dump(mode="json")
    same = all(values.get(name, value) == value for name, value in today.items())
    return bool(same and sets == sha256_file(own.frozen(experiment)))


def _replicas(table: pd.DataFrame) -> list[Replica]:
    columns = (table[name] for name in ("mechanism", "setting", "seed"))
    return [Replica.of_row(*row) for row in zip(*columns, strict=True)]


def _replica(row: Trace) -> Replica:
    return Replica.of_row(row["mechanism"], row["setting"], row["seed"])
