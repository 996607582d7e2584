"""The project's own params.yaml, with values changed, and what would be trained with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pondering.params.read import deep_merge, load_params
from pondering.params.schema import Params
from pondering.project.documents import read_yaml
from pondering.train.replica import hashes
from pondering.train.stage import missing_of

FILE = Path(__file__).parents[2] / "params.yaml"


def params(folder: Path, profile: str, **over: dict[str, Any]) -> Params:
    """The parameters of a profile, with values of experiments changed; written in a folder."""
    values, path = read_yaml(FILE), folder / "params.yaml"
    for name, block in over.items():
        values[name][profile] = deep_merge(values[name][profile], block)
    path.write_text(json.dumps(values))
    return load_params(path, profile)


def missing(params: Params, root: Path) -> dict[tuple[str, str], int]:
    """How many replicas are to be trained, by experiment and mechanism."""
    found = {}
    for name, config in params.experiments.items():
        for mechanism in config.mechanisms:
            wanted = {sha256: each for each, sha256 in hashes(params, name, mechanism).items()}
            if count := len(missing_of(params, name, root, {mechanism: wanted})):
                found[name, mechanism] = count
    return found
