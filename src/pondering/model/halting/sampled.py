"""PonderNet in evaluation: halting is sampled, one step at a time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Generator, Tensor

from pondering.model.halting.contract import (
    Halting,
    HaltingState,
    Setting,
    counters,
    halt_at,
    per_row,
    zeros,
)


@dataclass(frozen=True)
class SampledState(HaltingState):
    """The progress of each row, its random number and its survival; all (..., B)."""

    draw: Tensor  # u, uniform in [0, 1) given that the row has not halted
    survival: Tensor  # prod (1 - lambda_j): the probability of not having halted yet


@dataclass(frozen=True)
class SampledHalting(Halting):
    """PonderNet in evaluation: at each step a row halts with probability lambda_n.

    All weight is on the halting step: its output is the prediction, and on sequences its state
    crosses to the next input. Each row has one uniform draw u per input. The row halts at the first
    n at which the cumulated p_n exceeds u. Row b has the same draw in every replica, so a replica's
    steps do not depend on its neighbours. As in training, a row halts at `max_steps`, and once the
    survival is below `epsilon`.

    One generator gives the draws of a pass, row after row. The same seed with another batch size
    gives other steps. For draws that belong to a row, pass each row alone:
    `network(inputs[:, b : b + 1], generator=torch.Generator().manual_seed(b))`.

    Args:
        max_steps: N.
        generator: source of the draws; None: torch's default one.
        epsilon: as PonderNet's; None: rows halt by their draws alone.

    Source: Banino 2021, Sec. 2.5. Deviation: the paper has epsilon in training alone (Sec. 2.3).
    """

    max_steps: int
    generator: Generator | None = None
    epsilon: Setting | None = None
    learns: ClassVar[bool] = False

    def start(self, running: Tensor) -> SampledState:
        """Draw u for each of the rows (..., B)."""
        draw = torch.rand(running.shape[-1], generator=self.generator).to(running.device)
        return SampledState(*counters(running), draw.expand(running.shape), zeros(running) + 1)

    def step(self, n: int, halt_logit: Tensor, state: SampledState) -> tuple[Tensor, SampledState]:
        """Halt with probability lambda_n; every row halts at `max_steps`."""
        u, lambda_n = state.draw, torch.sigmoid(halt_logit)
        halts, survival = u < lambda_n, state.survival * (1 - lambda_n)
        if n == self.max_steps:
            halts = torch.ones_like(halts)
        elif self.epsilon is not None:
            halts = halts | (survival < per_row(self.epsilon, survival))
        draw = (u - lambda_n) / (1 - lambda_n)  # uniform again, given that n did not halt
        after = replace(state, draw=draw, survival=survival)
        return halt_at(n, state.running & halts, halt_logit, after)

    def at_inference(self, generator: Generator | None = None) -> SampledHalting:
        """The same rule with another generator."""
        return replace(self, generator=generator)
