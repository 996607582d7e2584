"""What a train stage leaves for evaluation and report: a stack of networks, curves, records.

Curves and records are of all replicas, the stack holds those whose networks are here. Of the others
curves and records are read back from the published results.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pondering.params.replica import Replica
from pondering.params.schema import Params
from pondering.project.atomic import json_text, write_together
from pondering.project.paths import PUBLISHED, Layout
from pondering.project.provenance import hash_values
from pondering.train.replica import ByHash, Finished, data_hash, file_of, read, stack
from pondering.train.replicas_csv import published, row_of

COLUMNS = (
    "experiment", "mechanism", "setting", "seed", "update", "loss", "error", "ponder_time",
    "remainder", "computed_steps",
)  # fmt: skip
OF_ALL = ("trained_hash", "params_hash", "config", "data_hash", "key")  # the last by v1
"""What a mechanism's record says once; the rest is of one training, perhaps of some replicas."""


def write_outs(
    params: Params, experiment: str, mechanism: str, root: Path, replicas: ByHash
) -> None:
    """Write stack, curves and records of a mechanism's replicas, all of which are trained."""
    layout, config = Layout(root, params.profile), params.experiment(experiment)
    here = {sha256: done for sha256 in replicas if (done := read(file_of(root, sha256)))}
    absent = {sha256: each for sha256, each in replicas.items() if sha256 not in here}
    there = read_published(Layout(root, params.profile, PUBLISHED), experiment, mechanism, absent)
    every = {sha256: here.get(sha256) or there[sha256] for sha256 in replicas}
    content = stack([each.parameters for each in here.values()])
    values = config.of_mechanism(mechanism)
    of_all = {
        "trained_hash": hashlib.sha256(content).hexdigest(),
        "params_hash": hash_values(values),
        "config": values,
        "data_hash": data_hash(params, config),
    }
    networks = {
        "config": values,
        "evaluation": config.evaluation.model_dump(mode="json"),  # DVC: a change evaluates again
        "replicas": [
            replicas[sha256].record() | {"status": done.status, "key": sha256}
            for sha256, done in here.items()
        ],
    }
    folder = layout.run(experiment, mechanism)
    write_together(
        {
            folder / "parameters.safetensors": content,
            folder / "run.json": json_text(networks),
            layout.curves(experiment, mechanism): _curves(experiment, replicas, every),
            layout.provenance(experiment, mechanism): json_text(of_all | _record(replicas, every)),
        }
    )


def _curves(experiment: str, replicas: ByHash, every: Mapping[str, Finished]) -> str:
    """The curves of all replicas as CSV, point by point."""
    rows = [
        (update, [experiment, *row_of(replicas[sha256])], numbers)
        for sha256, done in every.items()
        for update, *numbers in done.curve.tolist()
    ]
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for update, names, (*means, computed) in sorted(rows, key=lambda row: row[0]):
        table.writerow([*names, int(update), *map(_text, means), int(computed)])
    return text.getvalue()


def _text(value: float) -> str:
    return "" if value != value else f"{value:.6g}"


def _record(replicas: ByHash, every: Mapping[str, Finished]) -> dict[str, Any]:
    """Where the numbers come from: the last training, with those before it as `earlier`.

    Each lists its replicas, unless it trained all of them.
    """
    trainings: dict[str, dict[str, Any]] = {}
    for sha256, done in every.items():
        origin = {name: each for name, each in done.record.items() if name != "wall_seconds"}
        first = origin | {"wall_seconds": 0.0, "replicas": []}
        training = trainings.setdefault(json.dumps(origin, sort_keys=True), first)
        training["wall_seconds"] += done.record["wall_seconds"]
        training["replicas"].append(replicas[sha256].text())
    for training in trainings.values():
        training["wall_seconds"] = round(training["wall_seconds"], 3)
        if len(trainings) == 1:
            del training["replicas"]
    *earlier, last = trainings.values()
    return last | ({"earlier": earlier} if earlier else {})


def read_published(
    layout: Layout, experiment: str, mechanism: str, replicas: ByHash
) -> dict[str, Finished]:
    """Curve, status and record of published replicas, without parameters, by hash.

    Args:
        layout: of the published results.
        replicas: of the mechanism; not all of them need be published.
    """
    rows = published(layout, experiment, replicas)
    if not rows:
        return {}
    curves: dict[tuple[str, ...], list[list[float]]] = {}
    with layout.curves(experiment, mechanism).open(encoding="utf-8", newline="") as file:
        next(lines := csv.reader(file))
        for _, variant, setting, seed, *numbers in lines:
            values = [float(each or "nan") for each in numbers]
            curves.setdefault((variant, setting, seed), []).append(values)
    last = json.loads(layout.provenance(experiment, mechanism).read_text(encoding="utf-8"))
    everyone = [Replica.of_row(*key).text() for key in curves]
    records: dict[str, dict[str, Any]] = {}
    for training in (*last.pop("earlier", ()), last):
        names = training.pop("replicas", everyone)
        own = {name: each for name, each in training.items() if name not in OF_ALL}
        own["wall_seconds"] /= len(names)  # its share
        records |= dict.fromkeys(names, own)
    return {
        sha256: Finished(
            {},
            np.array(curves[row_of(replicas[sha256])]),
            row["status"],
            records[replicas[sha256].text()],
        )
        for sha256, row in rows.items()
    }
