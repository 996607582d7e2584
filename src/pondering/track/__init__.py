"""MLflow: the trainings as its users know them, a run a replica under a run an experiment.

`pondering ui` makes the database `mlflow.db` in the working folder, which is the project's root,
and loads what the results say. From then on trainings write to it while they run. MLflow is a view:
the results are the truth, and no fault of MLflow stops a training.
"""

from __future__ import annotations

from pondering.track.writer import live, load_if_open

__all__ = ["live", "load_if_open"]
