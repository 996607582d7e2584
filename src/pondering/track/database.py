"""Where MLflow's database is, and how MLflow behaves; it is imported later, where it is needed."""

from __future__ import annotations

import os
from pathlib import Path

DATABASE = Path("mlflow.db")  # relative: a URL of a database cannot hold a path like a?b

# MLflow reads these when it is imported.
os.environ.update(
    MLFLOW_DISABLE_TELEMETRY="true", DO_NOT_TRACK="true", MLFLOW_LOGGING_LEVEL="WARNING"
)
