"""One input through a trained network, with what every ponder step would answer."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import torch
from torch import Generator

from pondering.model.halting import SampledHalting
from pondering.model.network import Network
from pondering.tasks.base import Batch, Task


@dataclass(frozen=True)
class Pondering:
    """The steps of a network over one input vector.

    Attributes:
        input, target, answer: in words, as the task describes them.
        scored: whether there is a target to be right about.
        steps: those taken; the expected ones, sum of n p_n, where halting is sampled.
        probabilities: p_1 ... p_N, the weights of the steps.
        answers: what the output of each step alone says, N of them.
    """

    input: str
    target: str
    answer: str
    scored: bool
    steps: float
    probabilities: tuple[float, ...]
    answers: tuple[str, ...]


@torch.no_grad()
def ponder(network: Network, task: Task, batch: Batch) -> list[Pondering]:
    """Run one example and keep all its steps.

    A mechanism that samples its halting step computes all steps here, with their probabilities.

    Args:
        network: without replica axis.
        batch: tensors (T, 1, ...).

    Returns:
        one `Pondering` per input vector.
    """
    halting = network.halting.at_inference(Generator())
    sampled = isinstance(halting, SampledHalting)
    if sampled:
        halting = network.halting
    watched = copy(halting)
    object.__setattr__(watched, "scores_every_step", True)  # all outputs are kept; it is frozen
    record = network(batch.inputs, batch.mask, halting=watched, path="readable")
    words = task.describe(halting.predict(record), batch, 0)
    by_step = [task.describe(outputs, batch, 0) for outputs in record.outputs]
    found = []
    for t, each in enumerate(words):
        steps = int(record.ponder_time[t, 0])
        taken = float(record.expected_steps[t, 0]) if sampled else steps
        found.append(
            Pondering(
                each["input"],
                each["target"],
                each["prediction"],
                bool(batch.scored[t, 0]),
                taken,
                tuple(record.weights[:steps, t, 0].tolist()),
                tuple(step[t]["prediction"] for step in by_step[:steps]),
            )
        )
    return found
