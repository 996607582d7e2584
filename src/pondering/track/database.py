"""The sqlite file behind MLflow: is it usable, and how it is made so."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from filelock import FileLock

from pondering.project.errors import UserError
from pondering.track.place import Place

LOCK_PATIENCE = 10.0  # seconds that `make track` and `make ui` wait for another process
State = Literal["missing", "current", "old", "foreign", "locked"]


def quiet_mlflow() -> None:
    """Make an import of mlflow silent and keep it from phoning home; call before the import."""
    os.environ.update(
        MLFLOW_DISABLE_TELEMETRY="true", DO_NOT_TRACK="true", MLFLOW_LOGGING_LEVEL="WARNING"
    )


@contextlib.contextmanager
def exclusive(place: Place, timeout: float = 600.0) -> Iterator[None]:
    """Hold the database against every other process of the project; UserError after `timeout` s."""
    place.journals.mkdir(parents=True, exist_ok=True)
    with FileLock(place.journals / "database.lock", timeout=timeout):
        yield


def state(file: Path, patience: float = 1.0) -> State:
    """What the sqlite file is; nothing changes but what a killed writer left half written.

    Opened for writing, since sqlite takes back such a half transaction only then.

    Args:
        file: the sqlite file.
        patience: seconds to wait for another process's lock.

    Returns:
        "missing" (also an empty file), "current", "old" (of another MLflow version), "foreign"
        (no database of MLflow, or a damaged one) or "locked".
    """
    if not file.exists() or file.stat().st_size == 0:
        return "missing"
    try:
        with contextlib.closing(
            sqlite3.connect(f"{file.as_uri()}?mode=rw", uri=True, timeout=patience)
        ) as connection:
            rows = connection.execute("SELECT version_num FROM alembic_version").fetchall()
            connection.execute("SELECT count(*) FROM experiments").fetchall()
    except sqlite3.OperationalError as error:
        return "locked" if "locked" in str(error) else "foreign"
    except sqlite3.DatabaseError:
        return "foreign"
    return "current" if rows == [(_head(),)] else "old"


def migrate(place: Place) -> None:
    """Create the database where there is none, upgrade an old one, move an unusable one aside.

    Says in one line what it did. A server's database is its own affair and left alone.

    Args:
        place: the backend.

    Raises:
        UserError: another process holds the database locked, or it cannot be created.
    """
    file = place.file
    if file is None:
        return
    with exclusive(place):
        found = state(file, LOCK_PATIENCE)
        if found == "current":
            return
        if found == "locked":
            raise UserError(f"{file.name}: locked by another process; close it and try again")
        if found == "old" and _upgrade(place) and state(file) == "current":
            print(f"upgraded {file.name} to this version of MLflow")
            return
        if found in ("old", "foreign"):
            aside = file.with_name(f"{file.name}.{time.strftime('%Y%m%d-%H%M%S')}")
            _move(file, aside)
            print(f"{file.name} cannot be read by this version of MLflow: moved to {aside.name}")
        try:
            create(file)
        except Exception as error:
            raise UserError(f"{file.name}: cannot be created ({error})") from error


def create(file: Path) -> None:
    """Create an empty database at `file`, whole or not at all."""
    quiet_mlflow()
    from mlflow import MlflowClient

    file.parent.mkdir(parents=True, exist_ok=True)
    # A name of its own: within one process MLflow believes what it knows of a name.
    temporary = file.with_name(f".{file.name}.{os.urandom(6).hex()}")
    try:
        MlflowClient(f"sqlite:///{temporary}").search_experiments(max_results=1)
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)


def _move(file: Path, aside: Path) -> None:
    """Rename a database together with the files sqlite keeps beside it."""
    for suffix in ("", "-journal", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            file.with_name(file.name + suffix).rename(aside.with_name(aside.name + suffix))


def _upgrade(place: Place) -> bool:
    """Run MLflow's own `db upgrade`; whether it succeeded."""
    quiet_mlflow()
    command = [sys.executable, "-m", "mlflow", "db", "upgrade", place.uri]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _head() -> str | None:
    """The schema version of the installed MLflow."""
    quiet_mlflow()
    import mlflow
    from alembic.script import ScriptDirectory

    folder = Path(mlflow.__file__).parent / "store" / "db_migrations"
    return ScriptDirectory(str(folder)).get_current_head()
