"""A cell of torch, or any step of the user, as a cell that ponders."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from pondering.model.cells.base import State

Step = Callable[[Tensor, State], Sequence[Tensor]]


class Adapted(nn.Module):
    """One ponder step by an `nn.RNNCell`, `nn.GRUCell` or `nn.LSTMCell`, or by a callable.

    Such a network is a single one, with inputs (T, B, D) floats, and takes the readable path. A
    `Sweep` can stack networks around a callable; `Mapped` maps it.

    Args:
        step: the cell; or, with `state_sizes`, a function from (inputs (B, E), state) to the new
            state, a tuple of (B, H) tensors; the heads read the first.
        state_sizes: H of each part of the state; None: those of torch's cell.
        first_step_flag: whether a further input is 1 at step 1 and 0 later (Graves 2016, Sec. 2).
            With it E = D + 1, without it E = D.

    Raises:
        TypeError: `state_sizes` is None and `step` is not a cell of torch.
    """

    def __init__(
        self,
        step: nn.RNNCellBase | Step,
        state_sizes: Sequence[int] | None = None,
        first_step_flag: bool = True,
    ) -> None:
        super().__init__()
        if isinstance(step, nn.RNNCellBase):
            parts = 2 if isinstance(step, nn.LSTMCell) else 1
            state_sizes = (step.hidden_size,) * parts
        elif state_sizes is None:
            raise TypeError("state_sizes: missing; only torch's cells have them")
        self.inner = step
        self.state_sizes = tuple(state_sizes)
        self.first_step_flag = first_step_flag

    def embed(self, x: Tensor) -> Tensor:
        """The inputs themselves, (B, D); each step reads them."""
        return x

    def step(self, drive: Tensor, state: State, first: bool) -> State:
        """s^n from x and s^(n-1).

        Args:
            drive: x, (B, D).
            state: tensors (B, H).
            first: whether n = 1.
        """
        if self.first_step_flag:
            drive = torch.cat([drive, drive.new_full((*drive.shape[:-1], 1), float(first))], -1)
        if isinstance(self.inner, nn.RNNCellBase) and len(state) == 1:
            return (self.inner(drive, state[0]),)
        return tuple(self.inner(drive, state))
