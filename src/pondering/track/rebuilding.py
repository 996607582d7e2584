"""MLflow from the tables: what is missing is added, what is there stays as it is."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from pondering.track.database import exclusive, migrate
from pondering.track.journal import RunInfo, alive, ensure_writer, settle, waiting
from pondering.track.place import Place
from pondering.track.stages import Stage, number, report_files, stages
from pondering.track.store import StageRuns, Store, log_report


def rebuild(root: Path, database: Path | None = None) -> tuple[int, int]:
    """Bring MLflow's database up to what the tables under `reports/` say.

    Repeating it changes nothing: a train stage is known by the hash of what it wrote, which its
    run takes as the tag `pondering.key` when it is complete.

    Args:
        root: the project.
        database: the sqlite file; the project's mlflow.db unless given.

    Returns:
        how many train stages were added, and how many were there already.

    Raises:
        UserError: the database is locked by another process.
    """
    place = Place.of(root, database)
    migrate(place)
    (place.journals / "problem").unlink(missing_ok=True)
    settle(root, database=database)
    with exclusive(place):
        for leftover in waiting(place):  # the writer could not; the tables have it all
            leftover.unlink(missing_ok=True)
            leftover.with_suffix(".lock").unlink(missing_ok=True)
        counts = update(Store(place))
    if any(place.journals.glob("*.jsonl")):
        ensure_writer(place)
    return counts


def update(store: Store, profile: str | None = None) -> tuple[int, int]:
    """Add what is missing of one profile or all; (added, kept) train stages. Hold `exclusive`."""
    root = store.place.root
    running = {
        tuple(path.name.split("--")[:3])
        for path in store.place.journals.glob("*.jsonl")
        if alive(path)
    }
    added = kept = 0
    profiles = set()
    for stage in stages(root, profile):
        profiles.add(stage.profile)
        key = stage.key()
        if key is None or (stage.profile, stage.experiment, stage.mechanism) in running:
            continue
        found = store.parents(stage, "pondering.key", key)
        if not found:
            clear(store, stage)
            write(store, stage, key)
            added += 1
            found = store.parents(stage, "pondering.key", key)
        else:
            kept += 1
        store.results(found[0], *stage.results())
    for name in sorted(profiles):
        files = report_files(root, name)
        if files:
            log_report(store, name, _digest(files), files)
    return added, kept


def clear(store: Store, stage: Stage, journals: Collection[str] = ()) -> None:
    """Delete a stage's half-written runs, but not those of `journals` being followed."""
    for run in store.parents(stage, "pondering.kind", "stage"):
        tags = run.data.tags
        if "pondering.key" not in tags and tags.get("pondering.journal") not in journals:
            store.delete(run)


def write(store: Store, stage: Stage, key: str) -> None:
    """Write one stage's runs from its files."""
    provenance = stage.provenance()
    rows = stage.rows()
    ended = int(stage.curves.stat().st_mtime * 1000)
    started = ended - int(1000 * (number(provenance.get("wall_seconds")) or 0.0))
    updates = {int(float(row["update"])) for row in rows}
    scale = (ended - started) / max(updates, default=1)
    run = RunInfo(
        profile=stage.profile,
        experiment=stage.experiment,
        mechanism=stage.mechanism,
        config=stage.config(),
        replicas=tuple((float(row["setting"]), int(float(row["seed"]))) for row in rows),
        commit=_text(provenance.get("commit")),
        lock_hash=_text(provenance.get("lock_hash")),
        data_hash=_text(provenance.get("data_hash")),
        device=_text(provenance.get("device")),
        root=stage.root,
    )
    runs = StageRuns(store, run, started)
    # The CSV has no clock: its rows are spread evenly over the time the stage took.
    runs.log(rows, {update: started + int(scale * update) for update in updates})
    runs.finish("FINISHED", ended, key)


def _text(value: Any) -> str:
    """A value of the provenance as text, nothing where it is missing."""
    return "" if value is None else str(value)


def _digest(files: list[Path]) -> str:
    """Hash of the names and contents of `files`."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(f"{file.name}\n".encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()
