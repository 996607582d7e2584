"""How an experiment opens in MLflow's UI: its replicas as rows, setting, seed, error and ponder."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable

KEY = "pondering"  # names the view in the UI's addresses
_PARAMS = ("mechanism", "setting", "seed")


def view_tags(splits: Iterable[str]) -> dict[str, str]:
    """Tags of an MLflow experiment that save a view of it under the name "replicas".

    Args:
        splits: what it is evaluated on.
    """
    params = [f"params.`{name}`" for name in _PARAMS]
    measured = [f"{split}_{each}" for split in splits for each in ("error", "ponder_time")]
    metrics = [f"metrics.`{name}`" for name in ("error", "ponder_time", "loss", *measured)]
    state = {
        "searchFilter": "tags.kind = 'replica'",
        # Sorted by start time, the UI would fold the replicas away under their parents.
        # Those of one mechanism are in the order of their starts.
        "orderByKey": "params.`mechanism`",
        "orderByAsc": True,
        "startTime": "ALL",
        "lifecycleFilter": "Active",
        "datasetsFilter": [],
        "modelVersionFilter": "All Runs",
        "selectedColumns": [*params, *metrics],
        "runsHiddenMode": "FIRST_10_RUNS",
        "hideEmptyCharts": True,
        "useGroupedValuesInCharts": True,
        "groupBy": None,
    }
    packed = base64.b64encode(zlib.compress(json.dumps(state).encode())).decode()
    view = {"name": "replicas", "createdAt": 0, "updatedAt": 0, "state": f"deflate;{packed}"}
    return {
        # Model training, not language models: the UI asks otherwise, or guesses wrong.
        "mlflow.experimentKind": "custom_model_development",
        f"mlflow.sharedViewState.{KEY}": json.dumps(view),
    }


def page(base: str, experiment: str | None) -> str:
    """The page to open first: the view of an experiment, or the list where there is none yet."""
    if experiment is None:
        return f"{base}/#/experiments?workflowType=machine_learning"
    query = f"workflowType=machine_learning&viewStateShareKey={KEY}"
    return f"{base}/#/experiments/{experiment}/runs?{query}"
