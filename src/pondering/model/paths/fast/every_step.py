"""PonderNet, where each step is scored and every row is computed for all N steps.

The steps of an input are one operation with its gradient by hand. Its buffers hold all steps, so
that the heads and the gradients of weights are one product each; the halting distribution and the
KL are computed for all steps at once. The tests hold the numbers to those of the readable path.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pondering.model.cells import ConvMLP, affine
from pondering.model.halting import PonderNet
from pondering.model.halting.contract import added
from pondering.model.paths.fast.kernels import KERNELS, RELU, Kernel, State
from pondering.model.paths.readable import Ponder


def supports(cell: Any, heads: Any, halting: Any) -> bool:
    """Whether it is PonderNet, no subclass, the cell has a kernel here, and h alone is read."""
    known = type(cell) in KERNELS or type(cell) is ConvMLP
    return known and heads.rest is None and type(halting) is PonderNet


class _Unroll(torch.autograd.Function):
    """N steps of a cell for every row: (drive, flag, recurrent, state) -> (K, N, B, H) each.

    The flag is what step 1 adds to the drive, (K, 1, E) or (K, B, E).
    """

    @staticmethod
    def forward(
        ctx: Any,
        kernel: Kernel,
        steps: int,
        drive: Tensor,
        flag: Tensor | None,
        recurrent: Tensor,
        *state: Tensor,
    ) -> tuple[Tensor, ...]:
        replicas, rows, hidden = state[0].shape
        every = [part.new_empty(replicas, steps, rows, hidden) for part in state]
        turned, taken = recurrent.mT, []
        ctx.begin = state[0]
        for n in range(steps):
            flagged = drive + flag if n == 0 and flag is not None else drive
            state, kept = kernel.forward(torch.baddbmm(flagged, state[0], turned), state)
            for buffer, part in zip(every, state, strict=True):
                buffer[:, n] = part
            taken.append(kept)
        ctx.kernel, ctx.taken = kernel, taken
        ctx.flags = None if flag is None else flag.shape[1]
        ctx.save_for_backward(every[0], recurrent)
        return tuple(every)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        every, recurrent = ctx.saved_tensors
        replicas, steps, rows, _ = every.shape
        d_pres = every.new_empty(replicas, steps, rows, recurrent.shape[1])
        d_state = [g[:, -1] for g in gradients]
        for n in reversed(range(steps)):
            d_pre, rest = ctx.kernel.backward(ctx.taken[n], d_state)
            d_pres[:, n] = d_pre
            d_state = [torch.bmm(d_pre, recurrent), *rest]
            if n:
                d_state = [d + g[:, n - 1] for d, g in zip(d_state, gradients, strict=True)]
        ctx.taken = None
        d_recurrent = torch.bmm(d_pres[:, 0].mT, ctx.begin)
        if steps > 1:  # the hidden state before step n + 1 is that after step n
            later, before = d_pres[:, 1:].flatten(1, 2), every[:, :-1].flatten(1, 2)
            d_recurrent.baddbmm_(later.mT, before)
        d_flag = None if ctx.flags is None else d_pres[:, 0]
        if d_flag is not None and ctx.flags == 1:
            d_flag = d_flag.sum(1, keepdim=True)
        return None, None, d_pres.sum(1), d_flag, d_recurrent, *d_state


class _Mean(torch.autograd.Function):
    """sum p_n s_n: (weights (N, K, B), states (K, N, B, H)) -> (K, B, H)."""

    @staticmethod
    def forward(ctx: Any, weights: Tensor, states: Tensor) -> Tensor:
        ctx.save_for_backward(weights, states)
        total = torch.zeros_like(states[:, 0])
        for n, weight in enumerate(weights):
            total.addcmul_(weight.unsqueeze(-1), states[:, n])
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:
        weights, states = ctx.saved_tensors
        by_step = gradient.unsqueeze(1)
        d_weights = (states * by_step).sum(-1).transpose(0, 1)
        return d_weights, weights.transpose(0, 1).unsqueeze(-1) * by_step


def ponder(
    cell: Any,
    heads: Any,
    halting: Any,
    drive: Tensor,
    state: State,
    present: Tensor,
    crosses: bool = True,
) -> Ponder:
    """Ponder one input: all N steps, also of a row that stops before by PonderNet's epsilon.

    Args:
        cell, heads, halting, drive, state, present: as in `paths.every_step`.
        crosses: whether the state is asked for; else it is returned as it was.
    """
    states, head = unroll(cell, heads, halting.max_steps, drive, state)
    head = head.transpose(0, 1)
    weights, halting_state = halting.distribution(head[..., -1], present)
    outputs = head[..., :-1]
    mixture = added(weights.unsqueeze(-1) * outputs)
    if crosses and halting.carry == "last":
        state = tuple(_last(part, halting_state.steps) for part in states)
    elif crosses:
        state = tuple(_Mean.apply(weights, part) for part in states)  # type: ignore[no-untyped-call]
    # Every step is scored, so that nothing reads the features.
    return Ponder(weights, outputs, mixture, state[0], state, halting_state, weights.numel())


def _last(states: Tensor, steps: Tensor) -> Tensor:
    """The state (K, B, H) after each row's last step, of states (K, N, B, H) and steps (K, B)."""
    index = (steps.long() - 1).clamp(min=0)[:, None, :, None]
    return states.gather(1, index.expand(-1, 1, -1, states.shape[-1])).squeeze(1)


def unroll(cell: Any, heads: Any, count: int, drive: Tensor, state: State) -> tuple[State, Tensor]:
    """The states after each step, (K, N, B, H) each, and their heads, (K, N, B, C + 1)."""
    states = _states(cell, count, drive, state)
    replicas, _, rows, _ = states[0].shape
    return states, heads(states[0].flatten(1, 2)).view(replicas, count, rows, -1)


def _states(cell: Any, steps: int, drive: Tensor, state: State) -> State:
    """The states after each step, (K, N, B, H) each."""
    flag = None if cell.flag is None else cell.flag.unsqueeze(-2)
    if type(cell) in KERNELS:
        found: State = _Unroll.apply(  # type: ignore[no-untyped-call]
            KERNELS[type(cell)], steps, drive, flag, cell.recurrent, *state
        )
        return found
    # ConvMLP: h_n = W_2 z_n + b_2 and z_{n+1} = relu(d + W_h h_n + b_h). Between two z lies one
    # product, with W_h W_2; only step 1 starts from an h.
    back, out = cell.recurrent, cell.out
    through = torch.matmul(out.bias.unsqueeze(-2), back.weight.mT)  # W_h b_2
    first = torch.matmul(state[0], back.weight.mT) - through
    first = first if flag is None else first + flag
    drive = drive + through + back.bias.unsqueeze(-2)
    both = torch.matmul(back.weight, out.weight)
    zero = torch.zeros_like(state[0])
    (inner,) = _Unroll.apply(RELU, steps, drive, first, both, zero)  # type: ignore[no-untyped-call]
    return (affine(inner.flatten(1, 2), out.weight, out.bias).view_as(inner),)
