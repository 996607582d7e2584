"""The compiled path in training: `loops` as operations of torch, on every thread."""

from __future__ import annotations

import functools
import itertools
import os
import types
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import scipy.linalg  # noqa: F401  the products of `loops` are those of its BLAS
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor

from pondering.model.cells import LSTM
from pondering.model.paths.compiled import MOST_HIDDEN
from pondering.model.paths.compiled.loops import act, steps
from pondering.model.paths.fast.fused import Sequence
from pondering.model.paths.fast.kernels import State

SMALL = 10**6  # multiplications of a product that OpenBLAS takes for a small one, with AVX-512
LITTLE, MUCH = 32, 128  # rows that are walked together

threadpool_limits(1, "blas")  # of the whole process: replicas are what is spread over threads


def ponder(cell: Any, heads: Any, halting: Any, drives: Tensor, mask: Tensor) -> Sequence:
    """Ponder every input of a sequence, from a state of zeros; see `fused.ponder`."""
    weight, bias = heads.weight[:, -1, :], heads.bias[:, -1]
    found = _Ponder.apply(  # type: ignore[no-untyped-call]
        (type(cell) is LSTM, halting, mask), drives, cell.flag, cell.recurrent, weight, bias
    )
    return Sequence(*found)


def unroll(cell: Any, heads: Any, count: int, drive: Tensor, state: State) -> tuple[State, Tensor]:
    """All steps of an input and what the heads make of them; see `unrolled.unroll`."""
    out, *states = _Unroll.apply(  # type: ignore[no-untyped-call]
        count, drive, cell.flag, cell.recurrent, heads.weight, heads.bias, *state
    )
    return tuple(states), out


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
        job = act.Job(
            lstm, halting.epsilon if learns else 0.0, halting.max_steps, _block(width, hidden),
            _array(mask), *map(_array, arrays),
        )  # fmt: skip
        features = np.empty((times, replicas, size, hidden), np.float32)
        taken, remainder, expected = np.zeros((3, times, replicas, size), np.float32)
        out = features, taken, remainder, expected
        large = hidden > MOST_HIDDEN
        walk = _in_python(act.forward) if large else act.forward
        parts = [(0, replicas)] if large else _parts(replicas)
        ctx.tapes = _together(lambda a, b: (a, b, walk(a, b, job, *out)), parts)
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
        walk = _in_python(act.backward) if shape[-1] > MOST_HIDDEN else act.backward
        _together(lambda a, b, tape: walk(a, b, job, tape, d_features, d_cost, *found), tapes)
        drives, flag, *others = map(torch.from_numpy, found)
        return None, drives, flag if ctx.flag else None, *others


class _Unroll(torch.autograd.Function):
    """(drive, flag, recurrent, head weights and biases, state) -> heads and state of every step."""

    @staticmethod
    def forward(ctx: Any, count: int, *inputs: Any) -> tuple[Tensor, ...]:
        drive, flag, recurrent, weight, bias, *state = inputs
        (replicas, size, width), hidden = drive.shape, recurrent.shape[2]
        every = [drive.new_empty(replicas, count + 1, size, hidden) for _ in state]
        for buffer, part in zip(every, state, strict=True):
            buffer[:, 0] = part
        lstm = len(every) == 2
        gates = drive.new_empty(replicas, count, size, width)
        squashed = drive.new_empty(replicas, count, size, hidden if lstm else 0)
        memory = every[1] if lstm else drive.new_empty(replicas, count + 1, size, 0)
        out = drive.new_empty(replicas, count, size, weight.shape[1])
        arrays = drive, _flag(flag, recurrent), recurrent, recurrent.mT, weight
        job = steps.Job(lstm, _block(width, hidden), *map(_array, arrays))
        tape = steps.Tape(*map(_array, (every[0], memory, gates, squashed)))
        parts = _parts(steps.blocks(job))
        _together(lambda a, b: steps.forward(a, b, job, tape, _array(out)), parts)
        out += bias[:, None, None]
        ctx.tape, ctx.job, ctx.flag = (tape, every, gates), job, flag is not None
        ctx.save_for_backward(recurrent, weight)
        ctx.set_materialize_grads(False)
        return (out, *(buffer[:, 1:] for buffer in every))

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, d_out: Tensor | None, *d_states: Any) -> tuple[Tensor | None, ...]:
        job, (tape, every, gates) = ctx.job, _used_up(ctx, "tape")
        shape = every[0][:, 1:].shape
        if d_out is None:
            d_out = gates.new_zeros(*shape[:3], job.heads.shape[1])
        d_out = d_out.contiguous()
        given = [gates.new_empty(0, *shape[1:]) if g is None else g for g in d_states]
        found = [buffer.new_empty(buffer[:, 0].shape) for buffer in every]
        if not job.lstm:
            given.append(gates.new_empty(0, *shape[1:3], 0))
            found.append(gates.new_empty(*gates[:, 0].shape[:2], 0))
        arrays = [_array(each) for each in (d_out, *given, *found)]
        parts = _parts(steps.blocks(job))
        _together(lambda a, b: steps.backward(a, b, job, tape, *arrays), parts)
        hidden, d_heads = every[0], d_out.flatten(1, 2)
        d_recurrent = torch.bmm(gates.flatten(1, 2).mT, hidden[:, :-1].flatten(1, 2))
        d_weight = torch.bmm(d_heads.mT, hidden[:, 1:].flatten(1, 2))
        d_flag = gates[:, 0].sum(1) if ctx.flag else None
        d_state = found[: len(every)]
        return None, gates.sum(1), d_flag, d_recurrent, d_weight, d_heads.sum(1), *d_state


def _used_up(ctx: Any, name: str) -> Any:
    """What the forward pass has left, once.

    Raises:
        RuntimeError: it was asked for before, or the weights have been changed since.
    """
    kept = getattr(ctx, name)
    if kept is None:
        raise RuntimeError("a second backward pass: the first has used up the tape")
    setattr(ctx, name, None)
    _ = ctx.saved_tensors  # torch looks whether they are as they were
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
    """(K, W); a cell without a flag adds zero."""
    return torch.zeros_like(recurrent[..., 0]) if flag is None else flag


def _block(width: int, hidden: int) -> int:
    """Rows that are walked together: few enough that their product with the weights is small.

    For a larger one OpenBLAS copies the weights first, and that is worth as many rows as there are.
    """
    rows = SMALL // (width * hidden) // 4 * 4
    return min(rows, LITTLE) if rows >= 8 else MUCH


def _array(x: Tensor) -> Any:
    """The same numbers for Numba, row after row."""
    return x.detach().contiguous().numpy()


@functools.cache
def _in_python(walk: Any) -> Callable[..., Any]:
    """A walk as Python runs it: what it calls is compiled, and the products are torch's."""
    return types.FunctionType(walk.py_func.__code__, act.__dict__ | {"product": _product})


def _product(a: Any, b: Any, out: Any) -> None:
    """out = a b, on all threads of torch."""
    torch.mm(torch.from_numpy(a), torch.from_numpy(b), out=torch.from_numpy(out))


def _parts(count: int) -> list[tuple[int, int]]:
    """First and end of what each thread takes of so many; as many parts as torch has threads."""
    times = max(1, min(torch.get_num_threads(), count))
    return list(itertools.pairwise(count * number // times for number in range(times + 1)))


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
