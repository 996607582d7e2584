"""PonderNet: every step is scored, and every row is computed for all N steps.

The steps of an input are one operation with its gradient by hand. The buffers hold all steps. So
the heads and the gradients of weights are one product each, and the halting distribution and the
KL are computed for all steps at once. The tests compare the numbers with the readable path.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import logsigmoid

from pondering.model.cells import ConvMLP, State, affine
from pondering.model.halting import PonderNet
from pondering.model.halting.contract import ordered_sum
from pondering.model.halting.pondernet import PonderNetState
from pondering.model.paths.fast.kernels import KERNELS, RELU, Kernel
from pondering.model.paths.readable import InputRecord


def supports(cell: Any, heads: Any, halting: Any) -> bool:
    """Whether it is PonderNet, no subclass; the cell has a kernel here; the heads read h alone."""
    known = type(cell) in KERNELS or type(cell) is ConvMLP
    return known and heads.rest is None and type(halting) is PonderNet


class _Unroll(torch.autograd.Function):
    """N steps of a cell for every row: (drive, flag, recurrent, state) -> (K, N, B, H) each.

    Step 1 adds the flag, (K, 1, E) or (K, B, E), to the drive.
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
        transposed, saved = recurrent.mT, []
        ctx.begin = state[0]
        for n in range(steps):
            flagged = drive + flag if n == 0 and flag is not None else drive
            state, for_gradient = kernel.forward(
                torch.baddbmm(flagged, state[0], transposed), state
            )
            for buffer, part in zip(every, state, strict=True):
                buffer[:, n] = part
            saved.append(for_gradient)
        ctx.kernel, ctx.saved = kernel, saved
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
            d_pre, rest = ctx.kernel.backward(ctx.saved[n], d_state)
            d_pres[:, n] = d_pre
            d_state = [torch.bmm(d_pre, recurrent), *rest]
            if n:
                d_state = [d + g[:, n - 1] for d, g in zip(d_state, gradients, strict=True)]
        ctx.saved = None
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
    crosses: bool,
) -> InputRecord:
    """Ponder one input: all N steps, even of a row that PonderNet's epsilon stops earlier.

    Args: as in `paths.ponder`, with rows (K, B).
    """
    states = _states(cell, halting.max_steps, drive, state)
    replicas, steps, rows, _ = states[0].shape
    head = heads(states[0].flatten(1, 2)).view(replicas, steps, rows, -1).transpose(0, 1)
    weights, halting_state = distribution(halting, head[..., -1], present)
    outputs = head[..., :-1]
    mixture = ordered_sum(weights.unsqueeze(-1) * outputs)
    if crosses and halting.carry == "last":
        state = tuple(_last(part, halting_state.steps) for part in states)
    elif crosses:
        state = tuple(_Mean.apply(weights, part) for part in states)  # type: ignore[no-untyped-call]
    # Every step is scored, so nothing reads the features.
    return InputRecord(weights, outputs, mixture, state[0], state, halting_state, weights.numel())


def distribution(
    halting: PonderNet, halt_logits: Tensor, present: Tensor
) -> tuple[Tensor, PonderNetState]:
    """`PonderNet.step` of all steps at once, where the halting logits of all N steps are known.

    Args:
        halt_logits: (N, ..., B).
        present: (..., B) bool, rows that ponder at all.

    Returns:
        p_n, (N, ..., B), zero where not present; the state after step N.
    """
    after = logsigmoid(-halt_logits).cumsum(0)
    before = torch.cat([torch.zeros_like(after[:1]), after[:-1]])
    ends = torch.stack([halting.is_last(n, row) for n, row in enumerate(after, 1)])
    running = (ends.cumsum(0) - ends.long() == 0) & present
    last = running & ends
    log_p = torch.where(last, before, before + logsigmoid(halt_logits))
    p = torch.where(running, log_p.exp(), 0.0)
    numbers = torch.arange(1.0, halting.max_steps + 1, device=p.device).to(p.dtype)
    by_step = numbers.view(-1, *[1] * (p.dim() - 1))
    steps = running.sum(0)
    kl = ordered_sum(torch.where(running, halting.kl_term(by_step, p, log_p), 0.0))
    return p, PonderNetState(
        running=torch.zeros_like(present),
        steps=steps.float(),
        remainder=torch.where(last, before.exp(), 0.0).sum(0),
        expected_steps=ordered_sum(by_step * p.detach()),
        log_survival=torch.where(last, after, 0.0).sum(0),
        kl=torch.where(present, halting.normalised(kl, steps.clamp(min=1).to(p.dtype)), 0.0),
    )


def _last(states: Tensor, steps: Tensor) -> Tensor:
    """The state (K, B, H) after each row's last step, of states (K, N, B, H) and steps (K, B)."""
    index = (steps.long() - 1).clamp(min=0)[:, None, :, None]
    return states.gather(1, index.expand(-1, 1, -1, states.shape[-1])).squeeze(1)


def _states(cell: Any, steps: int, drive: Tensor, state: State) -> State:
    """The states after each step, (K, N, B, H) each."""
    flag = None if cell.flag is None else cell.flag.unsqueeze(-2)
    if type(cell) in KERNELS:
        states: State = _Unroll.apply(  # type: ignore[no-untyped-call]
            KERNELS[type(cell)], steps, drive, flag, cell.recurrent, *state
        )
        return states
    # ConvMLP: h_n = W_2 z_n + b_2 and z_{n+1} = relu(d + W_h h_n + b_h). So z_{n+1} comes from z_n
    # by one product, with W_h W_2; only step 1 starts from an h.
    back, out = cell.recurrent, cell.out
    through = torch.matmul(out.bias.unsqueeze(-2), back.weight.mT)  # W_h b_2
    first = torch.matmul(state[0], back.weight.mT) - through
    first = first if flag is None else first + flag
    drive = drive + through + back.bias.unsqueeze(-2)
    both = torch.matmul(back.weight, out.weight)
    zero = torch.zeros_like(state[0])
    (inner,) = _Unroll.apply(RELU, steps, drive, first, both, zero)  # type: ignore[no-untyped-call]
    return (affine(inner.flatten(1, 2), out.weight, out.bias).view_as(inner),)
