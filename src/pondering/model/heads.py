"""The heads: the output y_n and the halting unit of a state."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Generator, Tensor, nn

from pondering.model.cells.base import Linear, State, uniform
from pondering.model.halting.contract import check_word

Reads = Literal["h", "state"]


class Heads(Linear):
    """y_n = W_y h_n + b_y (Graves 2016, Eq. 4) and the halting unit's logit (Eq. 5).

    One product gives both: rows 0 .. C-1 of the weight for y_n, row C for the halting unit.

    Args:
        sizes: the sizes of the state's parts; y_n reads the first, h.
        outputs: C.
        reads: what the halting unit reads: `h`, or the whole `state` ([h; c] of an LSTM). Graves
            does not say which.
        generator: source of the initial values.

    Raises:
        ValueError: another word for `reads`, or `state` where the state is h alone.
    """

    def __init__(
        self,
        sizes: tuple[int, ...],
        outputs: int,
        reads: Reads = "h",
        generator: Generator | None = None,
    ) -> None:
        super().__init__(sizes[0], outputs + 1, generator)
        check_word("reads", reads, Reads)
        self.rest: nn.Parameter | None = None  # (..., 1, the further parts' sizes)
        if reads == "state":
            if len(sizes) == 1:
                raise ValueError("reads: 'state' is not allowed; the cell's state is h alone")
            bound = 1 / math.sqrt(sizes[0])
            self.rest = nn.Parameter(uniform((1, sum(sizes[1:])), bound, generator))

    def read(self, state: State) -> tuple[Tensor, Tensor]:
        """y_n, (..., B, C), and the halting logit, (..., B), of a state (..., B, H) each."""
        both = self(state[0])
        logit = both[..., -1]
        if self.rest is not None:
            logit = logit + (torch.cat(state[1:], -1) * self.rest).sum(-1)
        return both[..., :-1], logit

    def halting_unit(self) -> tuple[nn.Parameter, ...]:
        """The parameters whose last row belongs to the halting unit."""
        shared = self.weight, self.bias
        return shared if self.rest is None else (*shared, self.rest)

    def halting_weight(self) -> Tensor:
        """The halting unit's weights of the state [h; ...], (..., H) or (..., sum of H)."""
        of_h = self.weight[..., -1, :]
        return of_h if self.rest is None else torch.cat([of_h, self.rest[..., 0, :]], -1)
