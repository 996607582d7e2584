"""The compiled path in training: `loops` as a differentiable operation of torch, on all threads."""

from __future__ import annotations

import functools
import itertools
import os
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401  Numba takes its BLAS for the products of `loops`
import torch
from threadpoolctl import ThreadpoolController
from torch import Tensor

from pondering.model.cells import LSTM
from pondering.model.paths.compiled.loops import backward, forward
from pondering.model.paths.compiled.loops.tape import Job
from pondering.model.paths.fast.forward import SequenceRecord, output_gradients, take_tape

MOST_HIDDEN = 256  # units; in larger networks torch's products are faster than Numba's
SMALL = 10**6  # multiplications of a product up to which OpenBLAS copies no operand, with AVX-512
SMALL_BLOCK, LARGE_BLOCK = 32, 128  # rows that take a step together


def ponder(cell: Any, heads: Any, halting: Any, drives: Tensor, mask: Tensor) -> SequenceRecord:
    """Ponder every input of a sequence, from a state of zeros; arguments as `paths.sequence`."""
    weight, bias = heads.halting_weight(), heads.bias[:, -1]
    record = _Ponder.apply(  # type: ignore[no-untyped-call]
        (type(cell) is LSTM, halting, mask), drives, cell.flag, cell.recurrent, weight, bias
    )
    return SequenceRecord(*record)


class _Ponder(torch.autograd.Function):
    """(drives, flag, recurrent, halt weight and bias) -> a `SequenceRecord`."""

    @staticmethod
    def forward(ctx: Any, settings: Any, *inputs: Any) -> tuple[Any, ...]:
        lstm, halting, mask = settings
        drives, flag, recurrent, weight, bias = inputs
        times, replicas, size, width = drives.shape
        hidden = recurrent.shape[2]
        learns = halting.learns
        rho = torch.zeros(0) if learns else torch.as_tensor(halting.rho).expand(replicas)
        column = torch.zeros_like(recurrent[..., 0]) if flag is None else flag
        arrays = drives, column, recurrent, weight, bias, rho.float()
        job = Job(
            lstm, halting.carry == "last", halting.epsilon if learns else 0.0, halting.max_steps,
            _block(width, hidden), _array(mask), *map(_array, arrays),
        )  # fmt: skip
        features = np.empty((times, replicas, size, hidden), np.float32)
        steps, remainder, expected = np.zeros((3, times, replicas, size), np.float32)
        ends = np.empty_like(features) if job.last else features
        out = features, steps, remainder, expected
        large = hidden > MOST_HIDDEN
        walk = _in_python(forward.forward) if large else forward.forward
        parts = [(0, replicas)] if large else _parts(replicas)
        ctx.tape = _parallel(lambda a, b: (a, b, walk(a, b, job, features, ends, *out[1:])), parts)
        ctx.job = job
        ctx.save_for_backward(recurrent, weight)
        done = _sequence(learns, *map(torch.from_numpy, out))
        ctx.mark_non_differentiable(done.ponder_time, done.expected_steps)
        ctx.set_materialize_grads(False)
        return done

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Any) -> tuple[Tensor | None, ...]:
        job, tapes = ctx.job, take_tape(ctx)
        shape = (*job.mask.shape, job.recurrent.shape[2])
        d_features, d_cost = output_gradients(gradients)
        d_outputs = (
            _array(torch.zeros(shape) if d_features is None else d_features),
            _array(torch.zeros(shape[:3]) if d_cost is None else d_cost),
        )
        d_inputs = [
            np.empty_like(job.drives), np.zeros_like(job.flag), np.empty_like(job.recurrent),
            np.zeros_like(job.units), np.zeros_like(job.bias),
        ]  # fmt: skip
        walk = _in_python(backward.backward) if shape[-1] > MOST_HIDDEN else backward.backward
        _parallel(lambda a, b, tape: walk(a, b, job, tape, *d_outputs, *d_inputs), tapes)
        drives, flag, *others = map(torch.from_numpy, d_inputs)
        return None, drives, flag if ctx.needs_input_grad[2] else None, *others


def _sequence(
    learns: bool, features: Tensor, steps: Tensor, remainder: Tensor, expected: Tensor
) -> SequenceRecord:
    """The results of the loops; a fixed repeat has neither a remainder nor a cost."""
    computed = int(steps.sum(dtype=torch.float64))
    if not learns:
        remainder = torch.zeros_like(remainder)
    cost = steps + remainder if learns else torch.zeros_like(steps)  # Graves 2016, Eq. 10
    return SequenceRecord(features, steps, remainder, cost, expected, computed)


def _block(width: int, hidden: int) -> int:
    """Rows of a block: few enough that OpenBLAS does not copy W_s for their product with it.

    Where eight rows are too many for that, a block is large, so that copies are rare.
    """
    rows = SMALL // (width * hidden) // 4 * 4
    return min(rows, SMALL_BLOCK) if rows >= 8 else LARGE_BLOCK


def _array(x: Tensor) -> Any:
    """A tensor as a contiguous array for Numba; it shares the memory if it can."""
    return x.detach().contiguous().numpy()


@functools.cache
def _in_python(walk: Any) -> Callable[..., Any]:
    """The body of a loop run by Python; it calls compiled functions, its products are torch's."""
    return types.FunctionType(
        walk.py_func.__code__, walk.py_func.__globals__ | {"product": _product}
    )


def _product(a: Any, b: Any, out: Any) -> None:
    """out = a b, on all threads of torch."""
    torch.mm(torch.from_numpy(a), torch.from_numpy(b), out=torch.from_numpy(out))


def _parts(count: int) -> list[tuple[int, int]]:
    """range(count) in parts (first, end), one for each of torch's threads."""
    times = max(1, min(torch.get_num_threads(), count))
    return list(itertools.pairwise(count * number // times for number in range(times + 1)))


def _parallel(work: Callable[..., Any], calls: list[Any]) -> list[Any]:
    """Call `work` with each tuple of arguments, in parallel; the results in their order.

    The threads share the replicas among them, so BLAS needs no threads meanwhile.
    """
    with _blas().limit(limits=1, user_api="blas"):
        others = [_pool(os.getpid(), len(calls)).submit(work, *call) for call in calls[1:]]
        return [work(*calls[0]), *(other.result() for other in others)]


@functools.cache
def _blas() -> ThreadpoolController:
    """The BLAS libraries of this process: looking for them takes a millisecond."""
    return ThreadpoolController()


@functools.lru_cache(maxsize=1)
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """The threads beside the caller's; they inherit its flushing of denormals (`machine.tune`).

    A forked process has none of its parent's threads, so `process` is part of the key.
    """
    return ThreadPoolExecutor(max(1, threads - 1), "pondering")
