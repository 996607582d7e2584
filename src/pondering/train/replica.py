"""A replica's hash, of all that decides its numbers, and its file of that name.

A finished replica lies at `data/replicas/HASH.safetensors`, its parameters and its curve in it.
Nothing here loads torch, so a stage that finds all its replicas there takes no time.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from pondering.params.mechanisms import MECHANISMS, Shared
from pondering.params.replica import Replica
from pondering.params.schema import ExperimentConfig, Params
from pondering.project.atomic import atomic_write
from pondering.project.errors import UserError
from pondering.project.provenance import hash_values
from pondering.tasks import TASKS
from pondering.train import program

Array = NDArray[Any]
ByHash = Mapping[str, Replica]
SHARED = {*get_args(Shared)}  # of the halting block
OF_THE_UNIT = {"halt_bias", "reads", "halting_rate"}  # read where the halting unit learns
DRAWN = "drawn online"  # the data hash of a task that reads no file


def by_hash(params: Params, experiment: str, mechanism: str) -> dict[str, Replica]:
    """The replicas that an experiment trains with a mechanism, by hash, settings outermost.

    A hash covers the values that the replica reads, the declared sha256 of its data, and the
    program. Path and device do not enter: they change last digits, and each file records its own.
    """
    config = params.experiment(experiment)
    names = config.task["name"], config.network.cell, mechanism
    common = [data_hash(params, config), program.parts(*names, draws=config.training.draws)]
    return {
        hash_values([values(config, each), *common]): each for each in config.replicas(mechanism)
    }


def data_hash(params: Params, config: ExperimentConfig) -> str:
    """The declared sha256 of the files that a task reads; its values name them: `data: mnist`."""
    sets = params.download.sets
    named = [each for each in config.task.values() if isinstance(each, str) and each in sets]
    found = sorted(file.sha256 for name in named for file in sets[name].files.values())
    return hash_values(found) if found else DRAWN


def values(config: ExperimentConfig, replica: Replica) -> dict[str, Any]:
    """The values that a replica reads, where they differ from their first defaults.

    So a new field with a default changes no hash, nor does a value that the mechanism does not
    read, nor a `test_...` of the task, which is for evaluation.
    """
    kind = TASKS.get(config.task["name"])
    usual = {name: getattr(kind, name) for name in config.task if hasattr(kind, name)}
    task = {
        name: value
        for name, value in config.task.items()
        if not name.startswith("test_")
        and (name not in usual or json.dumps(value) != json.dumps(usual[name], default=str))
    }
    mechanism, options = replica.mechanism, dict(replica.options)
    entry, block = MECHANISMS[mechanism], config.mechanism(mechanism)
    halting = config.halting.model_dump(mode="json", exclude_defaults=True)
    if "halt_bias" in options:
        halting["halt_bias"] = options.pop("halt_bias")
    unread = (SHARED - {*entry.shares}) | (set() if entry.learns else OF_THE_UNIT)
    arguments = {
        name: value
        for name, value in (dict(block.arguments) | options).items()
        if value is not None and (name in entry.shares or value != entry.arguments[name][1])
    }
    training = config.training.model_dump(mode="json", exclude_defaults=True) | {
        "updates": config.updates(mechanism),
        "learning_rate": config.learning_rate(mechanism),
    }
    return {
        "task": task,
        "network": config.network.model_dump(mode="json", exclude_defaults=True),
        "mechanism": mechanism,
        "halting": {n: each for n, each in halting.items() if n not in unread} | arguments,
        "training": {n: each for n, each in training.items() if n not in unread},
        entry.setting: replica.setting,
        "seed": replica.seed,
    }


class Finished(NamedTuple):
    """A replica after its last update.

    Args:
        parameters: by name.
        curve: (points, 6): update, loss, error, ponder time, remainder, computed steps.
        status: finished or diverged.
        record: where its numbers come from.
    """

    parameters: Mapping[str, Array]
    curve: Array
    status: str
    record: dict[str, Any]


def file_of(root: Path, sha256: str) -> Path:
    """Where a finished replica's file lies: in the outermost DVC project around `root`.

    `dvc exp run --temp` works in a copy of the project within it, and finds its replicas so.
    """
    root = root.absolute()
    projects = [each for each in (root, *root.parents) if (each / "dvc.yaml").is_file()]
    return (projects or [root])[-1] / "data" / "replicas" / f"{sha256}.safetensors"


def write(path: Path, done: Finished) -> None:
    """Write a replica's file in one step.

    Raises:
        OSError: it cannot be written; a file that was there is unchanged.
    """
    tensors = {f"parameter.{name}": array for name, array in done.parameters.items()}
    said = {"status": done.status, "record": json.dumps(done.record)}
    atomic_write(path, save(tensors | {"curve": done.curve}, said))


def stack(parameters: Sequence[Mapping[str, Array]]) -> bytes:
    """The parameters of K replicas as one safetensors file, (K, ...) each."""
    names = parameters[0] if parameters else ()
    stacks = {name: np.stack([each[name] for each in parameters]) for name in names}
    return save(stacks, {"replicas": str(len(parameters))})


def read(path: Path) -> Finished | None:
    """Read a replica's file; None if there is none.

    Raises:
        UserError: it is damaged.
    """
    if not path.is_file():
        return None
    tensors, said = read_tensors(path, "numpy")
    try:
        curve = tensors.pop("curve")
        parameters = {n.removeprefix("parameter."): each for n, each in tensors.items()}
        return Finished(parameters, curve, said["status"], json.loads(said["record"]))
    except (KeyError, ValueError) as error:
        raise UserError(f"{path}: truncated or damaged ({error}); delete it") from None


def read_tensors(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, str]]:
    """All tensors of a safetensors file and its metadata.

    Args:
        kind: numpy or pt.

    Raises:
        UserError: missing, truncated or damaged.
    """
    try:
        with safe_open(path, framework=kind) as file:
            names = list(file.keys())
            return {name: file.get_tensor(name) for name in names}, file.metadata() or {}
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run `dvc repro` first") from None
    except (SafetensorError, OSError) as error:
        raise UserError(f"{path}: truncated or damaged ({error}); delete it") from None
