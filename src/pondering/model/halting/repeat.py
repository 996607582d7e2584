"""The baseline: every input gets the same number of steps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import torch
from torch import Tensor

from pondering.model.halting.contract import (
    Halting,
    HaltingState,
    Setting,
    check_number,
    halt_at,
    per_row,
)


@dataclass(frozen=True)
class FixedRepeat(Halting):
    """Every input gets rho steps; output and state are those of the last step.

    rho = 1 is the plain network ("without ACT"). The loss is the score of the last output.

    Args:
        rho: steps of every input, a whole number from 1 on, or (K,).

    Raises:
        ValueError: rho is not a whole number from 1 on.

    Source: Fojo et al. 2018, Repeat-RNN.
    """

    rho: Setting
    learns: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_number("rho", self.rho, "[1, inf)", whole=True)

    @cached_property
    def max_steps(self) -> int:  # type: ignore[override]
        """The largest rho."""
        return int(torch.as_tensor(self.rho).max())

    def step(self, n: int, halt_logit: Tensor, state: HaltingState) -> tuple[Tensor, HaltingState]:
        """p_n = 1 at n = rho; the halting logit is ignored."""
        last = per_row(self.rho, halt_logit) <= n
        return halt_at(n, state.running & last, halt_logit, state)
