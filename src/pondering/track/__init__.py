"""MLflow as a view of the tables: runs appear while they train, and can be rebuilt at any time.

Training never touches MLflow. It appends its curve rows to a journal under ``.tracking/``; one
background process per project, shared by all train stages, follows the journals into the database
and leaves when there is nothing left to follow. So MLflow's import and its writes are paid once
and outside the training process, and no fault of the database can slow or stop a run.

This package is the only place that imports mlflow; in it `store` and `database` do.
"""

from __future__ import annotations

from pathlib import Path

from pondering.track.journal import RunInfo, Tracker, live, log_results, settle

__all__ = ["RunInfo", "Tracker", "live", "log_results", "migrate", "rebuild", "settle", "ui"]


def rebuild(root: Path, database: Path | None = None) -> tuple[int, int]:
    """Bring MLflow up to what the tables under `reports/` say; see `rebuilding.rebuild`."""
    from pondering.track import rebuilding

    return rebuilding.rebuild(root, database)


def migrate(root: Path, database: Path | None = None) -> None:
    """Create, upgrade or move aside the database so that it can be used; see `database.migrate`."""
    from pondering.track.database import migrate as migrate_place
    from pondering.track.place import Place

    migrate_place(Place.of(root, database))


def ui(root: Path, port: int = 5000) -> None:
    """Replace this process by MLflow's own UI on 127.0.0.1; see `server.ui`."""
    from pondering.track import server

    server.ui(root, port)
