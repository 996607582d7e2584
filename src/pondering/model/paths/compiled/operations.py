"""The compiled path in training: `loops` as differentiable operations of torch, on all threads."""

from __future__ import annotations

import functools
import itertools
import os
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401  Numba computes the products of `loops` by its BLAS
import torch
from threadpoolctl import ThreadpoolController
from torch import Tensor

from pondering.model.cells import LSTM
from pondering.model.paths.compiled import MOST_HIDDEN
from pondering.model.paths.compiled.loops import backward, forward
from pondering.model.paths.compiled.loops.tape import Job
from pondering.model.paths.fast.forward import Sequence

SMALL = 10**6  # multiplications of a product up to which OpenBLAS copies no operand, with AVX-512
SMALL_BLOCK, LARGE_BLOCK = 32, 128  # rows that go through a step together


def ponder(cell: Any, heads: Any, halting: Any, drives: Tensor, mask: Tensor) -> Sequence:
    """Ponder every input of a sequence, from a state of zeros, as `fast.sequence.ponder`."""
    weight, bias = heads.halting_weight(), heads.bias[:, -1]
    found = _Ponder.apply(  # type: ignore[no-untyped-call]
        (type(cell) is LSTM, halting, mask), drives, cell.flag, cell.recurrent, weight, bias
    )
    return Sequence(*found)


class _Ponder(torch.autograd.Function):
    """(drives, flag, recurrent, halt weight and bias) -> a `Sequence`."""

    @staticmethod
    def forward(ctx: Any, what: Any, *inputs: Any) -> tuple[Any, ...]:
        lstm, halting, mask = what
        drives, flag, recurrent, weight, bias = inputs
        times, replicas, size, width = drives.shape
        hidden = recurrent.shape[2]
        learns = halting.learns
        rho = torch.zeros(0) if learns else torch.as_tensor(halting.rho).expand(replicas)
        arrays = drives, _flag(flag, recurrent), recurrent, weight, bias, rho.float()
        job = Job(
            lstm, halting.carry == "last", halting.epsilon if learns else 0.0, halting.max_steps,
            _block(width, hidden), _array(mask), *map(_array, arrays),
        )  # fmt: skip
        features = np.empty((times, replicas, size, hidden), np.float32)
        taken, remainder, expected = np.zeros((3, times, replicas, size), np.float32)
        ends = np.empty_like(features) if job.last else features
        out = features, taken, remainder, expected
        large = hidden > MOST_HIDDEN
        walk = _in_python(forward.forward) if large else forward.forward
        parts = [(0, replicas)] if large else _parts(replicas)
        ctx.tapes = _together(lambda a, b: (a, b, walk(a, b, job, features, ends, *out[1:])), parts)
        ctx.job, ctx.flag = job, flag is not None
        ctx.save_for_backward(recurrent, weight)
        done = _sequence(learns, *map(torch.from_numpy, out))
        ctx.mark_non_differentiable(done.ponder_time, done.expected_steps)
        ctx.set_materialize_grads(False)
        return done

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, *gradients: Any) -> tuple[Tensor | None, ...]:
        job, tapes = ctx.job, _used_up(ctx, "tapes")
        shape = (*job.mask.shape, job.recurrent.shape[2])
        given = Sequence(*gradients)
        parts = [g for g in (given.remainder, given.cost) if g is not None]
        d_cost = _array(torch.stack(parts).sum(0) if parts else torch.zeros(shape[:3]))
        d_features = _array(torch.zeros(shape) if given.features is None else given.features)
        found = [
            np.empty_like(job.drives), np.zeros_like(job.flag), np.empty_like(job.recurrent),
            np.zeros_like(job.units), np.zeros_like(job.bias),
        ]  # fmt: skip
        walk = _in_python(backward.backward) if shape[-1] > MOST_HIDDEN else backward.backward
        _together(lambda a, b, tape: walk(a, b, job, tape, d_features, d_cost, *found), tapes)
        drives, flag, *others = map(torch.from_numpy, found)
        return None, drives, flag if ctx.flag else None, *others


def _used_up(ctx: Any, name: str) -> Any:
    """What the forward pass has kept under this name. The backward pass overwrites it.

    Raises:
        RuntimeError: a second backward pass, or weights were changed since the forward pass.
    """
    kept = getattr(ctx, name)
    if kept is None:
        raise RuntimeError("a second backward pass: not allowed; path='readable' allows it")
    setattr(ctx, name, None)
    _ = ctx.saved_tensors  # raises where one was changed in place
    return kept


def _sequence(
    learns: bool, features: Tensor, steps: Tensor, remainder: Tensor, expected: Tensor
) -> Sequence:
    """What the loops have found; a fixed repeat has neither a remainder nor a cost."""
    computed = int(steps.sum(dtype=torch.float64))
    if not learns:
        remainder = torch.zeros_like(remainder)
    cost = steps + remainder if learns else torch.zeros_like(steps)  # Graves 2016, Eq. 10
    return Sequence(features, steps, remainder, cost, expected, computed)


def _flag(flag: Tensor | None, recurrent: Tensor) -> Tensor:
    """The flag's weights (K, W), zero for a cell that has none."""
    return torch.zeros_like(recurrent[..., 0]) if flag is None else flag


def _block(width: int, hidden: int) -> int:
    """Rows of a block: few enough that OpenBLAS does not copy W_s for their product with it.

    Where eight rows are too many for that, a block is large, so that copies are rare.
    """
    rows = SMALL // (width * hidden) // 4 * 4
    return min(rows, SMALL_BLOCK) if rows >= 8 else LARGE_BLOCK


def _array(x: Tensor) -> Any:
    """A tensor as a contiguous array for Numba; it shares the memory where it can."""
    return x.detach().contiguous().numpy()


@functools.cache
def _in_python(walk: Any) -> Callable[..., Any]:
    """A loop's body run by Python: what it calls is compiled still, its products are torch's."""
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


def _together(work: Callable[..., Any], calls: list[Any]) -> list[Any]:
    """Call `work` with each tuple of arguments, at the same time; the results in their order.

    Each thread has replicas of its own, so that BLAS needs no threads while they work.
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
    """The threads beside the caller's own; they inherit its flushing of denormals (`machine.tune`).

    A forked process has none of its parent's threads, therefore `process` is part of the key.
    """
    return ThreadPoolExecutor(max(1, threads - 1), "pondering")
