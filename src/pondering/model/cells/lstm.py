"""Long short-term memory, the cell of Graves's other tasks."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from pondering.model.cells.base import Recurrent, State


class LSTM(Recurrent):
    """Long short-term memory. Its state is the pair (h, c); ACT averages both.

    Args:
        inputs, hidden, first_step_flag, generator: as in `Recurrent`.
        forget_bias: initial bias of the forget gate; None: drawn like the other biases.
            Jozefowicz et al. 2015, Secs. 2 and 3: 1.

    Source: Graves 2016, Secs. 3.2-3.5; gates in torch's order i, f, g, o, without peepholes.
    """

    gates = 4

    def __init__(
        self,
        inputs: int,
        hidden: int,
        first_step_flag: bool = True,
        generator: Generator | None = None,
        forget_bias: float | None = None,
    ) -> None:
        super().__init__(inputs, hidden, first_step_flag, generator)
        self.state_sizes = (hidden, hidden)
        self.forget_bias = forget_bias
        self.set_biases()

    @torch.no_grad()
    def set_biases(self) -> None:
        """Set the forget gate's bias, unless it is None."""
        if self.forget_bias is not None:
            self.input.bias[self.hidden : 2 * self.hidden] = self.forget_bias

    def step(self, drive: Tensor, state: State, first: bool) -> State:
        """One step of (h, c), each (..., B, H)."""
        i, f, g, o = self.driven(drive, state[0], first).chunk(4, -1)
        c = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c
