"""Recurrent cells: one ponder step s^n = S(s^{n-1}, x^n), of one replica or of many stacked.

Every product runs over the last two axes, (rows, features). A parameter may carry leading replica
axes, written `...`, and then so do inputs and states; nothing else changes. This is why stacking
(`replicas.stack`) needs no second version of a cell and pays no overhead for a single one.

A cell has three members, and any module that has them can ponder:

- `embed(x)`: the part of a step that depends on the input alone, computed once per input;
- `step(drive, state, first)`: the next state, a tuple of (..., B, H) tensors; `first` says whether
  this is ponder step 1, where Graves's binary flag is set (Sec. 2.1);
- `state_sizes`: the feature size of each tensor of the state; the heads see the first one.
"""

from __future__ import annotations

import math
from typing import Protocol, runtime_checkable

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional

State = tuple[Tensor, ...]


@runtime_checkable
class Cell(Protocol):
    """What the network asks of a cell; see the module's description."""

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
        self.weight = nn.Parameter(_uniform((outputs, inputs), bound, generator))
        self.bias = nn.Parameter(_uniform((outputs,), bound, generator))

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., B, inputs), or indices (..., B) of one-hot rows, to (..., B, outputs)."""
        if x.is_floating_point():
            return affine(x, self.weight, self.bias)
        return _rows_of(self.weight.mT, x) + self.bias.unsqueeze(-2)


def affine(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """x W^T + b for x (..., B, D), W (..., O, D), b (..., O), in one product."""
    if weight.dim() == 3 and x.dim() == 3:
        return torch.baddbmm(bias.unsqueeze(-2), x, weight.mT)
    if weight.dim() == 2:
        return functional.linear(x, weight, bias)
    return torch.matmul(x, weight.mT) + bias.unsqueeze(-2)


def _rows_of(table: Tensor, index: Tensor) -> Tensor:
    """table[..., index, :] for a table (..., V, O) and indices (..., B)."""
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


def _uniform(shape: tuple[int, ...], bound: float, generator: Generator | None) -> Tensor:
    return (torch.rand(shape, generator=generator) * 2 - 1) * bound


class _Recurrent(nn.Module):
    """The parameters the three classic cells share: input, recurrent and flag weights."""

    gates: int

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
        self.recurrent = nn.Parameter(_uniform((rows, hidden), bound, generator))
        self.flag = nn.Parameter(_uniform((rows,), bound, generator)) if first_step_flag else None

    def embed(self, x: Tensor) -> Tensor:
        """W_x x + b, the same at every ponder step: (..., B, gates * H)."""
        projected: Tensor = self.input(x)
        return projected

    def _flagged(self, drive: Tensor, first: bool) -> Tensor:
        """Add the flag's weight at the first step: W_x [x; flag] + b."""
        return drive + self.flag.unsqueeze(-2) if first and self.flag is not None else drive

    def _driven(self, drive: Tensor, hidden: Tensor, first: bool) -> Tensor:
        """W_x [x; flag] + W_s s + b in one product."""
        drive = self._flagged(drive, first)
        if drive.dim() == 3 and self.recurrent.dim() == 3:
            return torch.baddbmm(drive, hidden, self.recurrent.mT)
        return drive + torch.matmul(hidden, self.recurrent.mT)


class TanhRNN(_Recurrent):
    """s' = tanh(W_x [x; flag] + W_s s + b).

    Source: Graves 2016, Eq. 1 and Sec. 3.1 (parity); Banino 2021, Sec. 3.1.
    """

    gates = 1

    def step(self, drive: Tensor, state: State, first: bool) -> State:
        """One step of s (..., B, H)."""
        return (torch.tanh(self._driven(drive, state[0], first)),)


class LSTM(_Recurrent):
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
        i, f, g, o = self._driven(drive, state[0], first).chunk(4, -1)
        c = torch.sigmoid(f) * state[1] + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


class GRU(_Recurrent):
    """Gated recurrent unit, gates in torch's order r, z, n; the candidate's recurrent bias is kept.

    Source: Banino 2021's public parity implementations use it in place of the plain RNN.
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
        self.candidate_bias = nn.Parameter(_uniform((hidden,), 1 / math.sqrt(hidden), generator))

    def step(self, drive: Tensor, state: State, first: bool) -> State:
        """One step of h (..., B, H)."""
        (h,) = state
        drive = self._flagged(drive, first)
        recurrent = torch.matmul(h, self.recurrent.mT)
        gates = torch.sigmoid(drive[..., : 2 * self.hidden] + recurrent[..., : 2 * self.hidden])
        r, z = gates.chunk(2, -1)
        candidate = recurrent[..., 2 * self.hidden :] + self.candidate_bias.unsqueeze(-2)
        n = torch.tanh(drive[..., 2 * self.hidden :] + r * candidate)
        return (n + z * (h - n),)


class ConvMLP(nn.Module):
    """A CNN embeds the image once; an MLP joins the embedding and the hidden state at each step.

    Convolutions of 10 and 20 channels, kernel 5, each followed by 2x2 max-pooling and ReLU, a
    linear layer of `hidden`; then per step h' = W_2 relu(W_1 [e; h; flag] + b_1) + b_2.

    Source: the public MNIST notebook of PonderNet.
    Deviation: the CNN runs once per image and without dropout; the notebook runs it at each step.
    """

    side = 28
    channels = (10, 20)

    def __init__(
        self,
        inputs: int,
        hidden: int,
        first_step_flag: bool = False,
        generator: Generator | None = None,
    ) -> None:
        super().__init__()
        if inputs != self.side**2:
            raise ValueError(f"conv_mlp reads images of {self.side**2} pixels, not {inputs}")
        self.state_sizes: tuple[int, ...] = (hidden,)
        first, second = self.channels
        bounds = 1 / math.sqrt(25), 1 / math.sqrt(25 * first)
        self.filters1 = nn.Parameter(_uniform((first, 1, 5, 5), bounds[0], generator))
        self.bias1 = nn.Parameter(_uniform((first,), bounds[0], generator))
        self.filters2 = nn.Parameter(_uniform((second, first, 5, 5), bounds[1], generator))
        self.bias2 = nn.Parameter(_uniform((second,), bounds[1], generator))
        self.embedding = Linear(second * 16, hidden, generator)
        self.join = Linear(hidden, hidden, generator)
        self.recurrent = Linear(hidden, hidden, generator)
        self.out = Linear(hidden, hidden, generator)
        bound = 1 / math.sqrt(hidden)
        self.flag = nn.Parameter(_uniform((hidden,), bound, generator)) if first_step_flag else None

    def embed(self, x: Tensor) -> Tensor:
        """W_1 e + b_1 of images (..., B, 784): (..., B, H)."""
        images = x.reshape(*x.shape[:-1], 1, self.side, self.side)
        if self.filters1.dim() == 4:
            maps = self._maps(images, self.filters1, self.bias1, self.filters2, self.bias2)
        else:
            stacks = (images, self.filters1, self.bias1, self.filters2, self.bias2)
            maps = torch.stack([self._maps(*one) for one in zip(*stacks, strict=True)])
        embedded = torch.relu(self.embedding(maps))
        projected: Tensor = self.join(embedded)
        return projected

    @staticmethod
    def _maps(x: Tensor, f1: Tensor, b1: Tensor, f2: Tensor, b2: Tensor) -> Tensor:
        """The two convolutions of one replica: (B, 1, 28, 28) to (B, 320)."""
        x = torch.relu(functional.max_pool2d(functional.conv2d(x, f1, b1), 2))
        x = torch.relu(functional.max_pool2d(functional.conv2d(x, f2, b2), 2))
        return x.flatten(1)

    def step(self, drive: Tensor, state: State, first: bool) -> State:
        """One step of h (..., B, H)."""
        joined = drive + self.recurrent(state[0])
        if first and self.flag is not None:
            joined = joined + self.flag.unsqueeze(-2)
        return (self.out(torch.relu(joined)),)


CELLS = {"tanh_rnn": TanhRNN, "gru": GRU, "lstm": LSTM, "conv_mlp": ConvMLP}
