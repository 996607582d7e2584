"""A project with tiny sweeps, trained by the stage itself, and `pondering show` run in it."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

import torch
from support import argv, stages, tiny

from pondering.evaluate.load import Trained, load_trained
from pondering.model.halting import PonderRecord
from pondering.params.read import load_params
from pondering.project.paths import Layout
from pondering.tasks import make_task
from pondering.train.stage import run as train

COMMON = """
    halting: {max_steps: 5, epsilon: 0.01, halt_bias: -1.0, first_step_flag: true}
    repeat: {rho: [1, 3]}
    act: {tau: [0.001, 0.1]}
    pondernet: {lambda_p: [0.3], beta: 0.01}
    training: {updates: 3, batch: 8, learning_rate: 0.01, log_points: 1}
    seeds: [0, 1]
    evaluation: {examples: 4, trace: {tau: 0.001}}
  quick: {}
  reduced: {}
  paper: {}
"""
HEAD = """
profile: quick
device: cpu
compute: {threads: 1, checkpoint_seconds: 100, insist: false}
defaults: {}
tasks: {}
download: {mirror: null, needs: {}, sets: {}}
"""
PARAMS = f"""{HEAD}
parity:
  common:
    task: {{name: parity, bits: 8, layout: leading, train_nonzero: [1, 8], test_nonzero: {{test: [1, 8]}}}}
    network: {{cell: tanh_rnn, hidden: 6}}{COMMON}
logic:
  common:
    task: {{name: logic, gates: 2, length: [1, 3], test_length: 3}}
    network: {{cell: gru, hidden: 6}}{COMMON}
mnist:
  common:
    task: {{name: digits, data: sklearn_digits, train_rotation: 0.0, test_rotations: [], test_angles: [], validation: 200}}
    network: {{cell: conv_mlp, hidden: 6}}{COMMON}
"""  # noqa: E501
TRAINED = (
    ("parity", "repeat"),
    ("parity", "act"),
    ("parity", "pondernet"),
    ("logic", "act"),
    ("mnist", "pondernet"),
)


SIGNS = "+-+0+"


@cache
def trained() -> Path:
    """The project's folder; to be copied, not written to."""
    torch.set_num_threads(1)
    root = stages.temporary()
    (root / "params.yaml").write_text(PARAMS)
    params = tiny.freeze_all(root)
    for experiment, mechanism in TRAINED:
        train(params, experiment, root, (mechanism,))
    return root


shown, refused = partial(argv.shown, "show"), partial(argv.refused, "show")


def stacked(root: Path, experiment: str, mechanism: str, text: str) -> tuple[Trained, PonderRecord]:
    """All replicas on one input, without any of the code under test."""
    params = load_params(root / "params.yaml")
    task = make_task(params.experiment(experiment).task, experiment)
    found = load_trained(Layout(root, "quick"), params, experiment, mechanism, task)
    batch = task.parse(text).torch().replicate(len(found.replicas))
    found.network.path = "readable"
    with torch.no_grad():
        return found, found.network(batch.inputs, batch.mask)
