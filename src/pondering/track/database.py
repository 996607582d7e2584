"""The sqlite file behind MLflow: a view of the tables, so what is unusable is moved aside."""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock
from mlflow import MlflowClient

from pondering.track.stages import LIVE

PATIENCE = 10.0  # seconds to wait for a database that another program has locked


def address(file: Path) -> str:
    """What MLflow calls a sqlite file."""
    return f"sqlite:///{file.resolve()}"


def client(file: Path) -> MlflowClient:
    """MLflow's client of a database."""
    for name in ("alembic", "mlflow"):
        logging.getLogger(name).setLevel(logging.WARNING)
    return MlflowClient(address(file))


@contextlib.contextmanager
def exclusive(root: Path) -> Iterator[None]:
    """Hold the database against every other process of the project."""
    folder = root / LIVE
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "database.lock", timeout=600):
        yield


def make_usable(file: Path) -> None:
    """Have a database at `file` that this MLflow can use; hold `exclusive`.

    One that it cannot use (damaged, of another version, locked) is moved aside, which a line says,
    and an empty one takes its place.
    """
    trouble = _trouble(file) if file.exists() else None
    if trouble:
        aside = file.with_name(f"{file.name}.{time.strftime('%Y%m%d-%H%M%S')}")
        for suffix in ("", "-journal", "-wal", "-shm"):  # sqlite's own files beside it
            with contextlib.suppress(FileNotFoundError):
                file.with_name(file.name + suffix).rename(aside.with_name(aside.name + suffix))
        print(f"MLflow cannot use {file.name} ({trouble}): moved to {aside.name}", flush=True)
    if not file.exists():
        _create(file)


def _trouble(file: Path) -> str | None:
    """Why MLflow cannot use a database; None if it can."""
    try:
        with contextlib.closing(sqlite3.connect(file, timeout=PATIENCE)) as connection:
            connection.execute("BEGIN IMMEDIATE")
            (said,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.Error as error:
        return str(error)
    if said != "ok":
        return "damaged"
    try:
        client(file).search_experiments(max_results=1)
    except Exception:  # MLflow's, SQLAlchemy's or Alembic's, by what is wrong
        return "of another version of MLflow"
    return None


def _create(file: Path) -> None:
    """Create an empty database at `file`, whole or not at all."""
    # A name of its own: within one process MLflow remembers which files it has made tables in.
    temporary = file.with_name(f".{file.name}.{os.urandom(6).hex()}")
    try:
        client(temporary).search_experiments(max_results=1)
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)
