"""The tiny ACT sweep in two shards of two, trained here or on a Ray cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support import stages, tiny

from pondering.data.frozen import freeze
from pondering.params.read import Params, load_params
from pondering.project.paths import Layout
from pondering.tasks import make_task
from pondering.train.stage import run


def trained(folder: Path, address: str | None = None, **training: int) -> tuple[Path, Any]:
    """A project after its training, and the rows that were told meanwhile."""
    params = parameters(folder, address, **training)
    rows: list[Any] = []
    run(params, "tiny", prepared(folder), ("act",), rows.extend)
    return folder, rows


def parameters(folder: Path, address: str | None, **training: int) -> Params:
    values = tiny.document(training=training)
    executor = {"executor": "ray", "ray_address": address} if address else {}
    values["compute"] |= {"replicas_at_once": 2, "checkpoint_seconds": 0.05, **executor}
    folder.mkdir()
    return load_params(tiny.write(folder, values))


def results(folder: Path) -> dict[str, bytes]:
    found = stages.contents(folder)
    aside = ("provenance", "data/replicas")  # where a record says how long it took
    return {path: found[path] for path in found if not any(each in path for each in aside)}


def prepared(folder: Path) -> Path:
    config = load_params(folder / "params.yaml").experiment("tiny")
    layout = Layout(folder, "quick")
    task = make_task(config.task, "tiny")
    freeze(task, layout.raw, layout.frozen("tiny"), config.evaluation.examples)
    return folder
