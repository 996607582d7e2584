"""Stacks of trained replicas, read back for the evaluation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import torch

from pondering.model.network import Network
from pondering.params.read import Params
from pondering.params.replica import Replica
from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.tasks.base import Task
from pondering.train import checkpoint
from pondering.train.build import make_network
from pondering.train.replica import agrees


class Trained(NamedTuple):
    """The replicas of one mechanism, as a training stage left them."""

    network: Network
    replicas: list[Replica]
    status: list[str]

    @property
    def mechanism(self) -> str:
        """Theirs."""
        return self.replicas[0].mechanism


def recorded(path: Path, mechanism: str) -> tuple[list[tuple[Replica, str]], Any]:
    """A run's replicas with their status, and the parameters that it was trained with.

    Args:
        path: its `run.json`.
        mechanism: that of the replicas.

    Raises:
        ValueError: damaged.
    """
    record = json.loads(path.read_text(encoding="utf-8"))
    try:
        replicas = [
            (Replica.of_record(mechanism, each), str(each["status"])) for each in record["replicas"]
        ]
        return replicas, record["config"]
    except (KeyError, TypeError, OverflowError, AttributeError) as error:
        raise ValueError(f"{path}: damaged") from error


def load_trained(
    layout: Layout,
    params: Params,
    experiment: str,
    mechanism: str,
    task: Task,
    device: torch.device | str = "cpu",
) -> Trained:
    """Read trained replicas back.

    Raises:
        UserError: missing, damaged, or trained with other parameters than these.
    """
    config, folder = params.experiment(experiment), layout.run(experiment, mechanism)
    path = folder / "run.json"
    stage = f"dvc repro {params.training(experiment)}"
    try:
        found, values = recorded(path, mechanism)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file; run `{stage}` first") from None
    except ValueError:
        raise UserError(f"{path}: damaged; run `{stage}` again") from None
    replicas = [replica for replica, _ in found]
    if not agrees(values, config, mechanism):
        raise UserError(f"{path}: trained with other parameters than params.yaml; run `{stage}`")
    planned = config.replicas(mechanism)  # all of them, or of a fresh clone one, in their order
    if not replicas or replicas != [each for each in planned if each in replicas]:
        raise UserError(f"{path}: damaged; run `{stage}` again")
    tensors, _ = checkpoint.read(folder / "parameters.safetensors")
    network = make_network(config, task, replicas, device)
    try:
        network.load_state_dict(tensors)
    except RuntimeError:
        where = folder / "parameters.safetensors"
        raise UserError(f"{where}: of another configuration; run `{stage}` again") from None
    return Trained(network, replicas, [status for _, status in found])
