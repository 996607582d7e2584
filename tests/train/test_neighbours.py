"""A replica trains to the same bits, however many replicas train beside it.

Sizes are multiples of `LANES`; with other sizes the position in memory changes the rounding.
"""

from __future__ import annotations

import pytest
import torch
from support import tiny

from pondering.params.schema import ExperimentConfig
from pondering.train.path import LANES

CUTS = ((0, 1), (1, 3), (3, 6))
OF_ONE_CLASS = ("certainty", "dact")  # they refuse sums, which have several softmaxes
TASKS = {
    "vectors": ("tanh_rnn", {}),
    "sequences": ("lstm", {"name": "addition", "digits": 1, "length": [1, 9], "test_length": 2}),
}


def config(kind: str, path: str) -> ExperimentConfig:
    """Six replicas whose gradients are clipped at every update."""
    training = {"updates": 8, "batch": LANES[path], "log_points": 2, "clip": 0.01}
    cell, task = TASKS[kind]
    network = {"hidden": 3 * LANES[path], "cell": cell}
    return tiny.config(seeds=[0, 7, 2], training=training, network=network, task=task)


CASES = [
    (kind, name, path)
    for kind in TASKS
    for name, path in tiny.PATHS
    if kind == "vectors" or name not in OF_ONE_CLASS
]


@pytest.mark.parametrize(("kind", "mechanism", "path"), CASES)
def test_a_part_of_a_stack_trains_as_the_whole(kind: str, mechanism: str, path: str) -> None:
    values = config(kind, path)
    replicas = list(values.replicas(mechanism))
    assert len(replicas) == 6
    whole = tiny.sweep(values, mechanism)
    whole.network.path = path
    curves = torch.stack(tiny.train(whole).curves)
    assert len(curves) == 2
    for first, last in CUTS:
        part = tiny.sweep(values, mechanism, replicas[first:last])
        part.network.path = path
        assert torch.stack(tiny.train(part).curves).equal(curves[:, first:last])
        for name, parameter in part.parameters.items():
            assert parameter.equal(whole.parameters[name][first:last]), name
