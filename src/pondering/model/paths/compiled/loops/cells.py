"""Steps of cells and their gradients, for entries `first` to `end - 1` of a tape.

LLVM uses the CPU's vectors only where an inner loop runs over one row from 0 on, and reads no
element that it writes except the one at the same place.
"""

from __future__ import annotations

import numpy as np

from pondering.model.paths.compiled.loops import Array, Float, f4, loop

CACHE_LINE = 16  # floats


@loop
def tanh(x: Float) -> Float:
    """tanh x as a quotient of polynomials, with a relative error of 5e-7; NaN stays NaN.

    The argument is clamped to +-7.9, where tanh is 1 in float32.

    Source: the coefficients are those of the Eigen library.
    """
    x = f4(7.9053111) if x > f4(7.9053111) else x
    x = f4(-7.9053111) if x < f4(-7.9053111) else x
    u = x * x
    p = f4(-2.76076847742355e-16)
    p = p * u + f4(2.00018790482477e-13)
    p = p * u + f4(-8.60467152213735e-11)
    p = p * u + f4(5.12229709037114e-08)
    p = p * u + f4(1.48572235717979e-05)
    p = p * u + f4(6.37261928875436e-04)
    p = p * u + f4(4.89352455891786e-03)
    q = f4(1.19825839466702e-06)
    q = q * u + f4(1.18534705686654e-04)
    q = q * u + f4(2.26843463243900e-03)
    q = q * u + f4(4.89352518554385e-03)
    return x * p / q


@loop
def sigmoid(x: Float) -> Float:
    """1 / (1 + e^-x)."""
    return f4(0.5) * tanh(f4(0.5) * x) + f4(0.5)


@loop
def step_tanh(first: int, end: int, rows: Array, drives: Array, flag: Array, gates: Array) -> None:
    """s = tanh(W_s s' + drive + flag).

    Args:
        rows: (R,), each entry's row in the batch.
        drives: (B, W), the embedded inputs of the batch.
        flag: (W,), the flag's weights at step 1, else zero.
        gates: (R, W), W_s s'; becomes s.
    """
    for r in range(first, end):
        row = rows[r]
        for j in range(gates.shape[1]):
            gates[r, j] = tanh(gates[r, j] + drives[row, j] + flag[j])


@loop
def step_lstm(
    first: int, end: int, rows: Array, drives: Array, flag: Array, gates: Array,
    c_before: Array, c_after: Array, tanh_c: Array, h_after: Array,
) -> None:  # fmt: skip
    """c = f c' + i g and h = o tanh c.

    Args:
        rows, drives, flag: as in `step_tanh`.
        gates: (R, 4 H), W_s h'; becomes i, f, g, o.
        c_before: (R, H), c'.
        c_after, tanh_c, h_after: (R, H), become c, tanh c and h.
    """
    size = h_after.shape[1]
    for r in range(first, end):
        row = rows[r]
        for j in range(2 * size):
            gates[r, j] = sigmoid(gates[r, j] + drives[row, j] + flag[j])
        for j in range(size):
            n = 2 * size + j
            gates[r, n] = tanh(gates[r, n] + drives[row, n] + flag[n])
        for j in range(size):
            n = 3 * size + j
            gates[r, n] = sigmoid(gates[r, n] + drives[row, n] + flag[n])
        for j in range(size):
            c_after[r, j] = (
                gates[r, size + j] * c_before[r, j] + gates[r, j] * gates[r, 2 * size + j]
            )
        for j in range(size):
            tanh_c[r, j] = tanh(c_after[r, j])
        for j in range(size):
            h_after[r, j] = gates[r, 3 * size + j] * tanh_c[r, j]


@loop
def back_tanh(first: int, end: int, gates: Array, d_hidden: Array) -> None:
    """The pre-activations' gradient from that of s.

    Args:
        gates: (R, W), s; becomes the gradient.
        d_hidden: (end - first, H), the gradient of s.
    """
    for r in range(first, end):
        for j in range(gates.shape[1]):
            gates[r, j] = d_hidden[r - first, j] * (f4(1) - gates[r, j] * gates[r, j])


@loop
def back_lstm(
    first: int, end: int, gates: Array, c_before: Array, tanh_c: Array, d_hidden: Array,
    d_cell: Array,
) -> None:  # fmt: skip
    """The pre-activations' gradient from those of h and c.

    Args:
        gates: (R, 4 H), i, f, g, o; becomes the gradient.
        c_before, tanh_c: (R, H), c' and tanh c; `tanh_c` is overwritten.
        d_hidden: (end - first, H), the gradient of h.
        d_cell: (end - first, H), the gradient of c; becomes that of c'.
    """
    size = c_before.shape[1]
    scratch = np.empty(size, f4)
    for r in range(first, end):
        n = r - first
        for j in range(size):
            o, t = gates[r, 3 * size + j], tanh_c[r, j]
            d_cell[n, j] += d_hidden[n, j] * o * (f4(1) - t * t)
        for j in range(size):
            o, t = gates[r, 3 * size + j], tanh_c[r, j]
            gates[r, 3 * size + j] = d_hidden[n, j] * t * (o * (f4(1) - o))
        for j in range(size):
            tanh_c[r, j] = d_cell[n, j] * gates[r, 2 * size + j]
            scratch[j] = d_cell[n, j] * gates[r, j]
        for j in range(size):
            i = gates[r, j]
            gates[r, j] = tanh_c[r, j] * (i * (f4(1) - i))
        for j in range(size):
            g = gates[r, 2 * size + j]
            gates[r, 2 * size + j] = scratch[j] * (f4(1) - g * g)
        for j in range(size):
            f, dc = gates[r, size + j], d_cell[n, j]
            gates[r, size + j] = dc * c_before[r, j] * (f * (f4(1) - f))
            d_cell[n, j] = dc * f


@loop
def copy_row(target: Array, i: int, source: Array, n: int) -> None:
    """Copy row n of `source` to row i of `target`; slices of arrays would take longer."""
    for j in range(target.shape[1]):
        target[i, j] = source[n, j]


@loop
def add_row(target: Array, i: int, source: Array, n: int) -> None:
    """Add row n of `source` to row i of `target`."""
    for j in range(target.shape[1]):
        target[i, j] += source[n, j]


@loop
def transpose(source: Array, target: Array) -> None:
    """Write the transpose of `source` (W, H) to `target` (H, W), a few rows at a time."""
    for top in range(0, len(source), CACHE_LINE):
        for j in range(len(target)):
            for i in range(min(CACHE_LINE, len(source) - top)):
                target[j, top + i] = source[top + i, j]


@loop
def zero_rows(target: Array, first: int, end: int) -> None:
    """Set rows `first` to `end - 1` of `target` to zero."""
    for i in range(first, end):
        for j in range(target.shape[1]):
            target[i, j] = 0
