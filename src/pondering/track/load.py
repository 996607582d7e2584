"""MLflow from finished results: a clone's published ones, and what was trained without MLflow."""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from mlflow.entities import Dataset, DatasetInput, InputTag, Run
from tqdm import tqdm

from pondering.params.read import load_params
from pondering.params.replica import Replica
from pondering.project.paths import Layout, current
from pondering.results.tables import REPLICA
from pondering.track.runs import CURVES, Runs, client, parameters


@dataclass(frozen=True)
class Finished:
    """The results of one experiment in one profile."""

    layout: Layout
    experiment: str
    mechanisms: tuple[str, ...]
    networks: Path  # the folder of its published ones, which are few and small

    def figures(self) -> list[Path]:
        """The pictures of the claims that it decides."""
        claims = self.layout.report / "claims.json"
        if not claims.is_file():
            return []
        runs = {f"{self.experiment}-{mechanism}" for mechanism in self.mechanisms}
        decided = (
            claim for claim in json.loads(claims.read_text())["claims"] if runs & set(claim["runs"])
        )
        names = {name for claim in decided for name in claim["figures"]}
        files = (self.layout.report / "figures" / f"{name}.svg" for name in sorted(names))
        return [path for path in files if path.is_file()]

    def digest(self) -> str:
        """Of all files that MLflow gets something of."""
        layout, name = self.layout, self.experiment
        files = [layout.card(name), layout.table(name), *self.networks.rglob("*.*")]
        for mechanism in self.mechanisms:
            files += [layout.curves(name, mechanism), layout.provenance(name, mechanism)]
        found = hashlib.sha256()
        for path in sorted(each for each in [*files, *self.figures()] if each.is_file()):
            found.update(path.name.encode() + path.read_bytes())
        return found.hexdigest()


def load(profiles: Iterable[str]) -> None:
    """Bring to MLflow what the results in the working folder say and it has not."""
    mlflow = client()
    for each in tqdm([*finished(profiles)], "results to MLflow", unit="experiment", disable=None):
        runs, digest = Runs(mlflow, each.layout.profile, each.experiment), each.digest()
        if runs.digest != digest:
            for mechanism in each.mechanisms:
                _replicas(runs, each, mechanism)
            _experiment(runs, each)
            mlflow.set_tag(runs.parent, "digest", digest)


def finished(profiles: Iterable[str]) -> Iterator[Finished]:
    """The experiments that have curves."""
    for profile in profiles:
        layout = current(Path(), profile)
        if not layout.report.is_dir():
            continue
        params = load_params(profile=profile)
        for name, config in params.experiments.items():
            trained = [each for each in config.mechanisms if layout.curves(name, each).is_file()]
            if trained:
                yield Finished(layout, name, tuple(trained), params.published.networks(name))


def _replicas(runs: Runs, results: Finished, mechanism: str) -> None:
    """The runs of all replicas of a mechanism, with curves and test errors."""
    layout, experiment = results.layout, results.experiment
    path = layout.curves(experiment, mechanism)
    record = json.loads(layout.provenance(experiment, mechanism).read_text())
    ended = int(1000 * path.stat().st_mtime)
    started = ended - int(1000 * record["wall_seconds"])
    tested = _tested(layout.table(experiment))
    for key, rows in pd.read_csv(path).groupby(REPLICA, sort=False):
        replica = Replica.of_row(*key)
        run = runs.replicas.get(replica.text())
        if run is not None and run.info.status == "RUNNING":
            continue  # a training at work writes to it
        curves = rows.to_dict("records")
        if run is None or not _ends(run, curves):
            run = runs.begin(replica, started)
            runs.log(run, curves, tested.get(key, {}), parameters(record["config"], replica))
            runs.end(run, curves[-1], ended=ended)
        elif not tested.get(key, {}).items() <= run.data.metrics.items():
            runs.log(run, [], tested[key])


def _ends(run: Run, curves: list[dict[str, Any]]) -> bool:
    """Whether a run's curves end as these, which are rounded to six digits."""
    return all(
        math.isclose(run.data.metrics.get(name, math.nan), curves[-1][name], rel_tol=1e-5)
        for name in CURVES
        if math.isfinite(curves[-1][name])
    )


def _tested(table: Path) -> dict[Any, dict[str, float]]:
    """Error and steps of each replica on each split, means over difficulties with equal weight.

    PonderNet's sampled prediction, its paper's own, has the plain name: test_error.
    """
    if not table.is_file():
        return {}
    rows = pd.read_csv(table)
    name = rows["split"].where(rows["prediction"] != "expected", rows["split"] + "_expected")
    means = rows.groupby([*REPLICA, name])[["error", "ponder_time"]].mean()
    found: dict[Any, dict[str, float]] = defaultdict(dict)
    for (*replica, split), values in means.iterrows():
        found[tuple(replica)] |= {f"{split}_{n}": v for n, v in values.dropna().items()}
    return found


def _experiment(runs: Runs, results: Finished) -> None:
    """The experiment's own run: its data set, its figures and a network a mechanism."""
    layout, experiment, mlflow = results.layout, results.experiment, runs.client
    if layout.card(experiment).is_file():
        card = json.loads(layout.card(experiment).read_text())
        about = f"{card['question']} {card['what']}"
        mlflow.set_experiment_tag(runs.id, "mlflow.note.content", about)
        digest = card["sha256"][:36]  # as much as MLflow holds
        data = Dataset(experiment, digest, "local", json.dumps({"uri": card["source"]}))
        context = InputTag("mlflow.data.context", "evaluation")
        mlflow.log_inputs(runs.parent, [DatasetInput(data, [context])])
    for figure in results.figures():
        mlflow.log_artifact(runs.parent, str(figure), "figures")
    if results.networks.is_dir():
        mlflow.log_artifacts(runs.parent, str(results.networks), "networks")
    mlflow.set_terminated(runs.parent)
