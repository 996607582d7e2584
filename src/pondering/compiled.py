"""The compiled path of ACT in training: `loops.py` as an operation of torch, on every thread.

Chosen with `compute.path: compiled`; where `supports` says no, the fast path goes on. It needs the
packages of the extra `compiled`.
"""

from __future__ import annotations

import functools
import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401  the products of `loops.py` are those of its BLAS
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from pondering import loops
from pondering.cells import LSTM
from pondering.fused import Sequence
from pondering.halting import ACT, Progress
from pondering.kernels import KERNELS

LARGEST = 256  # hidden units; with more, the products are nearly all, and torch's are faster

threadpool_limits(1, "blas")  # of the whole process: replicas are what is spread over threads


def supports(
    kind: type, hidden: int, halting: Any, device: torch.device, dtype: torch.dtype = torch.float32
) -> bool:
    """Whether there are loops for such cells, and they are the faster way: where rows halt apart.

    Args:
        kind: the cell's class.
        hidden: its units.
    """
    known = kind in KERNELS and type(halting) is ACT
    return known and hidden <= LARGEST and device.type == "cpu" and dtype == torch.float32


def ponder(cell: Any, heads: Any, halting: Any, drives: Tensor, mask: Tensor) -> Sequence:
    """Ponder every input of a sequence, from a state of zeros; see `fused.ponder`."""
    weight, bias = heads.weight[:, -1, :], heads.bias[:, -1]
    found = _Ponder.apply(  # type: ignore[no-untyped-call]
        (type(cell) is LSTM, halting, mask), drives, cell.flag, cell.recurrent, weight, bias
    )
    features, *fields, computed = found
    return Sequence(features, Progress._make(fields), computed)


class _Ponder(torch.autograd.Function):
    """(drives, flag, recurrent, halt weight and bias) -> features and progress."""

    @staticmethod
    def forward(ctx: Any, what: Any, *inputs: Any) -> tuple[Any, ...]:
        lstm, halting, mask = what
        drives, flag, recurrent, weight, bias = (_array(x) for x in inputs)
        times, replicas, size, width = drives.shape
        added = np.zeros((replicas, width), np.float32) if flag is None else flag
        job = loops.Job(
            lstm, halting.epsilon, halting.max_steps, _array(mask),
            drives, added, recurrent, weight, bias,
        )  # fmt: skip
        features = np.empty((times, replicas, size, recurrent.shape[2]), np.float32)
        steps, remainder, expected = np.zeros((3, times, replicas, size), np.float32)
        out = features, steps, remainder, expected
        ctx.tapes = _shared(lambda a, b: (a, b, loops.forward(a, b, job, *out)), replicas)
        ctx.job, ctx.flag = job, flag is not None
        progress = _progress(*map(torch.from_numpy, (steps, remainder, expected)))
        ctx.mark_non_differentiable(progress.running, progress.steps, progress.expected)
        ctx.set_materialize_grads(False)
        return (torch.from_numpy(features), *progress, int(steps.sum()))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Any) -> tuple[Tensor | None, ...]:
        job, tapes = ctx.job, ctx.tapes
        if tapes is None:
            raise RuntimeError("a second backward pass: the first has used up the tape")
        ctx.tapes = None
        shape = (*job.mask.shape, job.recurrent.shape[2])
        progress = Progress._make(gradients[1:-1])
        parts = [g for g in (progress.remainder, progress.cost) if g is not None]
        d_cost = _array(torch.stack(parts).sum(0) if parts else torch.zeros(shape[:3]))
        d_features = _array(torch.zeros(shape) if gradients[0] is None else gradients[0])
        read = job.drives, job.flag, job.recurrent, job.units, job.bias
        found = [np.zeros_like(array) for array in read]
        _together(
            lambda a, b, tape: loops.backward(a, b, job, tape, d_features, d_cost, *found), tapes
        )
        drives, flag, *others = map(torch.from_numpy, found)
        return None, drives, flag if ctx.flag else None, *others


def _progress(steps: Tensor, remainder: Tensor, expected: Tensor) -> Progress:
    """Where rows stand that have all halted."""
    nobody, nothing = torch.zeros_like(steps, dtype=torch.bool), torch.zeros_like(steps)
    return Progress(nobody, nothing, steps, remainder, steps + remainder, expected)  # Eq. 10


def _array(x: Tensor | None) -> Any:
    """The same numbers for Numba, row after row."""
    return None if x is None else x.detach().contiguous().numpy()


def _shared(work: Callable[[int, int], Any], replicas: int) -> list[Any]:
    """`work` of the replicas `first` to `end - 1`, in as many parts as torch has threads."""
    parts = min(torch.get_num_threads(), replicas)
    ends = [replicas * part // parts for part in range(parts + 1)]
    return _together(work, list(itertools.pairwise(ends)))


def _together(work: Callable[..., Any], calls: list[Any]) -> list[Any]:
    """`work` with each of these arguments, at the same time."""
    others = [_pool(os.getpid(), len(calls)).submit(work, *call) for call in calls[1:]]
    return [work(*calls[0]), *(other.result() for other in others)]


@functools.lru_cache(maxsize=1)
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Threads of this process, the caller's own apart; they treat numbers near zero as it does
    when they begin (`machine.tune`).
    """
    return ThreadPoolExecutor(max(1, threads - 1), "pondering")
