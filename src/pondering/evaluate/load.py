"""Stacks of trained replicas, read back for the evaluation."""

from __future__ import annotations

import json
from typing import NamedTuple

import torch

from pondering.model.network import Network
from pondering.params.read import Params
from pondering.params.replica import Replica
from pondering.project.errors import UserError
from pondering.tasks.base import Task
from pondering.train.build import make_network
from pondering.train.replica import by_hash, read_tensors


class Trained(NamedTuple):
    """The replicas of one mechanism, as a training stage left them."""

    network: Network
    replicas: list[Replica]
    status: list[str]

    @property
    def mechanism(self) -> str:
        """Theirs."""
        return self.replicas[0].mechanism


def trained_here(params: Params, experiment: str, mechanism: str) -> dict[Replica, str]:
    """The status of each replica whose network is here, in the order of their stack.

    Raises:
        UserError: the mechanism was not trained, or with other values or another program.
    """
    path = params.layout.run(experiment, mechanism) / "run.json"
    planned = by_hash(params, experiment, mechanism)
    todo = params.training(experiment)
    if not path.is_file():
        raise UserError(f"{path}: no such file; run `{todo}` first")
    replicas = json.loads(path.read_text(encoding="utf-8"))["replicas"]
    if not all(each["key"] in planned for each in replicas):
        raise UserError(f"{path}: trained with other values or another program; run `{todo}`")
    return {planned[each["key"]]: each["status"] for each in replicas}


def load_trained(
    params: Params,
    experiment: str,
    mechanism: str,
    task: Task,
    device: torch.device | str = "cpu",
) -> Trained:
    """Read trained replicas back.

    Raises:
        UserError: as of `trained_here`; or there are none, or their file is damaged.
    """
    status = trained_here(params, experiment, mechanism)
    if not status:
        todo = params.training(experiment)
        raise UserError(f"{experiment}: no trained {mechanism} is here; run `{todo}` first")
    path = params.layout.run(experiment, mechanism) / "parameters.safetensors"
    network = make_network(params.experiment(experiment), task, list(status), device)
    network.load_state_dict(read_tensors(path, "pt")[0])
    return Trained(network, list(status), list(status.values()))
