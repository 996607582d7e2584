"""Runs in MLflow: one parent per train stage, one child per replica."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterable, Mapping
from typing import Any

from pondering.params.schema import SETTING_NAMES
from pondering.track.database import quiet_mlflow
from pondering.track.journal import RunInfo
from pondering.track.place import Place, flatten, without_secrets
from pondering.track.stages import (
    CURVES,
    Replica,
    Stage,
    number,
    replica_of,
)
from pondering.track.views import view_tags

quiet_mlflow()

from mlflow import MlflowClient  # noqa: E402
from mlflow.entities import Metric, Param, Run, RunTag  # noqa: E402

_BATCH = 1000  # MLflow's limit of metrics in one call
_PARENT = "mlflow.parentRunId"


class Store:
    """MLflow's runs of one backend."""

    def __init__(self, place: Place) -> None:
        for name in ("alembic", "mlflow"):
            logging.getLogger(name).setLevel(logging.WARNING)
        self.place = place
        self.client = MlflowClient(place.uri)
        self._experiments: dict[str, str] = {}

    def experiment(self, profile: str, name: str) -> str:
        """The id of MLflow's experiment `pondering/<profile>/<name>`, made where it is missing."""
        full = f"pondering/{profile}/{name}"
        if full not in self._experiments:
            found = self.client.get_experiment_by_name(full)
            if found is not None and found.lifecycle_stage == "deleted":
                self.client.restore_experiment(found.experiment_id)
            folder = self.place.artifacts
            self._experiments[full] = (
                found.experiment_id
                if found is not None
                else self.client.create_experiment(
                    full,
                    artifact_location=(folder / profile / name).as_uri() if folder else None,
                    tags=view_tags(),
                )
            )
        return self._experiments[full]

    def newest(self) -> str | None:
        """The id of the experiment made last, or None where there is none."""
        found = self.client.search_experiments(
            filter_string="name LIKE 'pondering/%'", order_by=["creation_time DESC"]
        )
        trained = [one.experiment_id for one in found if not one.name.endswith("/report")]
        return str(trained[0]) if trained else None

    def parents(self, stage: Stage, tag: str, value: str) -> list[Run]:
        """The parent runs of a stage with a given tag."""
        experiment = self.experiment(stage.profile, stage.experiment)
        # Tags, for a run has them from its first moment; it may be cut off before its parameters.
        query = f"tags.`{tag}` = '{value}' AND tags.`pondering.stage` = '{stage.mechanism}'"
        return list(self.client.search_runs([experiment], query, max_results=1000))

    def children(self, parent: Run) -> list[Run]:
        """The replicas' runs of a parent run."""
        query = f"tags.`{_PARENT}` = '{parent.info.run_id}'"
        return list(self.client.search_runs([parent.info.experiment_id], query, max_results=10_000))

    def delete(self, parent: Run) -> None:
        """Delete a parent run with its children."""
        for run in [*self.children(parent), parent]:
            self.client.delete_run(run.info.run_id)

    def results(
        self, parent: Run, digest: str, results: Mapping[Replica, dict[str, float]]
    ) -> bool:
        """Log the evaluation into a stage's children unless it is there; whether it was new."""
        if not results or parent.data.tags.get("pondering.results") == digest:
            return False
        now = int(time.time() * 1000)
        for child in self.children(parent):
            params = child.data.params
            values = results.get(replica_of(params["setting"], params["seed"]), {})
            metrics = [Metric(name, value, now, 0) for name, value in sorted(values.items())]
            self.client.log_batch(child.info.run_id, metrics=metrics)
        self.client.set_tag(parent.info.run_id, "pondering.results", digest)
        return True


class StageRuns:
    """The runs of one train stage while they are written."""

    def __init__(self, store: Store, run: RunInfo, started: int, journal: str = "") -> None:
        """Create the parent and its children.

        Args:
            store: where.
            run: the stage and its replicas.
            started: when it began, ms since 1970.
            journal: name of the journal it is read from, if it is.
        """
        self._client = store.client
        self._run = run
        self._seen: set[tuple[Replica, int]] = set()
        self._last: dict[Replica, Mapping[str, Any]] = {}
        self._children: dict[Replica, str] = {}
        experiment = store.experiment(run.profile, run.experiment)
        config = flatten(run.config)
        tags = _tags(run, journal)
        name = f"{run.experiment} {run.mechanism}"
        kind = {"pondering.kind": "stage", "pondering.stage": run.mechanism}
        self.parent = self._create(experiment, name, started, {**tags, **kind})
        common = {"profile": run.profile, "experiment": run.experiment, "mechanism": run.mechanism}
        self._params(self.parent, {**config, **common})
        parameter = SETTING_NAMES.get(run.mechanism, "setting")
        for replica in dict.fromkeys(replica_of(*pair) for pair in run.replicas):
            setting, seed = replica
            child = self._create(
                experiment,
                f"{parameter} {setting} seed {seed}",
                started,
                {**tags, "pondering.kind": "replica", _PARENT: self.parent},
            )
            self._children[replica] = child
            self._params(child, {**config, **common, "setting": setting, "seed": str(seed)})

    def log(self, rows: Iterable[Mapping[str, Any]], at: Mapping[int, int] | int) -> None:
        """Log curve rows that were not logged yet.

        Args:
            rows: curve rows.
            at: their time in ms since 1970, one for all or per update.
        """
        metrics: dict[Replica, list[Metric]] = {}
        for row in rows:
            replica = replica_of(row["setting"], row["seed"])
            update = int(float(row["update"]))
            if replica not in self._children or (replica, update) in self._seen:
                continue
            self._seen.add((replica, update))
            self._last[replica] = row
            when = at if isinstance(at, int) else at[update]
            metrics.setdefault(replica, []).extend(
                Metric(name, value, when, update)
                for name in CURVES
                if (value := number(row.get(name))) is not None
            )
        for replica, batch in metrics.items():
            for start in range(0, len(batch), _BATCH):
                self._client.log_batch(
                    self._children[replica], metrics=batch[start : start + _BATCH]
                )

    def finish(self, status: str, ended: int, key: str | None) -> None:
        """Close the runs; `key`, set last of all, marks them complete."""
        for replica, child in self._children.items():
            last = self._last.get(replica, {})
            diverged = bool(last) and number(last.get("loss")) is None
            steps = number(last.get("computed_steps"))
            metrics = [] if steps is None else [Metric("computed_steps", steps, ended, 0)]
            tags = [RunTag("pondering.status", "diverged" if diverged else status.lower())]
            self._client.log_batch(child, metrics=metrics, tags=tags)
            self._client.set_terminated(child, "FAILED" if diverged else status, ended)
        provenance = flatten(self._run.stage.provenance()) if key else {}
        tags = [
            RunTag(f"pondering.{name}", value)
            for name, value in provenance.items()
            if not name.startswith("config.")
        ]
        self._client.log_batch(self.parent, tags=tags[:90])
        self._client.set_terminated(self.parent, status, ended)
        if key:
            self._client.set_tag(self.parent, "pondering.key", key)

    def _create(self, experiment: str, name: str, started: int, tags: dict[str, str]) -> str:
        """One run's id."""
        run = self._client.create_run(experiment, start_time=started, tags=tags, run_name=name)
        return str(run.info.run_id)

    def _params(self, run_id: str, params: Mapping[str, str]) -> None:
        """Log parameters, MLflow's limit of a hundred at a time."""
        items = [Param(name, value) for name, value in sorted(params.items())]
        for start in range(0, len(items), 100):
            self._client.log_batch(run_id, params=items[start : start + 100])


def log_report(store: Store, profile: str, digest: str, files: Iterable[Any]) -> bool:
    """Keep a profile's figures and report text as artifacts of one run; whether they were new."""
    experiment = store.experiment(profile, "report")
    runs = store.client.search_runs([experiment], "tags.`pondering.kind` = 'report'")
    if runs and runs[0].data.tags.get("pondering.key") == digest:
        return False
    for run in runs:
        store.client.delete_run(run.info.run_id)
        _drop_artifacts(run)
    tags = {"pondering.kind": "report", "mlflow.source.name": "dvc repro"}
    run = store.client.create_run(experiment, tags=tags, run_name=f"report {profile}")
    for file in files:
        folder = "figures" if file.parent.name == "figures" else None
        store.client.log_artifact(run.info.run_id, str(file), folder)
    store.client.set_terminated(run.info.run_id)
    store.client.set_tag(run.info.run_id, "pondering.key", digest)
    return True


def _drop_artifacts(run: Run) -> None:
    """Free the files of a deleted run."""
    from mlflow.store.artifact.artifact_repository_registry import get_artifact_repository

    with contextlib.suppress(Exception):
        repository: Any = get_artifact_repository(run.info.artifact_uri)
        repository.delete_artifacts()


def _tags(run: RunInfo, journal: str) -> dict[str, str]:
    """What identifies the making of a run."""
    tags = {
        "mlflow.source.name": "dvc repro",
        "mlflow.source.git.commit": run.commit,
        "pondering.commit": run.commit,
        "pondering.lock_hash": run.lock_hash,
        "pondering.data_hash": run.data_hash,
        "pondering.device": run.device,
        "pondering.journal": journal,
    }
    return {name: without_secrets(value) for name, value in tags.items() if value}
