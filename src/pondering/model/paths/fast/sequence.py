"""ACT and fixed repeat in training: a whole sequence is one operation, its gradient by hand.

Automatic differentiation spends most of a small network's time on bookkeeping. Here the forward
pass (`forward.py`) keeps what the backward pass (`backward.py`) needs and nothing else. Rows that
have halted leave, as in `skipping`. The tests hold the numbers to those of the readable path.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pondering.model.halting import ACT, FixedRepeat
from pondering.model.paths.fast.backward import Backward
from pondering.model.paths.fast.forward import FastJob, Forward, Sequence
from pondering.model.paths.fast.kernels import KERNELS


def supports(cell: Any, halting: Any) -> bool:
    """Whether `ponder` knows the cell's kernel and the mechanism's own gradient, no subclass's."""
    return type(cell) in KERNELS and type(halting) in (ACT, FixedRepeat)


def ponder(cell: Any, heads: Any, halting: Any, drives: Tensor, mask: Tensor) -> Sequence:
    """Ponder every input of a sequence, from a state of zeros.

    Args:
        cell: stacked, see `cells`.
        heads: stacked, see `heads.Heads`.
        halting: ACT or FixedRepeat.
        drives: (T, K, B, E), the embedded inputs.
        mask: (T, K, B) bool, False where a sequence is over.
    """
    job = FastJob(KERNELS[type(cell)], halting, mask, len(cell.state_sizes))
    weight, bias = heads.halting_weight(), heads.bias[:, -1:]
    found = _Ponder.apply(job, drives, cell.flag, cell.recurrent, weight, bias)  # type: ignore[no-untyped-call]
    return Sequence(*found)


class _Ponder(torch.autograd.Function):
    """(drives, flag, recurrent, halt weight and bias) -> a `Sequence`."""

    @staticmethod
    def forward(ctx: Any, job: FastJob, *inputs: Any) -> tuple[Any, ...]:
        walk = Forward(job, *inputs)
        done = walk.run()
        ctx.walk = walk
        ctx.save_for_backward(*inputs[2:4])
        ctx.mark_non_differentiable(done.ponder_time, done.expected_steps)
        ctx.set_materialize_grads(False)
        return done

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Any) -> tuple[Tensor | None, ...]:
        given = Sequence(*gradients)
        parts = [g for g in (given.remainder, given.cost) if g is not None]
        d_cost = torch.stack(parts).sum(0) if parts else None
        if ctx.walk is None:
            raise RuntimeError("a second backward pass: not allowed; path='readable' allows it")
        _ = ctx.saved_tensors  # raises where a weight was changed in place
        walk = Backward(ctx.walk, given.features, d_cost)
        ctx.walk = None
        return None, *walk.run()
