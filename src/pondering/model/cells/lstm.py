"""Long short-term memory, the cell of Graves's other tasks."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from pondering.model.cells.base import Recurrent, State


class LSTM(Recurrent):
    """Long short-term memory; its state is the pair (h, c), both averaged by ACT.

    Source: Graves 2016, Secs. 3.2-3.5; gates in torch's order i, f, g, o, without peepholes.
    """

    gates = 4

    def __init__(
        self,
        inputs: int,
        hidden: int,
        first_step_flag: bool = True,
        generator: Generator | None = None,
    ) -> None:
        super().__init__(inputs, hidden, first_step_flag, generator)
        self.state_sizes = (hidden, hidden)

    def step(self, drive: Tensor, state: State, first: bool) -> State:
        """One step of (h, c), each (..., B, H)."""
        i, f, g, o = self.driven(drive, state[0], first).chunk(4, -1)
        c = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c
