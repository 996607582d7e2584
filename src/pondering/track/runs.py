"""Runs in MLflow. This is the only module that imports it."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from mlflow import MlflowClient
from mlflow.entities import Metric, Param, Run

from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import Replica
from pondering.track import DATABASE

CURVES = ("loss", "error", "ponder_time", "remainder")
PARENT = "mlflow.parentRunId"
POINTS = 100  # of a curve: as many as a screen shows
Row = Mapping[str, Any]


def client() -> MlflowClient:
    """MLflow's client of the working folder's database, which is made where it is missing."""
    logging.getLogger("alembic").setLevel(logging.WARNING)
    if not DATABASE.exists():  # whole at once: trainings write to it as soon as it is there
        new = DATABASE.with_name("mlflow.db.new")
        new.unlink(missing_ok=True)
        MlflowClient(f"sqlite:///{new}").search_experiments()
        new.replace(DATABASE)
    return MlflowClient(f"sqlite:///{DATABASE}")


class Runs:
    """The runs of one experiment in one profile; `id` is that of MLflow's experiment."""

    def __init__(self, client: MlflowClient, profile: str, experiment: str) -> None:
        self.client = client
        name = f"{profile}/{experiment}"
        found = client.get_experiment_by_name(name)
        if found is None:
            self.id = client.create_experiment(
                name,
                Path("mlartifacts", profile, experiment).resolve().as_uri(),
                {"mlflow.experimentKind": "custom_model_development"},  # or the UI asks
            )
        else:
            self.id = found.experiment_id
            if found.lifecycle_stage == "deleted":
                client.restore_experiment(self.id)
        known = client.search_runs([self.id], "tags.kind = 'experiment'")
        parent = (
            known[0]
            if known
            else client.create_run(self.id, tags={"kind": "experiment"}, run_name=experiment)
        )
        self.parent = parent.info.run_id  # the experiment's own run
        self.digest = parent.data.tags.get("digest")  # of the results that were loaded last, if any

    @cached_property
    def replicas(self) -> dict[str, Run]:
        """The run of each replica by its name."""
        query = f"tags.`{PARENT}` = '{self.parent}'"
        children = self.client.search_runs([self.id], query, max_results=10_000)
        return {run.info.run_name: run for run in children}

    def begin(self, replica: Replica, started: int | None = None) -> Run:
        """A new run in place of an earlier one of the same replica.

        Args:
            started: ms since 1970; None: now.
        """
        name = replica.text()
        if name in self.replicas:
            self.client.delete_run(self.replicas[name].info.run_id)
        tags = {PARENT: self.parent, "kind": "replica"}
        self.replicas[name] = self.client.create_run(self.id, started, tags, name)
        return self.replicas[name]

    def log(
        self,
        run: Run,
        rows: Sequence[Row],
        tested: Mapping[str, float] = {},
        values: Mapping[str, str] = {},
    ) -> None:
        """Write the finite values of curve rows, thinned to `POINTS`, of a test, and parameters."""
        now, stride = int(1000 * time.time()), -(-len(rows) // POINTS) or 1
        metrics = [
            Metric(name, float(row[name]), now, int(row["update"]))
            for row in rows[::-stride]  # from the last, which stays
            for name in CURVES
            if math.isfinite(float(row[name]))
        ]
        metrics += [Metric(name, value, now, 0) for name, value in tested.items()]
        params = [Param(*each) for each in values.items()]
        self.client.log_batch(run.info.run_id, metrics, params)

    def end(self, run: Run, last: Row, status: str = "FINISHED", ended: int | None = None) -> None:
        """Close the run of a replica; one that finished has failed if it diverged.

        Args:
            last: its last curve row.
            ended: ms since 1970; None: now.
        """
        if status == "FINISHED" and not math.isfinite(float(last["loss"])):
            status = "FAILED"
        self.client.set_terminated(run.info.run_id, status, ended)


def parameters(config: Mapping[str, Any], replica: Replica) -> dict[str, str]:
    """The values that a replica was trained with, by dotted names.

    `config` are those of its experiment and mechanism. What is a list there, its setting and its
    seed, is the replica's own and has a plain name: tau, seed; so have its options.
    """
    mechanism = replica.mechanism
    varied: dict[str, Any] = {MECHANISMS[mechanism].setting: replica.setting, "seed": replica.seed}
    varied |= dict(replica.options)
    hidden = {f"{block}.{name}" for block in ("halting", mechanism) for name in varied}
    hidden |= {"seeds", f"{mechanism}.seeds"}
    (flat,) = pd.json_normalize(dict(config)).to_dict("records")
    rest = {str(name): _text(value) for name, value in flat.items() if name not in hidden}
    return rest | {"mechanism": replica.variant} | {name: _text(varied[name]) for name in varied}


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
