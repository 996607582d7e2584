"""Rows of MLflow's own tables: a stage and all its replicas are written in one transaction.

MLflow's client writes a run in five transactions and every metric as an object of its own; the
published tables would take it a minute, these rows take seconds.
"""

from __future__ import annotations

import json
import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Values = tuple[Any, ...]

_COLUMNS = {
    "runs": "run_uuid name start_time end_time status experiment_id artifact_uri"
    " source_type source_name entry_point_name source_version user_id lifecycle_stage",
    "params": "run_uuid key value",
    "tags": "run_uuid key value",
    "metrics": "run_uuid key value timestamp step is_nan",
    "latest_metrics": "run_uuid key value timestamp step is_nan",
    "datasets": "dataset_uuid experiment_id name digest dataset_source_type dataset_source"
    " dataset_profile",
    "inputs": "input_uuid source_type source_id destination_type destination_id",
    "input_tags": "input_uuid name value",
}


class Rows:
    """What is to be written; a row replaces the one that has its place."""

    def __init__(self) -> None:
        self._tables: dict[str, list[Values]] = defaultdict(list)

    def take(self) -> list[tuple[str, list[Values]]]:
        """SQL and its values, for each table; there are none afterwards."""
        taken, self._tables = self._tables, defaultdict(list)
        return [(_sql(name), rows) for name, rows in taken.items()]

    def run(
        self,
        run: str,
        name: str,
        experiment: str,
        artifacts: Path,
        times: tuple[int, int | None],
        status: str,
    ) -> None:
        """A run, anew or as it is now.

        Args:
            run: its id.
            name: in the UI.
            experiment: its experiment's id.
            artifacts: the folder of its artifacts.
            times: when it began and ended, ms since 1970.
            status: RUNNING, FINISHED, FAILED or KILLED.
        """
        place = int(experiment), artifacts.as_uri()
        self._tables["runs"].append(
            (run, name, *times, status, *place, "UNKNOWN", "", "", "", "", "active")
        )
        self.tags(run, {"mlflow.runName": name})

    def params(self, run: str, values: Mapping[str, str]) -> None:
        """Parameters of a run."""
        self._tables["params"] += [(run, *each) for each in values.items()]

    def tags(self, run: str, values: Mapping[str, str]) -> None:
        """Tags of a run."""
        self._tables["tags"] += [(run, *each) for each in values.items()]

    def metrics(self, run: str, points: Iterable[tuple[str, float, int, int]]) -> None:
        """Points of a run's curves: name, finite value, ms since 1970, step; the latest last."""
        rows = [(run, *point, 0) for point in points]
        self._tables["metrics"] += rows
        self._tables["latest_metrics"] += {row[1]: row for row in rows}.values()

    def evaluated_on(self, run: str, experiment: str, name: str, card: Mapping[str, Any]) -> None:
        """The data set that a run was evaluated on.

        Args:
            run: its id.
            experiment: its experiment's id.
            name: the data set's.
            card: its data card.
        """
        digest = card["sha256"][:36]  # as much as MLflow's column holds
        data = uuid.uuid5(uuid.NAMESPACE_OID, f"{experiment} {name} {digest}").hex
        place = uuid.uuid5(uuid.NAMESPACE_OID, f"{data} {run}").hex
        source = json.dumps({"uri": card["source"]})
        profile = json.dumps({"num_rows": sum(card["examples"].values())} | dict(card))
        known = (data, int(experiment), name, digest, "local", source, profile)
        self._tables["datasets"].append(known)
        self._tables["inputs"].append((place, "DATASET", data, "RUN", run))
        self._tables["input_tags"].append((place, "mlflow.data.context", "evaluation"))


def _sql(table: str) -> str:
    columns = _COLUMNS[table].split()
    marks = ", ".join("?" * len(columns))
    return f"INSERT OR REPLACE INTO {table} ({', '.join(columns)}) VALUES ({marks})"
