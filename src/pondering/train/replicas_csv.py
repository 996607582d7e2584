"""`reports/PROFILE/replicas.csv`: every published replica, most of their networks not in git.

They count as trained where `compute.published` is `keep`, so that seeds and settings can be added
to published results without any network.
"""

from __future__ import annotations

import csv
import io

from pondering.params.replica import Replica, setting_text
from pondering.params.schema import Params
from pondering.train.replica import ByHash, by_hash, file_of, read

NAME = "replicas.csv"
COLUMNS = ("experiment", "mechanism", "setting", "seed", "hash", "status", "path", "program")


def published(params: Params, experiment: str, replicas: ByHash) -> dict[str, dict[str, str]]:
    """The rows of those replicas of an experiment that are published, by hash.

    The published tables have a replica under the name that it had: under another it is not there.
    None is where there is no `replicas.csv`.
    """
    path = params.published.report / NAME
    if not path.is_file():
        return {}
    names = {sha256: (experiment, *row_of(each)) for sha256, each in replicas.items()}
    with path.open(encoding="utf-8", newline="") as file:
        return {
            row["hash"]: row
            for row in csv.DictReader(file)
            if names.get(row["hash"]) == tuple(row[name] for name in COLUMNS[:4])
        }


def row_of(replica: Replica) -> tuple[str, str, str]:
    """What a replica's rows begin with, as CSV files have it: variant, setting, seed."""
    return replica.variant, setting_text(replica.setting), str(replica.seed)


def replicas_csv(params: Params) -> str:
    """The file's content: every replica of a profile that is trained or published."""
    text = io.StringIO()
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    for experiment, config in params.experiments.items():
        for mechanism in config.mechanisms:
            replicas = by_hash(params, experiment, mechanism)
            rows = published(params, experiment, replicas)
            for sha256, replica in replicas.items():
                if done := read(file_of(params.root, sha256)):
                    names = (experiment, *row_of(replica), sha256, done.status)
                    origin = done.record["path"], done.record["commit"]
                    rows[sha256] = dict(zip(COLUMNS, (*names, *origin), strict=True))
                if sha256 in rows:
                    table.writerow(rows[sha256])
    return text.getvalue()
