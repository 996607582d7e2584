"""MLflow from finished results: a clone's published ones, and what was trained without MLflow."""

from __future__ import annotations

import hashlib
import json
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from mlflow.entities import Run
from tqdm import tqdm

from pondering.params.read import load_params
from pondering.params.replica import Replica
from pondering.project.paths import Layout, current
from pondering.results.tables import REPLICA
from pondering.track.runs import CURVES, Runs, client, parameters


def load(profiles: Iterable[str]) -> None:
    """Bring to MLflow what the results in the working folder say and it has not."""
    mlflow, found = client(), [each for profile in profiles for each in finished(profile)]
    for layout, experiment, mechanisms in tqdm(
        found, "results to MLflow", unit="experiment", disable=None
    ):
        runs, digest = Runs(mlflow, layout.profile, experiment), hashlib.sha256()
        files = [layout.card(experiment), layout.table(experiment)]
        for each in mechanisms:
            files += [layout.curves(experiment, each), layout.provenance(experiment, each)]
        for path in files:
            digest.update(path.read_bytes() if path.is_file() else b"")
        if runs.digest == digest.hexdigest():
            continue
        for each in mechanisms:
            _replicas(runs, layout, experiment, each)
        if layout.card(experiment).is_file():
            card = json.loads(layout.card(experiment).read_text())
            about = f"{card['question']} {card['what']}"
            mlflow.set_experiment_tag(runs.id, "mlflow.note.content", about)
        mlflow.set_terminated(runs.parent)
        mlflow.set_tag(runs.parent, "digest", digest.hexdigest())


def finished(profile: str) -> Iterator[tuple[Layout, str, list[str]]]:
    """The experiments that have curves, with the mechanisms that have."""
    layout = current(Path(), profile)
    if not layout.report.is_dir():
        return
    for name, config in load_params(profile=profile).experiments.items():
        trained = [each for each in config.mechanisms if layout.curves(name, each).is_file()]
        if trained:
            yield layout, name, trained


def _replicas(runs: Runs, layout: Layout, experiment: str, mechanism: str) -> None:
    """The runs of all replicas of a mechanism, with curves and test errors."""
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
            runs.end(run, curves[-1], ended)
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
    columns = ["error", "ponder_time"]
    means = rows.groupby([*REPLICA, "split", "prediction"])[columns].mean()
    found: dict[Any, dict[str, float]] = defaultdict(dict)
    for (*replica, split, prediction), values in means.iterrows():
        prefix = f"{split}_expected" if prediction == "expected" else split
        found[tuple(replica)] |= {f"{prefix}_{n}": v for n, v in values.dropna().items()}
    return found
