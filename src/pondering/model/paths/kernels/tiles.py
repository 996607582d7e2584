"""What the kernels share: a cell's functions, and one ponder step of the tanh RNN each way.

A program has R rows of one replica and all H columns of their states. A state is too large to wait
in registers until the next step multiplies it: it goes through memory, and comes back in tiles of
`TILE` columns. A thread that reads back what others of its program have written needs a barrier
before it, and Triton sets none. So no load follows a store without a barrier between them; a test
walks all ways through the compiled code to see it.

Products are of float32 (`input_precision="ieee"`): TF32 would round halting sums by 3e-4.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def sigmoid(x):
    """1 / (1 + e^-x)."""
    return 1.0 / (1.0 + tl.exp(-x))


@triton.jit
def tanh(x):
    """2 sigmoid(2x) - 1, exact to 3e-7."""
    return 2.0 * sigmoid(2.0 * x) - 1.0


@triton.jit
def softplus(x):
    """log(1 + e^x), which is -logsigmoid(-x)."""
    return tl.maximum(x, 0.0) + tl.log(1.0 + tl.exp(-tl.abs(x)))


@triton.jit
def embed(inputs, weight, bias, rows, D: tl.constexpr, H: tl.constexpr, TILE: tl.constexpr):
    """The drive W_x x + b of some rows, (R, H): the same at every ponder step.

    Args:
        inputs: (B, D); weight: (H, D); bias: (H,).
        rows: (R,), which of B.
    """
    units = tl.arange(0, H)
    drive = tl.zeros((rows.shape[0], H), tl.float32) + tl.load(bias + units)[None, :]
    for first in range(0, D, TILE):
        d = first + tl.arange(0, TILE)
        x = tl.load(inputs + rows[:, None] * D + d[None, :], mask=d[None, :] < D, other=0.0)
        w = tl.load(weight + units[None, :] * D + d[:, None], mask=d[:, None] < D, other=0.0)
        drive = tl.dot(x, w, drive, input_precision="ieee")
    return drive


@triton.jit
def step(n, drives, flag, recurrent, states, rows, B, H: tl.constexpr, TILE: tl.constexpr):
    """s_n = tanh(W_x [x; flag] + W_s s_{n-1} + b), (R, H), from a state s_0 of zeros.

    Args:
        n: 1, 2, ...
        drives: (B, H), W_x x + b.
        flag: (H,), what step 1 adds to it.
        recurrent: (H, H), W_s.
        states: (N, B, H), where s_{n-1} is.

    Source: Graves 2016, Eq. 1 and Sec. 2.
    """
    units, part = tl.arange(0, H), tl.arange(0, TILE)
    pre = tl.load(drives + rows[:, None] * H + units[None, :])
    if n == 1:
        pre += tl.load(flag + units)[None, :]
    else:
        before = states + (n - 2) * B * H + rows[:, None] * H + part[None, :]
        turned = recurrent + units[None, :] * H + part[:, None]
        for j in range(0, H, TILE):
            pre = tl.dot(tl.load(before + j), tl.load(turned + j), pre, input_precision="ieee")
    return tanh(pre)


@triton.jit
def step_back(d_pre, recurrent, rows, H: tl.constexpr, TILE: tl.constexpr):
    """dL/ds_{n-1} as far as it comes through W_s s_{n-1}, (R, H).

    Args:
        d_pre: (B, H), the gradient of step n's pre-activations.
        recurrent: (H, H), W_s.
    """
    units, part = tl.arange(0, H), tl.arange(0, TILE)
    found = tl.zeros((rows.shape[0], H), tl.float32)
    d = d_pre + rows[:, None] * H + part[None, :]
    w = recurrent + part[:, None] * H + units[None, :]
    for j in range(0, H, TILE):
        found = tl.dot(tl.load(d + j), tl.load(w + j * H), found, input_precision="ieee")
    return found


@triton.jit
def end_chunk(
    mine, n, d_bias, d_heads, d_heads_bias, deepest, sums,
    d_drive, d_output_weight, d_halting_weight, d_output_bias, d_halting_bias,
    loss, wrong, ponder, remainder, steps, there, H: tl.constexpr, V: tl.constexpr,
):  # fmt: skip
    """Store what a chunk of rows adds to gradient and curves, each sum in one order.

    Args: as in `act.rows`, and
        mine: which chunk; n: the most steps of its rows.
        d_drive: (R, H); d_output_weight, d_halting_weight: (H,); all others of its rows, (R,).
    """
    unit = tl.arange(0, H)
    tl.store(d_bias + mine * V + unit, tl.sum(d_drive, 0))
    tl.store(d_heads + mine * V + unit, d_output_weight)
    tl.store(d_heads + mine * V + H + unit, d_halting_weight)
    tl.store(d_heads_bias + mine * V, tl.sum(d_output_bias, 0))
    tl.store(d_heads_bias + mine * V + 1, tl.sum(d_halting_bias, 0))
    tl.store(deepest + mine, n)
    tl.store(sums + mine * 8, tl.sum(tl.where(there, loss, 0.0), 0))
    tl.store(sums + mine * 8 + 1, tl.sum(tl.where(there & wrong, 1.0, 0.0), 0))
    tl.store(sums + mine * 8 + 2, tl.sum(ponder, 0))
    tl.store(sums + mine * 8 + 3, tl.sum(remainder, 0))
    tl.store(sums + mine * 8 + 4, tl.sum(steps, 0))
    tl.store(sums + mine * 8 + 5, tl.sum(tl.where(there, 1.0, 0.0), 0))
