"""Evaluates a tiny experiment without training it."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pandas as pd
from safetensors.torch import save
from support import tiny
from support.stages import MECHANISMS

from pondering.evaluate.stage import Evaluation, run
from pondering.project.atomic import atomic_write, json_text
from pondering.results.results import read_traces
from pondering.tasks import make_task
from pondering.train.build import make_network
from pondering.train.replica import by_hash


def stage_of(
    folder: Path, task: dict[str, Any], diverged: Collection[tuple[float, int]] = (), **quick: Any
) -> Evaluation:
    """The evaluation stage, with its input files written.

    Args:
        task: its block in `params.yaml`.
        diverged: setting and seed of each replica whose status is "diverged".
        quick: further keys for `tiny.document`.
    """
    tiny.write(folder, tiny.document(task=task, **quick))
    params = tiny.freeze_all(folder)
    config, layout = params.experiment("tiny"), params.layout
    made = make_task(config.task, "tiny", layout.frozen("tiny"))
    for mechanism in MECHANISMS:
        run = layout.run("tiny", mechanism)
        record = [
            each.record()
            | {"status": "diverged" if (each.setting, each.seed) in diverged else "running"}
            | {"key": sha256}
            for sha256, each in by_hash(params, "tiny", mechanism).items()
        ]
        whole = {"config": config.of_mechanism(mechanism), "replicas": record}
        atomic_write(run / "run.json", json_text(whole))
        network = make_network(config, made, config.replicas(mechanism))
        atomic_write(run / "parameters.safetensors", save(network.state_dict()))
    return Evaluation(params, "tiny")


def table_of(stage: Evaluation) -> pd.DataFrame:
    """Run the stage; returns its table."""
    run(stage)
    return pd.read_csv(stage.layout.table("tiny"))


def traces_of(stage: Evaluation, mechanism: str) -> list[dict[str, Any]]:
    """The traces of one mechanism that the stage wrote."""
    found = read_traces(stage.layout.traces("tiny"))
    return [each for each in found if each["mechanism"] == mechanism]
