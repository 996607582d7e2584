"""Published replicas: their results are in git, most of their networks are not.

They count as trained where `compute.published` is `keep`, so that seeds and settings can be added
to published results without any network.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pondering.params.ranges import setting_text
from pondering.params.replica import Replica
from pondering.params.schema import Params
from pondering.project.paths import PUBLISHED, Layout
from pondering.train.replica import Finished, hashes, read, store

NAME = "replicas.csv"
COLUMNS = ("experiment", "mechanism", "setting", "seed", "hash", "status", "path", "program")


def published(results: Path, experiment: str) -> dict[tuple[str, str], dict[str, str]]:
    """The rows of an experiment's published replicas, by name and hash.

    Args:
        results: the folder of the published results, which may lack `replicas.csv`.
    """
    if not (results / NAME).is_file():
        return {}
    with (results / NAME).open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["experiment"] == experiment]
    names = [Replica.of_row(row["mechanism"], row["setting"], row["seed"]).text() for row in rows]
    return {(name, row["hash"]): row for name, row in zip(names, rows, strict=True)}


def finished(
    layout: Layout, experiment: str, mechanism: str, replicas: Mapping[str, Replica]
) -> dict[str, Finished]:
    """Curve, status and record of published replicas, without parameters, by hash.

    Args:
        layout: of the published results.
        replicas: all those of the mechanism, by hash; not all of them need be published.
    """
    known = published(layout.report, experiment)
    found = {sha256: each for sha256, each in replicas.items() if (each.text(), sha256) in known}
    if not found:
        return {}
    curves: dict[tuple[str, ...], list[list[float]]] = {}
    with layout.curves(experiment, mechanism).open(encoding="utf-8", newline="") as file:
        next(rows := csv.reader(file))
        for _, variant, setting, seed, *numbers in rows:
            values = [float(each or "nan") for each in numbers]
            curves.setdefault((variant, setting, seed), []).append(values)
    last = json.loads(layout.provenance(experiment, mechanism).read_text(encoding="utf-8"))
    runs = [*last.pop("earlier", ()), last]
    everyone = [each.text() for each in found.values()]
    home = {name: run for run in runs for name in run.pop("replicas", everyone)}
    sizes = Counter(map(id, home.values()))
    return {
        sha256: Finished(
            {},
            np.array(curves[row_of(each)]),
            known[each.text(), sha256]["status"],
            _share(home[each.text()], sizes[id(home[each.text()])]),
        )
        for sha256, each in found.items()
    }


def row_of(replica: Replica) -> tuple[str, str, str]:
    """What a replica's rows begin with, as CSV files have it: variant, setting, seed."""
    return replica.variant, setting_text(replica.setting), str(replica.seed)


def _share(record: Mapping[str, Any], replicas: int) -> dict[str, Any]:
    """A training's record as one of its replicas has it."""
    of_all = ("trained_hash", "params_hash", "config", "data_hash", "key")
    own = {name: value for name, value in record.items() if name not in of_all}
    return own | {"wall_seconds": record["wall_seconds"] / replicas}


def replicas_csv(params: Params, root: Path) -> str:
    """The content of `replicas.csv`: every replica of a profile that is trained or published."""
    results, folder = Layout(root, params.profile, PUBLISHED).report, store(root)
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    for experiment, config in params.experiments.items():
        known = published(results, experiment)
        for mechanism in config.mechanisms:
            for replica, sha256 in hashes(params, experiment, mechanism).items():
                row = known.get((replica.text(), sha256))
                if done := read(folder, sha256):
                    names = (experiment, *row_of(replica), sha256, done.status)
                    origin = done.record["path"], done.record["commit"]
                    row = dict(zip(COLUMNS, (*names, *origin), strict=True))
                if row:
                    table.writerow(row)
    return text.getvalue()
