"""MLflow from the tables: what is missing is added, what is there stays as it is."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from pathlib import Path

import pandas as pd

from pondering.params.replica import read_variant
from pondering.project.paths import Layout
from pondering.results.tables import REPLICA, replica_means
from pondering.track.artifacts import mirror, of_report, of_stage, read_card
from pondering.track.database import exclusive, move_unusable
from pondering.track.stages import Key, Stage, key_of, seconds, stages
from pondering.track.store import StageRuns, Store


def rebuild(root: Path, profile: str = "*") -> tuple[int, int]:
    """Add to MLflow what the tables under `reports/` say and it has not.

    Repeating it changes nothing: a train stage is known by the hash of what it wrote, which its
    run takes as the tag `key` when it is complete.

    Args:
        root: the project.
        profile: the only profile to look at.

    Returns:
        how many train stages were added, and how many were there already.
    """
    with exclusive(root):
        move_unusable(root)
        store, found = Store(root), list(stages(root, profile))
        added = sum(add(store, stage) for stage in found)
        for name in sorted({stage.profile for stage in found}):
            if files := of_report(Layout(store.root, name)):
                spent = sum(seconds(stage.record()) for stage in found if stage.profile == name)
                store.report(name, files, spent)
    return added, len(found) - added


def add(store: Store, stage: Stage) -> bool:
    """Add a finished stage, its evaluation and its files unless they are there.

    Returns:
        Whether the stage was new.
    """
    key = stage.key()
    store.clear(stage)
    found = store.complete(stage, key)
    if found is None:
        _write(store, stage, key)
    parent = found or store.complete(stage, key)
    assert parent is not None
    values = evaluation(stage)
    card = read_card(Layout(stage.root, stage.profile), stage.experiment)
    text = json.dumps([card, [[*replica, each] for replica, each in sorted(values.items())]])
    digest = hashlib.sha256(text.encode()).hexdigest()
    if values and parent.data.tags.get("results") != digest:
        store.results(parent, digest, values, card)
    mirror(store.folder(stage, key), of_stage(stage, values))
    return found is None


def _write(store: Store, stage: Stage, key: str) -> None:
    """Write one finished stage's runs."""
    record, rows = stage.record(), stage.rows()
    started = int(1000 * (stage.curves.stat().st_mtime - seconds(record)))
    replicas = [[row[name] for name in REPLICA] for row in rows]
    runs = StageRuns(store, stage, record, replicas, started, key)
    runs.log(rows)
    runs.log_means(rows)
    runs.finish("FINISHED")
    runs.save()


def evaluation(stage: Stage) -> dict[Key, dict[str, float]]:
    """Error and ponder of each replica as MLflow metrics: one name per split and prediction.

    Returns:
        replica -> {"test_error": ..., "test_ponder_time": ..., "test_expected_error": ...}:
        means over difficulties with equal weight. PonderNet's sampled prediction, the papers' own,
        has the plain name so that mechanisms share a column.
    """
    table = Layout(stage.root, stage.profile).table(stage.experiment)
    found: dict[Key, dict[str, float]] = defaultdict(dict)
    if not table.is_file():
        return found
    rows = pd.read_csv(table)
    rows = rows[[read_variant(each)[0] == stage.mechanism for each in rows["mechanism"]]]
    for (split, prediction), part in rows.groupby(["split", "prediction"]):
        prefix = f"{split}_expected" if prediction == "expected" else str(split)
        for name, column in replica_means(part).items():
            for replica, value in column.dropna().items():
                found[key_of(*replica)][f"{prefix}_{name}"] = float(value)
    return found
