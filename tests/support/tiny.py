"""A project that trains in seconds: parity of three elements, two penalties, two seeds."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from ruamel.yaml import YAML
from torch import Tensor

from pondering.data.frozen import freeze
from pondering.params.mechanisms import MECHANISMS
from pondering.params.read import load_params
from pondering.params.replica import Replica
from pondering.params.schema import ExperimentConfig, Params
from pondering.tasks import make_task
from pondering.train.build import make_trainer
from pondering.train.plateau import Plateau
from pondering.train.replica import by_hash
from pondering.train.shard import Shard
from pondering.train.trainer import Trainer

BLOCK: dict[str, Any] = {
    "common": {
        "task": {"name": "parity", "layout": "leading"},
        "network": {"cell": "tanh_rnn"},
        "halting": {"epsilon": 0.01, "halt_bias": 0.0, "first_step_flag": True},
        "repeat": {"rho": [1, 2]},
        "pondernet": {"beta": 0.01},
    },
    "quick": {
        "task": {"bits": 3, "train_nonzero": [1, 3], "test_nonzero": {"test": [1, 3]}},
        "network": {"hidden": 16},
        "halting": {"max_steps": 4},
        "act": {"tau": [0.01, 0.1]},
        "pondernet": {"lambda_p": [0.3, 0.6]},
        "training": {
            "updates": 30, "batch": 8, "learning_rate": 0.01, "clip": 1.0, "log_points": 10,
        },
        "seeds": [0, 7],
        "evaluation": {"examples": 10, "trace": {"tau": 0.01, "sequences": 2}},
    },
}  # fmt: skip
DOCUMENT: dict[str, Any] = {
    "profile": "quick",
    "device": "cpu",
    "compute": {"threads": 1, "checkpoint_seconds": 0.2, "insist": False, "path": "fast"},
    "defaults": {},
    "tasks": {},
    "download": {
        "mirror": None,
        "needs": {"quick": []},
        "sets": {
            "words": {
                "mirror": ["words/{}"],
                "urls": ["https://example.org/{}"],
                "files": {"words/all.txt": {"bytes": 10, "sha256": "0" * 64}},
            }
        },
    },
    "tiny": BLOCK,
}


def document(**quick: Any) -> dict[str, Any]:
    """The parameters as plain data, with keys of the quick profile changed.

    A mapping changes single keys. A task with a name, such as `SUMS`, replaces parity.
    """
    whole = copy.deepcopy(DOCUMENT)
    block = whole["tiny"]["quick"]
    if "name" in quick.get("task", {}):
        whole["tiny"]["common"]["task"], block["task"] = {}, {}
    for key, value in quick.items():
        block[key] = block.get(key, {}) | value if isinstance(value, dict) else value
    whole["tiny"]["paper"] = copy.deepcopy(block)
    return whole


EXACT: dict[str, Any] = {"network": {"hidden": 32}, "training": {"batch": 32}}
"""Sizes at which a part of a sweep trains to the bits of the whole (`train.path.LANES`)."""
BEYOND: dict[str, Any] = {
    name: {entry.setting: [0.01, 0.1] if entry.setting == "tau" else [0.5, 1.0]}
    for name, entry in MECHANISMS.items()
    if name not in {**BLOCK["common"], **BLOCK["quick"]}
}
"""Blocks of the mechanisms that `DOCUMENT` lacks; `config` adds them."""
PATHS = [
    (name, path)
    for name in MECHANISMS
    for path in ("readable", "fast", "compiled")
    if path == "readable" or name in ("repeat", "act", "pondernet")
]
"""Each mechanism with the paths that it has."""
DIGITS: dict[str, Any] = {
    "name": "digits", "data": "sklearn_digits", "train_rotation": 0.0, "test_rotations": [],
    "test_angles": [], "validation": 200,
}  # fmt: skip
"""A task of images: upright digits of scikit-learn."""
SUMS: dict[str, Any] = {"name": "addition", "digits": 1, "length": [1, 3], "test_length": 2}
"""A task of sequences: one to three numbers of one digit."""


def write(folder: Path, values: dict[str, Any]) -> Path:
    """`params.yaml` in a folder, which is made where it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "params.yaml"
    with path.open("w", encoding="utf-8") as file:
        YAML().dump(values, file)
    return path


def config(**quick: Any) -> ExperimentConfig:
    """The tiny experiment, with a block for every mechanism."""
    with TemporaryDirectory() as folder:
        path = write(Path(folder), document(**BEYOND | quick))
        return load_params(path).experiment("tiny")


def sweep(
    values: ExperimentConfig,
    mechanism: str = "act",
    replicas: list[Replica] | None = None,
    plateau: Plateau | None = None,
) -> Trainer:
    """An untrained sweep of an experiment; by default all its replicas."""
    chosen = values.replicas(mechanism) if replicas is None else replicas
    found = make_trainer(values, make_task(values.task, "tiny"), chosen)
    found.plateau = plateau
    return found


def freeze_all(folder: Path) -> Params:
    """Freeze the evaluation sets of every experiment, as the stage `datasets` does."""
    params = load_params(folder / "params.yaml")
    layout = params.layout
    for name, values in params.experiments.items():
        frozen = layout.frozen(name)
        examples = values.evaluation.examples
        freeze(make_task(values.task, name, frozen), layout.raw, frozen, examples)
    return params


def shard(params: Params, mechanism: str = "act") -> Shard:
    """All replicas of a mechanism as one shard."""
    return Shard(params, "tiny", by_hash(params, "tiny", mechanism), torch.device("cpu"))


def train(sweep: Trainer, updates: int | None = None) -> Trainer:
    """Train to the end, or until `updates` are done."""
    sweep.run(lambda: updates is not None and sweep.update >= updates)
    return sweep


def same_bits(a: Mapping[str, Tensor], b: Mapping[str, Tensor]) -> None:
    """Assert that both hold the same names and equal tensors; NaN equals NaN."""
    assert a.keys() == b.keys()
    for name in a:
        torch.testing.assert_close(a[name], b[name], rtol=0, atol=0, equal_nan=True, msg=name)
