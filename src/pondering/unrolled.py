"""The fast path where every row takes all N steps and each is scored: PonderNet with a constant N.

The steps run as one operation with its gradient by hand; heads, halting distribution and KL follow
for all steps at once. Pinned to the readable path by the tests.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from pondering.halting import Progress
from pondering.kernels import KERNELS, Kernel, State


def supports(cell: Any, halting: Any) -> bool:
    """Whether this path applies: a kernel, and a constant number of steps."""
    return type(cell) in KERNELS and getattr(halting, "epsilon", 0.0) is None


class _Unroll(torch.autograd.Function):
    """N steps of a cell for every row: (drive, flag, recurrent, state) -> N states of each part."""

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
        taken: list[tuple[Tensor, State]] = []
        found = []
        for n in range(steps):
            flagged = drive + flag if n == 0 and flag is not None else drive
            pre = torch.baddbmm(flagged, state[0], recurrent.mT)
            hidden = state[0]
            state, kept = kernel.forward(pre, state)
            taken.append((hidden, kept))
            found.append(state)
        ctx.kernel, ctx.taken, ctx.recurrent, ctx.has_flag = kernel, taken, recurrent, flag
        return tuple(torch.stack(parts) for parts in zip(*found, strict=True))

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        carried: list[Tensor] = [torch.zeros_like(g[0]) for g in gradients]
        products: list[tuple[Tensor, Tensor]] = []
        d_drive: Tensor | None = None
        for n in reversed(range(len(ctx.taken))):
            hidden, kept = ctx.taken[n]
            d_state = [c + g[n] for c, g in zip(carried, gradients, strict=True)]
            d_pre, rest = ctx.kernel.backward(kept, d_state)
            products.append((d_pre, hidden))
            d_drive = d_pre if d_drive is None else d_drive + d_pre
            carried = [torch.bmm(d_pre, ctx.recurrent), *rest]
        d_pre, hidden = (torch.cat(parts, 1) for parts in zip(*products, strict=True))
        d_flag = None if ctx.has_flag is None else products[-1][0].sum(1, keepdim=True)
        ctx.taken = None
        return None, None, d_drive, d_flag, torch.bmm(d_pre.mT, hidden), *carried


def ponder(
    cell: Any, heads: Any, halting: Any, drive: Tensor, state: State, present: Tensor
) -> tuple[State, Progress, Tensor, Tensor]:
    """Ponder one input where every row takes all N steps, and every step is scored.

    Returns:
        sum of p_n s_n, (K, B, H) each; the progress; p_n, (N, K, B); y_n, (N, K, B, C).
    """
    flag = None if cell.flag is None else cell.flag.unsqueeze(-2)
    kernel, steps = KERNELS[type(cell)], halting.max_steps
    states = _Unroll.apply(kernel, steps, drive, flag, cell.recurrent, *state)  # type: ignore[no-untyped-call]
    replicas, rows = present.shape
    every = states[0].transpose(0, 1).reshape(replicas, steps * rows, -1)
    head = heads(every).view(replicas, steps, rows, -1).transpose(0, 1)
    weights, progress = halting.distribution(head[..., -1], present)
    totals = tuple((weights.unsqueeze(-1) * part).sum(0) for part in states)
    return totals, progress, weights, head[..., :-1]
