"""The gated recurrent unit of public PonderNet code."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor, nn

from pondering.model.cells.base import Recurrent, State, uniform


class GRU(Recurrent):
    """Gated recurrent unit, gates in torch's order r, z, n; the candidate has a recurrent bias.

    Args: as in `Recurrent`.

    Source: public parity implementations of Banino 2021, in place of the plain RNN.
    """

    gates = 3

    def __init__(
        self,
        inputs: int,
        hidden: int,
        first_step_flag: bool = True,
        generator: Generator | None = None,
    ) -> None:
        super().__init__(inputs, hidden, first_step_flag, generator)
        self.candidate_bias = nn.Parameter(uniform((hidden,), 1 / math.sqrt(hidden), generator))

    def step(self, drive: Tensor, state: State, first: bool) -> State:
        """One step of h (..., B, H)."""
        (h,) = state
        drive = self.flagged(drive, first)
        recurrent = torch.matmul(h, self.recurrent.mT)
        gates = torch.sigmoid(drive[..., : 2 * self.hidden] + recurrent[..., : 2 * self.hidden])
        r, z = gates.chunk(2, -1)
        candidate = recurrent[..., 2 * self.hidden :] + self.candidate_bias.unsqueeze(-2)
        n = torch.tanh(drive[..., 2 * self.hidden :] + r * candidate)
        return (n + z * (h - n),)
