"""MLflow as a view of the tables, which can be rebuilt from them at any time.

A train stage appends its curve rows to a CSV under `.tracking/` while it trains. The report stage
fills MLflow from the finished tables; while `pondering ui` runs, MLflow also shows what the growing
CSVs say. No fault of the tracker fails a stage: it says so in one line and the stage goes on.

This package is the only place that imports mlflow; `database` and `store` do.
"""

from __future__ import annotations

import os
from pathlib import Path

from pondering.track.live import RunInfo, Tracker, live, log_results

__all__ = ["RunInfo", "Tracker", "live", "log_results", "rebuild", "ui"]

# MLflow reads these when it is imported.
os.environ.update(
    MLFLOW_DISABLE_TELEMETRY="true",
    DO_NOT_TRACK="true",
    MLFLOW_LOGGING_LEVEL="WARNING",
    MLFLOW_SQLALCHEMYSTORE_POOLCLASS="NullPool",  # keep no file open that is moved aside
)


def rebuild(root: Path) -> tuple[int, int]:
    """Add to MLflow what the tables under `reports/` say and it has not; see `fill.rebuild`."""
    from pondering.track import fill

    return fill.rebuild(root)


def ui(root: Path, port: int = 5000) -> int:
    """Run MLflow's own UI on 127.0.0.1 until it ends; see `server.ui`."""
    from pondering.track import server

    return server.ui(root, port)
