"""Steps of cells with their gradients by hand, on pre-activations of stacked replicas."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from pondering.cells import LSTM, TanhRNN

State = tuple[Tensor, ...]


class Kernel(NamedTuple):
    """A cell's step on pre-activations and its gradient, for rows (K, B)."""

    forward: Callable[[Tensor, State], tuple[State, State]]
    """(W_x x + W_s h + b, the old state) -> (the new state, what the gradient needs)."""
    backward: Callable[[State, list[Tensor]], tuple[Tensor, list[Tensor]]]
    """(what was kept, d new state) -> (d pre-activations, d old state but through W_s h)."""


def _tanh_forward(pre: Tensor, state: State) -> tuple[State, State]:
    s = pre.tanh_()
    return (s,), (s,)


def _tanh_backward(kept: State, gradient: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
    (s,) = kept
    return torch.ops.aten.tanh_backward(gradient[0], s), []


def _lstm_forward(pre: Tensor, state: State) -> tuple[State, State]:
    size = pre.shape[-1] // 4
    pre[..., : 2 * size].sigmoid_()
    pre[..., 2 * size : 3 * size].tanh_()
    pre[..., 3 * size :].sigmoid_()
    i, f, g, o = torch.split(pre, size, -1)
    c = torch.addcmul(f * state[1], i, g)
    squashed = torch.tanh(c)
    return (o * squashed, c), (pre, state[1], squashed)


def _lstm_backward(kept: State, gradient: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
    gates, old, squashed = kept
    dh, dc = gradient
    size = old.shape[-1]
    i, f, g, o = torch.split(gates, size, -1)
    dc = torch.addcmul(dc, dh * o, 1 - squashed * squashed)
    pre = torch.empty_like(gates)
    torch.mul(dc, g, out=pre[..., :size])
    torch.mul(dc, old, out=pre[..., size : 2 * size])
    torch.mul(dc, i, out=pre[..., 2 * size : 3 * size])
    torch.mul(dh, squashed, out=pre[..., 3 * size :])
    slope = gates * (1 - gates)
    slope[..., 2 * size : 3 * size] = 1 - g * g
    return pre.mul_(slope), [dc * f]


KERNELS: dict[type, Kernel] = {
    TanhRNN: Kernel(_tanh_forward, _tanh_backward),
    LSTM: Kernel(_lstm_forward, _lstm_backward),
}
