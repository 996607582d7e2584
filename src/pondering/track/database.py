"""The sqlite file behind MLflow: a view of the tables, so what is unusable is moved aside."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock
from mlflow import MlflowClient

from pondering.track.rows import Rows
from pondering.track.stages import LIVE

PATIENCE = 10.0  # seconds to wait for a database that another program has locked


def address(root: Path) -> str:
    """What MLflow calls the database of the project at `root`."""
    return f"sqlite:///{_file(root)}"


def client(root: Path) -> MlflowClient:
    """MLflow's client of the database, which its first call makes where there is none."""
    for name in ("alembic", "mlflow"):
        logging.getLogger(name).setLevel(logging.WARNING)
    return MlflowClient(address(root))


@contextlib.contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """Hold the database against every other process of the project."""
    folder = root / LIVE
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "database.lock", timeout=600):
        yield


def move_unusable(root: Path) -> None:
    """Move a database aside that this MLflow cannot use, and say so; hold `exclusive`."""
    file = _file(root)
    trouble = _trouble(root) if file.exists() else None
    if trouble is None:
        return
    aside = file.with_name(f"{file.name}.{time.strftime('%Y%m%d-%H%M%S')}")
    for suffix in ("", "-journal", "-wal", "-shm"):  # sqlite's own files beside it
        with contextlib.suppress(FileNotFoundError):
            file.with_name(file.name + suffix).rename(aside.with_name(aside.name + suffix))
    print(f"MLflow cannot use {file.name} ({trouble}): moved to {aside.name}", flush=True)


def write(root: Path, rows: Rows) -> None:
    """Write rows in one transaction: all of them or none."""
    with (
        contextlib.closing(sqlite3.connect(_file(root), timeout=PATIENCE)) as connection,
        connection,
    ):
        for statement, values in rows.take():
            connection.executemany(statement, values)


def _file(root: Path) -> Path:
    return root.resolve() / "mlflow.db"


def _trouble(root: Path) -> str | None:
    """Why MLflow cannot use a database; None if it can."""
    try:
        with contextlib.closing(sqlite3.connect(_file(root), timeout=PATIENCE)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return str(error)
    if said != "ok":
        return "damaged"
    try:
        client(root).search_experiments(max_results=1)
    except Exception:  # MLflow's, SQLAlchemy's or Alembic's, by what is wrong
        return "of another version of MLflow"
    return None
