"""PonderNet when evaluated: halting by chance, one step at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Generator, Tensor

from pondering.model.halting.contract import (
    HaltingState,
    MeanField,
    Pondered,
    Score,
    Setting,
    per_row,
    where_present,
    zeros,
)


@dataclass(frozen=True)
class SampledState(HaltingState):
    """Where each row stands, its random number, how likely it was to get there; all (..., B)."""

    draw: Tensor  # u, uniform in [0, 1) given that the row has not halted
    survival: Tensor  # prod (1 - lambda_j): the probability of not having halted yet


@dataclass(frozen=True)
class SampledHalting(MeanField):
    """PonderNet when evaluated: at each step a row halts with probability lambda_n.

    All the weight falls on the halting step: its output is the prediction and, on sequences, its
    state is handed on. Each row has one uniform draw u per input: it halts at the first n at which
    the cumulated p_n exceeds u. Row b's draw is the same in every replica, so that a replica's
    steps depend neither on its neighbours nor on which rows are still computed. As in training, a
    row halts at `max_steps`, and once less than `epsilon` is left, if that is not None.

    The draws of a pass come from one generator, row after row. So the same seed with another batch
    size draws other steps. For draws that belong to a row, pass each row by itself:
    `network(inputs[:, b : b + 1], generator=torch.Generator().manual_seed(b))`.

    Source: Banino 2021, Sec. 2.5. Deviation: the paper has epsilon in training alone (Sec. 2.3).
    """

    max_steps: int
    generator: Generator | None = None
    epsilon: Setting | None = None  # as PonderNet's: a row halts once less than that is left
    scores_every_step: ClassVar[bool] = False
    learns: ClassVar[bool] = False

    def start(self, running: Tensor) -> SampledState:
        """Draw u for each of the rows (..., B)."""
        draw = torch.rand(running.shape[-1], generator=self.generator).to(running.device)
        counters = zeros(running), zeros(running), zeros(running)
        return SampledState(running, *counters, draw.expand(running.shape), zeros(running) + 1)

    def step(self, n: int, halt_logit: Tensor, state: SampledState) -> tuple[Tensor, SampledState]:
        """Halt with probability lambda_n; every row halts at `max_steps`."""
        running, u = state.running, state.draw
        lambda_n = torch.sigmoid(halt_logit)
        halts, survival = u < lambda_n, state.survival * (1 - lambda_n)
        if n == self.max_steps:
            halts = torch.ones_like(halts)
        elif self.epsilon is not None:
            halts = halts | (survival < per_row(self.epsilon, survival))
        weight = (running & halts).to(halt_logit.dtype)
        return weight, replace(
            state,
            running=running & ~halts,
            steps=state.steps + running,
            expected_steps=state.expected_steps + n * weight,
            draw=(u - lambda_n) / (1 - lambda_n),  # uniform again, given that n did not halt
            survival=survival,
        )

    def objective(self, score: Score, pondered: Pondered) -> Tensor:
        """The score of the sampled output."""
        return where_present(score(pondered.mixture), pondered)

    def at_inference(self, generator: Generator | None = None) -> SampledHalting:
        """The same rule with another generator."""
        return replace(self, generator=generator)
