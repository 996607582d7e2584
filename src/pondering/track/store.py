"""Runs in MLflow: one parent per train stage, one child per replica."""

from __future__ import annotations

import math
import time
import uuid
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mlflow.entities import Run

from pondering.params.replica import Replica
from pondering.project.paths import Layout
from pondering.results.tables import REPLICA
from pondering.track import database
from pondering.track.artifacts import mirror, read_card
from pondering.track.rows import Rows
from pondering.track.stages import (
    Key,
    Stage,
    flatten,
    key_of,
    number,
    origin_of,
    own_params,
    seconds,
    seed_means,
)
from pondering.track.views import view_tags

CURVES = ("loss", "error", "ponder_time", "remainder")
_ORIGIN = ("commit", "lock_hash", "data_hash", "device")
_PARENT = "mlflow.parentRunId"


class Store:
    """MLflow's runs of one project."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.client = database.client(root)
        self.artifacts = self.root / "mlartifacts"
        self._experiments: dict[str, str] = {}

    def experiment(self, profile: str, name: str) -> str:
        """The id of MLflow's experiment `<profile>/<name>`, made where it is missing."""
        full = f"{profile}/{name}"
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
                    tags=self._tags(profile, name),
                )
            )
        return self._experiments[full]

    def first(self) -> str | None:
        """The id of the experiment to open: parity, of the profile filled last, where it is there.

        Returns:
            None where nothing is trained.
        """
        found = self.client.search_experiments(order_by=["creation_time DESC"])
        trained = [each for each in found if "/" in each.name and not each.name.endswith("/report")]
        trained.sort(key=lambda each: not each.name.endswith("/parity"))
        return str(trained[0].experiment_id) if trained else None

    def complete(self, stage: Stage, key: str) -> Run | None:
        """The parent run of a stage that has finished with a key, if there is one."""
        found = self._parents(stage, f"tags.`key` = '{key}'")
        return found[0] if found else None

    def clear(self, stage: Stage) -> None:
        """Delete a stage's runs that are not complete."""
        for parent in self._parents(stage, "tags.`kind` = 'stage'"):
            if "key" not in parent.data.tags:
                for run in [*self._children(parent), parent]:
                    self.client.delete_run(run.info.run_id)

    def results(
        self,
        parent: Run,
        digest: str,
        values: Mapping[Key, Mapping[str, float]],
        card: Mapping[str, Any] | None,
    ) -> None:
        """Add to a stage's runs what they do not show yet of its evaluation.

        Args:
            parent: the stage's run; it shows means over seeds.
            digest: marks the run as up to date.
            values: error and ponder of each replica.
            card: the card of the data that they were measured on; None where there is none.
        """
        now = int(time.time() * 1000)
        own = {parent.info.run_id: (parent, seed_means(values))} | {
            child.info.run_id: (
                child,
                values.get(key_of(*map(child.data.params.get, REPLICA)), {}),
            )
            for child in self._children(parent)
        }
        rows = Rows()
        for run_id, (run, wanted) in own.items():
            rows.metrics(
                run_id,
                [
                    (name, value, now, 0)
                    for name, value in sorted(wanted.items())
                    if not math.isclose(value, run.data.metrics.get(name, math.nan))
                ],
            )
            if card is not None:
                name = parent.data.params["experiment"]
                rows.evaluated_on(run_id, parent.info.experiment_id, name, card)
        rows.tags(parent.info.run_id, {"results": digest})
        database.write(self.root, rows)

    def folder(self, stage: Stage, key: str) -> Path:
        """Where the artifacts lie of a stage's run with that key: there again, if it is rebuilt."""
        return self.artifacts / stage.profile / stage.experiment / f"{stage.mechanism}-{key[:12]}"

    def report(self, profile: str, files: Mapping[str, bytes], seconds: float) -> None:
        """Keep a profile's figures and report text as artifacts of one run.

        Args:
            profile: its name.
            files: by their place in the run.
            seconds: what all its trainings took.
        """
        experiment, folder = self.experiment(profile, "report"), self.artifacts / profile / "report"
        runs = self.client.search_runs([experiment], "tags.kind = 'report'")
        if not mirror(folder, files) and runs:
            return
        rows, now = Rows(), int(time.time() * 1000)
        run = runs[0].info.run_id if runs else uuid.uuid4().hex
        times = now - int(1000 * seconds), now
        rows.run(run, f"report {profile}", experiment, folder, times, "FINISHED")
        note = "Its duration is that of the profile's trainings, one after the other."
        tags = {"kind": "report", "mlflow.source.name": "dvc repro", "mlflow.note.content": note}
        rows.tags(run, tags)
        database.write(self.root, rows)

    def _tags(self, profile: str, name: str) -> dict[str, str]:
        """An experiment's view, and what the list of experiments says of it, from its data card."""
        card = read_card(Layout(self.root, profile), name)
        if card is None:
            return view_tags(())
        note = {"mlflow.note.content": f"{card['question']} {card['what']}"}
        return view_tags(card["splits"]) | note

    def _parents(self, stage: Stage, query: str) -> list[Run]:
        """The parent runs of a stage that a query finds."""
        experiment = self.experiment(stage.profile, stage.experiment)
        query += f" AND tags.stage = '{stage.mechanism}'"
        return list(self.client.search_runs([experiment], query, max_results=1000))

    def _children(self, parent: Run) -> list[Run]:
        """The replicas' runs of a parent run."""
        query = f"tags.`{_PARENT}` = '{parent.info.run_id}'"
        return list(self.client.search_runs([parent.info.experiment_id], query, max_results=10_000))


class StageRuns:
    """The runs of one train stage while they are written: nothing is, before `save`."""

    def __init__(
        self,
        store: Store,
        stage: Stage,
        record: Mapping[str, Any],
        replicas: Iterable[Iterable[Any]],
        started: int,
        key: str | None = None,
    ) -> None:
        """Create the parent and its children.

        Args:
            store: where.
            stage: the stage.
            record: its configuration and origin.
            replicas: mechanism with options, setting and seed of each; repetitions count once.
            started: when it began, ms since 1970.
            key: that of a finished stage, which marks its runs as complete.
        """
        self._store, self._rows = store, Rows()
        self._seen: set[tuple[Key, int]] = set()
        self._last: dict[Key, Mapping[str, Any]] = {}
        self._experiment = store.experiment(stage.profile, stage.experiment)
        self._started = started
        self._parent = uuid.uuid4().hex
        keys = list(dict.fromkeys(key_of(*each) for each in replicas))
        self._children = {replica: uuid.uuid4().hex for replica in keys}
        self._place = {replica: place for place, replica in enumerate(keys)}
        self._seconds = seconds(record)
        self._seeds = Counter(replica[:2] for replica in keys)
        self._origins = {each: origin_of(record, each) for each in keys}
        self._names = {
            each: Replica.of_row(*each).setting_name().replace(",", "") + f" seed {each[2]}"
            for each in keys
        }
        self._folder = store.folder(stage, key or self._parent)
        self._title = f"{stage.mechanism}, {len(keys)} networks"
        self._put(None, "RUNNING", None)
        named = {name: getattr(stage, name) for name in ("profile", "experiment", "mechanism")}
        self._rows.params(self._parent, flatten(record["config"]) | named)
        # The record's own key is another one than the key of complete runs.
        aside = ("config", "replicas", "earlier", "key")
        rest = flatten({k: v for k, v in record.items() if k not in aside})
        kind = {"kind": "stage", "stage": stage.mechanism} | ({"key": key} if key else {})
        self._rows.tags(self._parent, rest | _origin(record) | kind)
        for replica, child in self._children.items():
            self._put(replica, "RUNNING", None)
            own = own_params(record["config"], stage.mechanism, replica)
            self._rows.params(child, named | own)
            origin = _origin({**record, **self._origins[replica]})
            self._rows.tags(child, origin | {"kind": "replica", _PARENT: self._parent})

    def log(self, rows: Iterable[Mapping[str, Any]], now: int | None = None) -> None:
        """Take curve rows that were not logged yet.

        Args:
            rows: curve rows.
            now: their time, ms since 1970; None spreads them evenly over the time that the training
                of their replica took, because the CSV has no clock.
        """
        for row in rows:
            replica, update = key_of(*map(row.get, REPLICA)), int(row["update"])
            if (replica, update) in self._seen:
                continue
            self._seen.add((replica, update))
            self._last[replica] = row
            when = self._when(replica, update) if now is None else now
            self._rows.metrics(
                self._children[replica],
                [(name, value, when, update) for name, value in _values(row).items()],
            )

    def log_means(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take the curves of a finished stage's settings: means over seeds while all of them train.

        Args:
            rows: all its curve rows.
        """
        points: dict[int, dict[Key, dict[str, float]]] = {}
        for row in rows:
            own = points.setdefault(int(row["update"]), {})
            own[key_of(*map(row.get, REPLICA))] = _values(row)
        for update, values in sorted(points.items()):
            present = Counter(replica[:2] for replica in values)
            whole = {
                replica: own
                for replica, own in values.items()
                if present[replica[:2]] == self._seeds[replica[:2]]
            }
            when = max(self._when(replica, update) for replica in values)
            means = seed_means(whole)
            self._rows.metrics(self._parent, [(name, v, when, update) for name, v in means.items()])

    def finish(self, status: str, ended: int | None = None) -> None:
        """Close the runs.

        Args:
            status: FINISHED or KILLED.
            ended: ms since 1970; None: each when its training had taken its time, and the stage
                when all of them had, one after the other.
        """
        for replica, child in self._children.items():
            last = self._last.get(replica, {})
            diverged = bool(last) and number(last["loss"]) is None
            own = self._ended(replica) if ended is None else ended
            steps = number(last.get("computed_steps"))
            if steps is not None:
                self._rows.metrics(child, [("computed_steps", steps, own, 0)])
            self._rows.tags(child, {"status": "diverged" if diverged else status.lower()})
            self._put(replica, "FAILED" if diverged else status, own)
        whole = self._started + int(1000 * self._seconds)
        self._put(None, status, whole if ended is None else ended)

    def save(self) -> None:
        """Write what was taken since the last time, all of it or none."""
        database.write(self._store.root, self._rows)

    def _put(self, replica: Key | None, status: str, ended: int | None) -> None:
        """A replica's run, or the stage's, as it is now."""
        run, name, folder, times = self._parent, self._title, self._folder, (self._started, ended)
        if replica is not None:
            run, name = self._children[replica], self._names[replica]
            folder = folder.with_name(f"{folder.name}-replicas") / run
            # MLflow lists runs by their start, the last first: so settings and seeds are in order.
            before = 1 + self._place[replica]
            times = self._started - before, None if ended is None else ended - before
        self._rows.run(run, name, self._experiment, folder, times, status)

    def _ended(self, replica: Key) -> int:
        return self._started + int(1000 * self._origins[replica]["wall_seconds"])

    def _when(self, replica: Key, update: int) -> int:
        share = update / self._origins[replica]["updates"]
        return self._started + int(share * 1000 * self._origins[replica]["wall_seconds"])


def _origin(record: Mapping[str, Any]) -> dict[str, str]:
    commit = {"mlflow.source.name": "dvc repro", "mlflow.source.git.commit": record["commit"]}
    return {name: record[name] for name in _ORIGIN} | commit


def _values(row: Mapping[str, Any]) -> dict[str, float]:
    """What MLflow draws of a curve row."""
    return {name: value for name in CURVES if (value := number(row[name])) is not None}
