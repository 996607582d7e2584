"""ACT and fixed repeat in training: a whole sequence is one operation, its gradient by hand.

Automatic differentiation spends most of a small network's time on bookkeeping. Here the forward
pass (`forward.py`) saves only what the backward pass (`backward.py`) needs. Rows that have halted
are skipped, as in `skipping.py`. The tests compare the numbers with the readable path.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from pondering.model.halting import ACT, FixedRepeat
from pondering.model.paths.fast.backward import Backward
from pondering.model.paths.fast.forward import (
    Forward,
    Job,
    SequenceRecord,
    output_gradients,
    take_tape,
)
from pondering.model.paths.fast.kernels import KERNELS


def supports(kind: type, halting: Any) -> bool:
    """Whether a class of cells has a kernel and the mechanism a gradient; a subclass has none."""
    return kind in KERNELS and type(halting) in (ACT, FixedRepeat)


def ponder(cell: Any, heads: Any, halting: Any, drives: Tensor, mask: Tensor) -> SequenceRecord:
    """Ponder every input of a sequence, from a state of zeros; arguments as `paths.sequence`."""
    job = Job(KERNELS[type(cell)], halting, mask, len(cell.state_sizes))
    weight, bias = heads.halting_weight(), heads.bias[:, -1:]
    record = _Ponder.apply(job, drives, cell.flag, cell.recurrent, weight, bias)  # type: ignore[no-untyped-call]
    return SequenceRecord(*record)


class _Ponder(torch.autograd.Function):
    """(drives, flag, recurrent, halt weight and bias) -> a `SequenceRecord`."""

    @staticmethod
    def forward(ctx: Any, job: Job, *inputs: Any) -> tuple[Any, ...]:
        tape = Forward(job, *inputs)
        done = tape.run()
        ctx.tape = tape
        ctx.save_for_backward(*inputs[2:4])
        ctx.mark_non_differentiable(done.ponder_time, done.expected_steps)
        ctx.set_materialize_grads(False)
        return done

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *gradients: Any) -> tuple[Tensor | None, ...]:
        return None, *Backward(take_tape(ctx), *output_gradients(gradients)).run()
