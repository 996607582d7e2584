"""MLflow as a view of the tables, which can be rebuilt from them at any time.

A train stage appends its curve rows to a CSV under `.tracking/` while it trains. The report stage
fills MLflow from the finished tables; while `pondering ui` runs, MLflow also shows what the growing
CSVs say. No fault of the tracker fails a stage: it says so in one line and the stage goes on.

This package is the only place that imports mlflow; `database` and `store` do.
"""

from __future__ import annotations

import os

from pondering.track.live import RunInfo, Tracker, live, log_results

__all__ = ["RunInfo", "Tracker", "live", "log_results"]

# MLflow reads these when it is imported.
os.environ.update(
    MLFLOW_DISABLE_TELEMETRY="true",
    DO_NOT_TRACK="true",
    MLFLOW_LOGGING_LEVEL="WARNING",
    MLFLOW_SQLALCHEMYSTORE_POOLCLASS="NullPool",  # keep no file open that is moved aside
)
