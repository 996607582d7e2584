"""The tiny ACT sweep in two shards of two, trained here or on a Ray cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from support import stages, tiny

from pondering.params.read import Params, load_params
from pondering.train.stage import run


def trained(folder: Path, address: str | None = None, **training: int) -> tuple[Path, Any]:
    """A project after its training, and the rows that were told meanwhile."""
    params = parameters(folder, address, **training)
    rows: list[Any] = []
    run(params, "tiny", folder, ("act",), rows.extend)
    return folder, rows


def parameters(folder: Path, address: str | None, **training: int) -> Params:
    """Those of a project with its data, in a new folder."""
    values = tiny.document(training=training)
    executor = {"executor": "ray", "ray_address": address} if address else {}
    values["compute"] |= {"replicas_at_once": 2, "checkpoint_seconds": 0.05, **executor}
    return load_params(stages.fresh(folder, values) / "params.yaml")
