"""What a train stage leaves for evaluation and report: a stack of networks, curves, records.

Curves and records are of all replicas, the stack holds those whose networks are here. Of the others
the published lines and the published record are taken.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Mapping
from typing import Any

from pondering.params.schema import Params
from pondering.project.atomic import json_text, write_together
from pondering.project.provenance import hash_values
from pondering.train.replica import ByHash, Finished, file_of, read, stack
from pondering.train.replicas_csv import published, row_of

COLUMNS = (
    "experiment", "mechanism", "setting", "seed", "update", "loss", "error", "ponder_time",
    "remainder", "computed_steps",
)  # fmt: skip
Record = dict[str, Any]


def write_outs(params: Params, experiment: str, mechanism: str, replicas: ByHash) -> None:
    """Write stack, curves and records of a mechanism's replicas, all of which are trained."""
    layout, there, config = params.layout, params.published, params.experiment(experiment)
    here = {key: done for key in replicas if (done := read(file_of(params.root, key)))}
    content = stack([each.parameters for each in here.values()])
    values, place = config.of_mechanism(mechanism), [row_of(each) for each in replicas.values()]
    rows = [
        [experiment, *row_of(replicas[key]), *_texts(numbers)]
        for key, done in here.items()
        for numbers in done.curve.tolist()
    ]
    if absent := {row_of(each) for key, each in replicas.items() if key not in here}:
        with there.curves(experiment, mechanism).open(encoding="utf-8", newline="") as file:
            rows += [line for line in csv.reader(file) if tuple(line[1:4]) in absent]
        record = json.loads(there.provenance(experiment, mechanism).read_text(encoding="utf-8"))
        known = published(params, experiment, replicas)
        new = {key: done for key, done in here.items() if key not in known}
        trainings = [record, *_trainings(replicas, new)]
    else:
        trainings = _trainings(replicas, here)
        if len(trainings) == 1:
            del trainings[0]["replicas"]  # all of them
    *earlier, last = trainings
    curves = io.StringIO()
    rows.sort(key=lambda row: (int(row[4]), place.index((row[1], row[2], row[3]))))
    csv.writer(curves, lineterminator="\n").writerows([COLUMNS, *rows])
    networks = {
        "config": values,
        "evaluation": config.evaluation.model_dump(mode="json"),  # DVC: a change evaluates again
        "replicas": [
            replicas[key].record() | {"status": done.status, "key": key}
            for key, done in here.items()
        ],
    }
    origin = {
        "trained_hash": hashlib.sha256(content).hexdigest(),
        "params_hash": hash_values(values),
        "config": values,
    }
    folder = layout.run(experiment, mechanism)
    write_together(
        {
            folder / "parameters.safetensors": content,
            folder / "run.json": json_text(networks),
            layout.curves(experiment, mechanism): curves.getvalue(),
            layout.provenance(experiment, mechanism): json_text(
                origin | last | ({"earlier": earlier} if earlier else {})
            ),
        }
    )


def _texts(point: list[float]) -> list[str]:
    """A point of a curve as the file has it; NaN is empty."""
    update, *means, computed = point
    texts = ["" if value != value else f"{value:.6g}" for value in means]
    return [str(int(update)), *texts, str(int(computed))]


def _trainings(replicas: ByHash, finished: Mapping[str, Finished]) -> list[Record]:
    """The record of each training of some finished replicas, with their names."""
    found: dict[str, Record] = {}
    for key, done in finished.items():
        first = done.record | {"wall_seconds": 0.0, "replicas": []}
        training = found.setdefault(json.dumps(first, sort_keys=True), first)
        seconds = training["wall_seconds"] + done.record["wall_seconds"]
        training["wall_seconds"] = round(seconds, 3)
        training["replicas"].append(replicas[key].text())
    return list(found.values())
