"""The members of a cell, and the layers that the cells here share.

Every product runs over the last two axes, (rows, features). A parameter may have leading replica
axes, written `...`; then inputs and states have them too. So stacked replicas (`stacking.stack`)
need no second version of a cell.

A cell has three members, and any module with them can ponder:

- `embed(x)`: the part of a step that depends on the input alone, computed once per input;
- `step(drive, state, first)`: the next state, a tuple of (..., B, H) tensors; `first` says whether
  this is ponder step 1, where Graves's binary flag is set (Sec. 2);
- `state_sizes`: the feature size of each tensor of the state; the heads see the first one.

Two optional members serve `initial.glorot`:

- `matrices()`: the matrices of weights, each a list of parts, side by side: (rows, columns), or
  filters (out, in, height, width);
- `set_biases()`: set the biases that do not start at zero.
"""

from __future__ import annotations

import math
from typing import Protocol

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional

State = tuple[Tensor, ...]


class Cell(Protocol):
    """The members that the network calls; see the module's description."""

    @property
    def state_sizes(self) -> tuple[int, ...]:
        """The feature size of each tensor of the state."""
        ...

    def embed(self, x: Tensor) -> Tensor:
        """Map inputs (..., B, D) to what each step needs of them (..., B, E)."""
        ...

    def step(self, drive: Tensor, state: State, first: bool) -> State:
        """One ponder step for rows (..., B)."""
        ...


class Linear(nn.Module):
    """y = W x + b over rows, with optional leading replica axes on W and b.

    Args:
        inputs: size of x.
        outputs: size of y.
        generator: source of the initial values, uniform in +-1/sqrt(inputs) as in torch.
    """

    def __init__(self, inputs: int, outputs: int, generator: Generator | None = None) -> None:
        super().__init__()
        bound = 1 / math.sqrt(inputs)
        self.weight = nn.Parameter(uniform((outputs, inputs), bound, generator))
        self.bias = nn.Parameter(uniform((outputs,), bound, generator))

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., B, inputs), or indices (..., B) of one-hot rows, to (..., B, outputs)."""
        if x.is_floating_point():
            return affine(x, self.weight, self.bias)
        return _rows_of(self.weight.mT, x) + self.bias.unsqueeze(-2)


def affine(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """x W^T + b for x (..., B, D), W (..., O, D), b (..., O), in one product."""
    if weight.dim() == 2:
        return functional.linear(x, weight, bias)
    return torch.baddbmm(bias.unsqueeze(-2), x, weight.mT)


def _rows_of(table: Tensor, index: Tensor) -> Tensor:
    """table[..., index, :] for a table (..., V, O) and indices (..., B).

    Raises:
        IndexError: an index outside 0 .. V - 1. A GPU does not check, to save a wait.
    """
    index = index.long()
    if table.dim() == 2:
        return functional.embedding(index, table)
    replicas, size, _ = table.shape
    if (
        index.device.type == "cpu"
        and index.numel()
        and not 0 <= int(index.min()) <= int(index.max()) < size
    ):
        raise IndexError(f"one-hot index outside 0 .. {size - 1}")
    offset = torch.arange(replicas, device=index.device).unsqueeze(-1) * size
    return functional.embedding(index + offset, table.reshape(replicas * size, -1))


def uniform(shape: tuple[int, ...], bound: float, generator: Generator | None) -> Tensor:
    """Random numbers, uniform in +-bound."""
    return (torch.rand(shape, generator=generator) * 2 - 1) * bound


class Recurrent(nn.Module):
    """The parameters of the three classic cells: input, recurrent and flag weights.

    Args:
        inputs: D.
        hidden: H.
        first_step_flag: whether a further input is 1 at step 1 and 0 later (Graves 2016, Sec. 2).
        generator: source of the initial values, uniform in +-1/sqrt(H), W_x in +-1/sqrt(D).
    """

    gates: int  # rows of the weights by hidden unit

    def __init__(
        self,
        inputs: int,
        hidden: int,
        first_step_flag: bool = True,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        self.hidden = hidden
        self.state_sizes: tuple[int, ...] = (hidden,)
        bound = 1 / math.sqrt(hidden)
        rows = self.gates * hidden
        self.input = Linear(inputs, rows, generator)
        self.recurrent = nn.Parameter(uniform((rows, hidden), bound, generator))
        self.flag = nn.Parameter(uniform((rows,), bound, generator)) if first_step_flag else None

    def matrices(self) -> list[list[Tensor]]:
        """W_x with the flag's column, and W_s, of each gate."""
        by_gate = (self.gates, self.hidden, -1)
        columns = [part for part in (self.input.weight, self.flag) if part is not None]
        of_inputs = zip(*(part.view(by_gate).unbind() for part in columns), strict=True)
        return [*map(list, of_inputs), *([gate] for gate in self.recurrent.view(by_gate).unbind())]

    def embed(self, x: Tensor) -> Tensor:
        """W_x x + b, the same at every ponder step: (..., B, gates * H)."""
        projected: Tensor = self.input(x)
        return projected

    def flagged(self, drive: Tensor, first: bool) -> Tensor:
        """W_x [x; flag] + b: the drive with the flag's weights added at the first step."""
        return drive + self.flag.unsqueeze(-2) if first and self.flag is not None else drive

    def driven(self, drive: Tensor, hidden: Tensor, first: bool) -> Tensor:
        """W_x [x; flag] + W_s s + b in one product."""
        drive = self.flagged(drive, first)
        if self.recurrent.dim() == 2:
            return drive + torch.matmul(hidden, self.recurrent.mT)
        return torch.baddbmm(drive, hidden, self.recurrent.mT)
