"""MLflow: the trainings as its users know them, a run a replica under a run an experiment.

`pondering ui` makes the database `mlflow.db` in the working folder, which is the project's root,
and loads what the results say. From then on trainings write to it while they run. MLflow is a view:
the results are the truth, and no fault of MLflow stops a training.
"""

from __future__ import annotations

import os
from pathlib import Path

DATABASE = Path("mlflow.db")  # relative: a URL of a database cannot hold a path like a?b

# MLflow reads these when it is imported, which is where it is needed: that takes seconds.
os.environ.update(
    MLFLOW_DISABLE_TELEMETRY="true", DO_NOT_TRACK="true", MLFLOW_LOGGING_LEVEL="WARNING"
)
