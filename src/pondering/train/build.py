"""From a configuration to live objects: halting mechanism, stacked network, device."""

from __future__ import annotations

from collections.abc import Sequence
from pkgutil import resolve_name
from typing import Any

import torch

from pondering.model.cells import CELLS
from pondering.model.halting import Halting
from pondering.model.initial import glorot
from pondering.model.network import Network
from pondering.model.paths import PathName
from pondering.model.stacking import stack
from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import Replica
from pondering.params.schema import ExperimentConfig
from pondering.project.errors import UserError
from pondering.tasks.base import Task
from pondering.train.plateau import Plateau
from pondering.train.trainer import Schedule, Trainer


def make_trainer(
    config: ExperimentConfig,
    task: Task,
    replicas: Sequence[Replica],
    device: torch.device | str = "cpu",
    path: PathName = "compiled",
) -> Trainer:
    """An untrained sweep.

    Args:
        replicas: K of one mechanism.
        path: which of `model.paths` computes an update.

    Raises:
        UserError: values that task, cell or mechanism refuse.
    """
    network = make_network(config, task, replicas, device)
    network.path = path
    mechanism, training = replicas[0].mechanism, config.training
    schedule = Schedule(
        config.updates(mechanism),
        training.batch,
        config.learning_rate(mechanism),
        training.clip,
        training.log_points,
        training.decay,
        training.halting_rate,
    )
    plateau = _plateau(config, task, len(replicas), device)
    return Trainer(network, task, replicas, schedule, plateau)


def _plateau(
    config: ExperimentConfig, task: Any, count: int, device: torch.device | str
) -> Plateau | None:
    values = config.training.validation
    if values is None:
        return None
    every = max(1, task.updates_per_epoch(config.training.batch) // values.per_epoch)
    batch = task.validation_batch().torch(device)
    return Plateau(batch, every, values.factor, values.patience, values.stop_patience, count)


def make_halting(
    config: ExperimentConfig,
    replicas: Sequence[Replica] | Replica,
    device: torch.device | str = "cpu",
) -> Halting:
    """The mechanism of one replica, or of K stacked replicas.

    Args:
        replicas: K of one mechanism. The setting becomes a tensor (K,), and so does an option that
            any of them has; words become a tuple of K.

    Raises:
        UserError: its entry names no class, or arguments that the class does not take.
        ValueError: a value that the class refuses.
    """
    one = isinstance(replicas, Replica)
    several = [replicas] if isinstance(replicas, Replica) else replicas
    mechanism = several[0].mechanism
    entry, block = MECHANISMS[mechanism], config.mechanism(mechanism)
    settings = [each.setting for each in several]
    setting = torch.tensor(settings[0] if one else settings, dtype=torch.float32, device=device)
    arguments = {name: value for name, value in block.arguments.items() if value is not None}
    named = {name for each in several for name, _ in each.options if name in entry.arguments}
    for name in sorted(named):
        values = [dict(each.options).get(name, arguments.get(name)) for each in several]
        arguments[name] = values[0] if one else _of_replicas(values, device)
    try:
        shared = {name: getattr(config.halting, name) for name in entry.shares}
        halting: Halting = resolve_name(entry.path)(**{entry.setting: setting} | shared | arguments)
    except (ImportError, AttributeError, TypeError) as error:
        raise UserError(f"src/pondering/params/mechanisms.py: {mechanism}: {error}") from None
    return halting


def _of_replicas(values: Sequence[Any], device: torch.device | str) -> Any:
    """The values of an argument of K replicas: numbers as (K,), words as a tuple; None is 0."""
    if isinstance(values[0], str):
        return tuple(values)
    numbers = [value or 0.0 for value in values]
    return torch.tensor(numbers, dtype=torch.float32, device=device)


def make_network(
    config: ExperimentConfig,
    task: Task,
    replicas: Sequence[Replica],
    device: torch.device | str = "cpu",
) -> Network:
    """A stacked network, each replica initialised under its own seed alone.

    Args:
        replicas: K of one mechanism. Replicas of one seed start from the same parameters, except
            for the halting unit's bias if an option sets it.
    """
    halting, usual = make_halting(config, replicas, device), config.halting.halt_bias
    starts = [(each.seed, float(dict(each.options).get("halt_bias", usual))) for each in replicas]
    solo = {start: _solo(config, task, halting, *start) for start in starts}
    return stack([solo[start] for start in starts], halting).to(device)


def _solo(
    config: ExperimentConfig, task: Task, halting: Halting, seed: int, halt_bias: float
) -> Network:
    generator = torch.Generator().manual_seed(seed)
    values = (task.input_size, config.network.hidden, config.halting.first_step_flag, generator)
    bias, reads = config.network.forget_bias, config.halting.reads
    more = {} if bias is None else {"forget_bias": bias}
    kind: Any = CELLS[config.network.cell]
    cell = kind(*values, **more)
    try:
        network = Network(cell, halting, task.output_size, halt_bias, generator, reads)
    except ValueError as error:
        raise UserError(f"params.yaml: halting.{error}") from None
    if config.network.init == "glorot":
        glorot(network, generator)
    return network


def pick_device(wanted: str) -> torch.device:
    """`auto`, `cpu` or `cuda` as a torch device.

    Raises:
        UserError: cuda was asked for and there is none.
    """
    available = torch.cuda.is_available()
    if wanted == "cuda" and not available:
        raise UserError("params.yaml: device: cuda, but torch finds no GPU; allowed: auto, cpu")
    return torch.device("cuda" if available and wanted != "cpu" else "cpu")
