"""A train stage that trains nothing: `python tracked_stage.py ROOT EXPERIMENT MECHANISM`.

As a process it waits after its first logging point until its input ends. And what
the tests of tracking look at it with.
"""

from __future__ import annotations

import atexit
import contextlib
import csv
import json
import math
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from pondering import track
from pondering.track.database import client

POINTS = 5
SETTINGS = (0.001, 0.01)
SEEDS = (0, 1)
REPLICAS = tuple((setting, seed) for setting in SETTINGS for seed in SEEDS)
CONFIG: dict[str, Any] = {
    "task": {"name": "parity", "bits": 8},
    "halting": {"max_steps": 8, "halt_bias": 1.0},
    "act": {"tau": list(SETTINGS), "tau_warmup": 0},
    "pondernet": {"lambda_p": list(SETTINGS), "beta": 0.01, "epsilon": None},
    "training": {"updates": 50, "learning_rate": 1e-4},
    "seeds": [0, 1],
}


def info(root: Path, experiment: str = "parity", mechanism: str = "act") -> track.RunInfo:
    """The stage as its own script would describe it."""
    return track.RunInfo(
        profile="quick",
        experiment=experiment,
        mechanism=mechanism,
        config=CONFIG,
        replicas=tuple((mechanism, *each) for each in REPLICAS),
        commit="c0ffee",
        lock_hash="10c4",
        data_hash="da7a",
        device="cpu",
        root=root,
    )


def rows(experiment: str, mechanism: str, point: int) -> list[dict[str, object]]:
    """One logging point; the last replica diverges half way."""
    return [
        {
            "experiment": experiment,
            "mechanism": mechanism,
            "setting": setting,
            "seed": seed,
            "update": 10 * point,
            "loss": math.nan if (setting, seed) == REPLICAS[-1] and point > 2 else 1 / point,
            "error": 0.5 / point,
            "ponder_time": 2.0 + point + setting,
            "remainder": math.nan,
            "computed_steps": 1000.0 * point,
        }
        for setting, seed in REPLICAS
    ]


def write_files(root: Path, experiment: str, mechanism: str) -> None:
    """What the stage leaves under `reports/`."""
    table = [row for point in range(1, POINTS + 1) for row in rows(experiment, mechanism, point)]
    reports = root / "reports" / "quick"
    for folder in ("curves", "provenance"):
        (reports / folder).mkdir(parents=True, exist_ok=True)
    with (reports / "curves" / f"{experiment}-{mechanism}.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]))
        writer.writeheader()
        writer.writerows(table)
    provenance = {
        "commit": "c0ffee",
        "lock_hash": "10c4",
        "data_hash": "da7a",
        "device": "cpu",
        "wall_seconds": 100.0,
        "updates": 10 * POINTS,
        "config": CONFIG,
    }
    path = reports / "provenance" / f"{experiment}-{mechanism}.json"
    path.write_text(json.dumps(provenance))


def train(
    root: Path,
    experiment: str = "parity",
    mechanism: str = "act",
    pause: Callable[[], object] = lambda: None,
) -> None:
    """The whole stage; `pause` is called after each logging point."""
    with track.live(info(root, experiment, mechanism)) as tracker:
        for point in range(1, POINTS + 1):
            tracker.log(rows(experiment, mechanism, point))
            pause()
        write_files(root, experiment, mechanism)


@cache
def empty_database() -> Path:
    """A database of MLflow without runs, to be copied: making one takes seconds."""
    root = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    client(root).search_experiments()
    return root / "mlflow.db"


def runs(root: Path) -> list[dict[str, Any]]:
    """Every run in the database that is not deleted, without ids and times.

    Read from the file itself: MLflow keeps connections to files that have been replaced.
    """
    with contextlib.closing(
        sqlite3.connect(f"{(root / 'mlflow.db').as_uri()}?mode=ro", uri=True)
    ) as db:
        found = {
            run: {"experiment": experiment, "name": name, "status": status}
            | {"params": {}, "tags": {}, "metrics": {}}
            for run, experiment, name, status in db.execute(
                "SELECT run_uuid, e.name, r.name, status FROM runs r JOIN experiments e"
                " USING (experiment_id) WHERE r.lifecycle_stage = 'active'"
            )
        }
        for table in ("params", "tags"):
            for run, key, value in db.execute(f"SELECT run_uuid, key, value FROM {table}"):
                if run in found:
                    found[run][table][key] = value
        query = "SELECT run_uuid, key, step, value FROM metrics ORDER BY key, step"
        for run, key, step, value in db.execute(query):
            if run in found:
                found[run]["metrics"].setdefault(key, []).append((step, value))
    for run in found.values():
        if parent := run["tags"].get("mlflow.parentRunId"):
            run["tags"]["mlflow.parentRunId"] = found[parent]["name"]
    return sorted(
        found.values(), key=lambda run: (run["experiment"], str(sorted(run["params"].items())))
    )


def parents(root: Path) -> list[dict[str, Any]]:
    """The train stages in the database."""
    return [run for run in runs(root) if run["tags"]["kind"] == "stage"]


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait for a condition, fail where it does not come."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def spoil(database: Path, fault: str) -> None:
    """Make `database` something that this MLflow cannot use."""
    if fault == "damaged":
        database.write_bytes(b"not a database " * 1000)
    else:
        with contextlib.closing(sqlite3.connect(database)) as db, db:
            db.execute("UPDATE alembic_version SET version_num = 'ffffffffffff'")


if __name__ == "__main__":
    train(Path(sys.argv[1]), *sys.argv[2:], pause=sys.stdin.read)
