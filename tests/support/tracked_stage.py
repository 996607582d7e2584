"""A fake training that logs to MLflow: `python tracked_stage.py` in a project's folder.

The process waits after its first logging point until its input ends.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd

from pondering.project.paths import PUBLISHED, Layout
from pondering.track.writer import live

POINTS = range(1, 6)
SETTINGS = (0.001, 0.01)
SEEDS = (0, 1)
REPLICAS = tuple((setting, seed) for setting in SETTINGS for seed in SEEDS)
CONFIG: dict[str, Any] = {
    "task": {"name": "parity", "bits": 8},
    "halting": {"max_steps": 8, "halt_bias": 1.0},
    "act": {"tau": list(SETTINGS), "seeds": [0, 1]},
    "training": {"updates": 50, "learning_rate": 1e-4},
}


def rows(point: int) -> list[dict[str, Any]]:
    """One logging point; the last replica diverges half way."""
    return [
        {
            "experiment": "parity",
            "mechanism": "act",
            "setting": setting,
            "seed": seed,
            "update": 10 * point,
            "loss": math.nan if (setting, seed) == REPLICAS[-1] and point > 2 else 1 / point,
            "error": 0.5 / point,
            "ponder_time": 2.0 + point + setting,
            "remainder": math.nan,
            "computed_steps": 1000.0 * point,
        }
        for setting, seed in REPLICAS
    ]


def write_results(root: Path) -> None:
    """Write the curves and the record that the training leaves."""
    layout = Layout(root, "quick", PUBLISHED)
    curves, record = layout.curves("parity", "act"), layout.provenance("parity", "act")
    for path in (curves, record):
        path.parent.mkdir(parents=True, exist_ok=True)
    table = [row for point in POINTS for row in rows(point)]
    pd.DataFrame(table).to_csv(curves, index=False)
    record.write_text(json.dumps({"wall_seconds": 100.0, "config": CONFIG}))


def train(points: Sequence[int] = POINTS, pause: Callable[[], object] = lambda: None) -> None:
    """Log these points, and call `pause` after each; without the last point it is killed."""
    config = SimpleNamespace(of_mechanism=lambda mechanism: CONFIG)
    params: Any = SimpleNamespace(profile="quick", experiment=lambda name: config)
    with live(params, "parity") as listen:
        for point in points:
            listen(rows(point))
            pause()
        if points[-1] != POINTS[-1]:
            raise KeyboardInterrupt


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Wait until a condition holds; fail after so many seconds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "the condition never held"
        time.sleep(0.05)


if __name__ == "__main__":
    train(pause=sys.stdin.read)
    write_results(Path())
