"""The plain recurrent network of both parity experiments."""

from __future__ import annotations

import torch
from torch import Tensor

from pondering.model.cells.base import Recurrent, State


class TanhRNN(Recurrent):
    """s' = tanh(W_x [x; flag] + W_s s + b).

    Args: as in `Recurrent`.

    Source: Graves 2016, Eq. 1 and Sec. 3.1 (parity); Banino 2021, Sec. 3.1.
    """

    gates = 1

    def step(self, drive: Tensor, state: State, first: bool) -> State:
        """One step of s (..., B, H)."""
        return (torch.tanh(self.driven(drive, state[0], first)),)
