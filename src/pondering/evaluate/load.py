"""What a training stage has left of an experiment's replicas."""

from __future__ import annotations

import json
from typing import NamedTuple

from pondering.model.network import Network
from pondering.params.replica import Replica
from pondering.params.schema import Params
from pondering.project.errors import UserError
from pondering.train.replica import by_hash


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
