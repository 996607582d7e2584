"""The baseline: every input gets the same number of steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
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
    refuse_unless,
    where_present,
)


@dataclass(frozen=True)
class FixedRepeat(MeanField):
    """Every input is processed rho times; output and state are the last ones.

    rho = 1 is the plain network ("without ACT").

    Args:
        rho: steps of every input, from 1 on; in a stack one for each network.

    Raises:
        ValueError: rho is no whole number from 1 on.

    Source: Fojo et al. 2018, Repeat-RNN.
    """

    rho: Setting
    scores_every_step: ClassVar[bool] = False
    learns: ClassVar[bool] = False

    def __post_init__(self) -> None:
        rho = torch.as_tensor(self.rho)
        whole = (rho >= 1) & (rho == rho.round()) & rho.isfinite() & (rho.dtype != torch.bool)
        refuse_unless(whole, "rho", self.rho, "a whole number from 1 on")

    @cached_property
    def max_steps(self) -> int:
        """The largest rho."""
        return int(torch.as_tensor(self.rho).max())

    def step(self, n: int, halt_logit: Tensor, state: HaltingState) -> tuple[Tensor, HaltingState]:
        """p_n = 1 at n = rho; the halting logit is ignored."""
        running = state.running
        last = torch.as_tensor(per_row(self.rho, halt_logit) <= n, device=running.device)
        weight = (running & last).to(halt_logit.dtype)
        return weight, replace(
            state,
            running=running & ~last,
            steps=state.steps + running,
            expected_steps=state.expected_steps + n * weight,
        )

    def objective(self, score: Score, pondered: Pondered) -> Tensor:
        """The score of the last output alone."""
        return where_present(score(pondered.mixture), pondered)

    def at_inference(self, generator: Generator | None = None) -> FixedRepeat:
        """The same: the count is fixed."""
        return self
