"""The cells' steps and their gradients by hand, on pre-activations of stacked replicas.

They overwrite the pre-activations that they are given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor

from pondering.model.cells import LSTM, TanhRNN

State = tuple[Tensor, ...]


class Kernel(NamedTuple):
    """A cell's step on pre-activations and its gradient, for rows (K, B)."""

    forward: Callable[[Tensor, State], tuple[State, State]]
    """(W_x x + W_s h + b, the old state) -> (the new state, what the gradient needs)."""
    backward: Callable[[State, list[Tensor]], tuple[Tensor, list[Tensor]]]
    """(what was kept, the gradient of the new state) -> (that of the pre-activations, that of the
    old state without the part that comes through W_s h)."""


LANES = 32
"""torch's sigmoid takes so many floats at a time and rounds a shorter rest in another way. Only
where rows are multiples of that does a number round alike at every place and on any threads."""
_MINUS_ONE = torch.tensor(-1.0)


def _squash(x: Tensor) -> Tensor:
    """Replace x by tanh x = 2 sigmoid(2x) - 1: three times as fast on a CPU, exact to 3e-7."""
    if x.is_cuda or x.shape[-1] % LANES:
        return x.tanh_()
    x.mul_(2).sigmoid_()
    return torch.add(_MINUS_ONE, x, alpha=2, out=x)


def _tanh_forward(pre: Tensor, state: State) -> tuple[State, State]:
    s = _squash(pre)
    return (s,), (s,)


def _tanh_backward(kept: State, gradient: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
    (s,) = kept
    return torch.ops.aten.tanh_backward(gradient[0], s), []


def _lstm_forward(pre: Tensor, state: State) -> tuple[State, State]:
    i, f, g, o = torch.split(pre, pre.shape[-1] // 4, -1)
    g.mul_(2)  # tanh from a sigmoid as in `_squash`: all four gates are one call
    pre.sigmoid_()
    g.mul_(2).sub_(1)
    c = torch.addcmul(f * state[1], i, g)
    squashed = _squash(c.clone())
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


def _relu_forward(pre: Tensor, state: State) -> tuple[State, State]:
    s = pre.relu_()
    return (s,), (s,)


def _relu_backward(kept: State, gradient: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
    return torch.ops.aten.threshold_backward(gradient[0], kept[0], 0), []


RELU = Kernel(_relu_forward, _relu_backward)
KERNELS: dict[type, Kernel] = {
    TanhRNN: Kernel(_tanh_forward, _tanh_backward),
    LSTM: Kernel(_lstm_forward, _lstm_backward),
}
