"""Runs in MLflow: one parent per train stage, one child per replica."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mlflow.entities import Metric, Param, Run, RunTag

from pondering.params.ranges import setting_text
from pondering.params.replica import options_listed, read_variant
from pondering.params.schema import SETTING_NAMES
from pondering.results.tables import REPLICA
from pondering.track import database
from pondering.track.stages import Key, Stage, flatten, key_of, number
from pondering.track.views import view_tags

CURVES = ("loss", "error", "ponder_time", "remainder")
_ORIGIN = ("commit", "lock_hash", "data_hash", "device")
_BATCH = 1000  # MLflow's limit of metrics in one call
_PARENT = "mlflow.parentRunId"


class Store:
    """MLflow's runs of one project."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.client = database.client(root)
        self.artifacts = self.root / "mlartifacts"
        self._experiments: dict[str, str] = {}

    def experiment(self, profile: str, name: str) -> str:
        """The id of MLflow's experiment `pondering/<profile>/<name>`, made where it is missing."""
        full = f"pondering/{profile}/{name}"
        if full not in self._experiments:
            found = self.client.get_experiment_by_name(full)
            if found is not None and found.lifecycle_stage == "deleted":
                self.client.restore_experiment(found.experiment_id)
            self._experiments[full] = (
                found.experiment_id
                if found is not None
                else self.client.create_experiment(
                    full,
                    artifact_location=(self.artifacts / profile / name).as_uri(),
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

    def complete(self, stage: Stage, key: str) -> Run | None:
        """The parent run of a stage that has finished with a key, if there is one."""
        found = self._parents(stage, f"tags.`pondering.key` = '{key}'")
        return found[0] if found else None

    def clear(self, stage: Stage) -> None:
        """Delete a stage's runs that are not complete."""
        for parent in self._parents(stage, "tags.`pondering.kind` = 'stage'"):
            if "pondering.key" not in parent.data.tags:
                for run in [*self._children(parent), parent]:
                    self.client.delete_run(run.info.run_id)

    def results(self, parent: Run, digest: str, values: Mapping[Key, Mapping[str, float]]) -> None:
        """Log into a stage's children what of the evaluation they do not show yet."""
        now = int(time.time() * 1000)
        for child in self._children(parent):
            params = child.data.params
            own = values.get(key_of(*map(params.get, REPLICA)), {})
            metrics = [
                Metric(name, value, now, 0)
                for name, value in sorted(own.items())
                if not math.isclose(value, child.data.metrics.get(name, math.nan))
            ]
            self.client.log_batch(child.info.run_id, metrics=metrics)
        self.client.set_tag(parent.info.run_id, "pondering.results", digest)

    def report(self, profile: str, digest: str, files: Iterable[Path]) -> None:
        """Keep a profile's figures and report text as artifacts of one run."""
        experiment = self.experiment(profile, "report")
        runs = self.client.search_runs([experiment], "tags.`pondering.kind` = 'report'")
        if runs and runs[0].data.tags.get("pondering.key") == digest:
            return
        for run in runs:
            self.client.delete_run(run.info.run_id)
        shutil.rmtree(self.artifacts / profile / "report", ignore_errors=True)
        tags = {"pondering.kind": "report", "mlflow.source.name": "dvc repro"}
        run = self.client.create_run(experiment, tags=tags, run_name=f"report {profile}")
        for file in files:
            folder = "figures" if file.parent.name == "figures" else None
            self.client.log_artifact(run.info.run_id, str(file), folder)
        self.client.set_terminated(run.info.run_id)
        self.client.set_tag(run.info.run_id, "pondering.key", digest)

    def _parents(self, stage: Stage, query: str) -> list[Run]:
        """The parent runs of a stage that a query finds."""
        experiment = self.experiment(stage.profile, stage.experiment)
        # Tags, for a run has them from its first moment; it may be cut off before its parameters.
        query += f" AND tags.`pondering.stage` = '{stage.mechanism}'"
        return list(self.client.search_runs([experiment], query, max_results=1000))

    def _children(self, parent: Run) -> list[Run]:
        """The replicas' runs of a parent run."""
        query = f"tags.`{_PARENT}` = '{parent.info.run_id}'"
        return list(self.client.search_runs([parent.info.experiment_id], query, max_results=10_000))


class StageRuns:
    """The runs of one train stage while they are written."""

    def __init__(
        self,
        store: Store,
        stage: Stage,
        record: Mapping[str, Any],
        replicas: Iterable[Iterable[Any]],
        started: int,
    ) -> None:
        """Create the parent and its children.

        Args:
            store: where.
            stage: the stage.
            record: its configuration and origin.
            replicas: mechanism with options, setting and seed of each; repetitions count once.
            started: when it began, ms since 1970.
        """
        self._client = store.client
        self._seen: set[tuple[Key, int]] = set()
        self._last: dict[Key, Mapping[str, Any]] = {}
        self._children: dict[Key, str] = {}
        self._experiment = store.experiment(stage.profile, stage.experiment)
        self._started = started
        config = flatten(record["config"])
        config |= {name: getattr(stage, name) for name in ("profile", "experiment", "mechanism")}
        origin = {f"pondering.{name}": record[name] for name in _ORIGIN}
        origin |= {"mlflow.source.name": "dvc repro", "mlflow.source.git.commit": record["commit"]}
        # The record's own key is another one than the key of complete runs.
        rest = {
            k: v for k, v in record.items() if k not in ("config", "replicas", "earlier", "key")
        }
        kind = {"pondering.kind": "stage", "pondering.stage": stage.mechanism}
        tags = flatten(rest, "pondering.") | origin | kind
        self._parent = self._create(f"{stage.experiment} {stage.mechanism}", config, tags)
        parameter = SETTING_NAMES.get(stage.mechanism, "setting")
        tags = origin | {"pondering.kind": "replica", _PARENT: self._parent}
        for replica in dict.fromkeys(key_of(*pair) for pair in replicas):
            variant, setting, seed = replica
            options = read_variant(variant)[1]
            params = config | {"mechanism": variant, "setting": setting, "seed": str(seed)}
            params |= {option: setting_text(value) for option, value in options}
            name = " ".join((parameter, setting, *options_listed(options), f"seed {seed}"))
            self._children[replica] = self._create(name, params, tags)

    def log(self, rows: Iterable[Mapping[str, Any]], at: Mapping[int, int] | int) -> None:
        """Log curve rows that were not logged yet.

        Args:
            rows: curve rows.
            at: their time in ms since 1970, one for all or per update.
        """
        metrics: dict[Key, list[Metric]] = {}
        for row in rows:
            replica, update = key_of(*map(row.get, REPLICA)), int(row["update"])
            if (replica, update) in self._seen:
                continue
            self._seen.add((replica, update))
            self._last[replica] = row
            when = at if isinstance(at, int) else at[update]
            metrics.setdefault(replica, []).extend(
                Metric(name, value, when, update)
                for name in CURVES
                if (value := number(row[name])) is not None
            )
        for replica, batch in metrics.items():
            for start in range(0, len(batch), _BATCH):
                self._client.log_batch(
                    self._children[replica], metrics=batch[start : start + _BATCH]
                )

    def finish(self, status: str, ended: int, key: str | None = None) -> None:
        """Close the runs; `key`, set last of all, marks them complete."""
        for replica, child in self._children.items():
            last = self._last.get(replica, {})
            diverged = bool(last) and number(last["loss"]) is None
            steps = number(last.get("computed_steps"))
            metrics = [] if steps is None else [Metric("computed_steps", steps, ended, 0)]
            tags = [RunTag("pondering.status", "diverged" if diverged else status.lower())]
            self._client.log_batch(child, metrics=metrics, tags=tags)
            self._client.set_terminated(child, "FAILED" if diverged else status, ended)
        self._client.set_terminated(self._parent, status, ended)
        if key:
            self._client.set_tag(self._parent, "pondering.key", key)

    def _create(self, name: str, params: Mapping[str, str], tags: Mapping[str, str]) -> str:
        """One run's id."""
        made = self._client.create_run(
            self._experiment, start_time=self._started, tags=dict(tags), run_name=name
        )
        items = [Param(*item) for item in sorted(params.items())]
        for start in range(0, len(items), 100):  # MLflow's limit in one call
            self._client.log_batch(made.info.run_id, params=items[start : start + 100])
        return str(made.info.run_id)
