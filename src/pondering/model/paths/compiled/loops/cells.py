"""Steps of cells and their gradients, of rows `first` to `end - 1` of a tape.

An inner loop runs over one row's numbers from 0 on. It writes to no array that it also reads: LLVM
would not vectorise it.
"""

from __future__ import annotations

import numpy as np

from pondering.model.paths.compiled.loops import Array, Float, f4, loop

TURNED = 16  # floats of a line in the cache


@loop
def tanh(x: Float) -> Float:
    """tanh x to 5e-7 of its value, as a quotient of polynomials (the coefficients are Eigen's).

    The argument is clamped to +-7.9, where tanh is 1 in float32. NaN stays NaN.
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
def step_tanh(first: int, end: int, rows: Array, drives: Array, added: Array, gates: Array) -> None:
    """s = tanh of the pre-activations.

    Args:
        rows: (R,), each row's place in the batch.
        drives: (B, W), of the batch.
        added: (W,), what all rows get besides.
        gates: (R, W), W_s s'; becomes s.
    """
    for r in range(first, end):
        row = rows[r]
        for j in range(gates.shape[1]):
            gates[r, j] = tanh(gates[r, j] + drives[row, j] + added[j])


@loop
def step_lstm(
    first: int, end: int, rows: Array, drives: Array, added: Array, gates: Array,
    old: Array, cells: Array, squashed: Array, after: Array,
) -> None:  # fmt: skip
    """c = f c' + i g and h = o tanh c, as `step_tanh`; `gates` (R, 4 H) become i, f, g, o.

    Args:
        old: (R, H), c'.
        cells, squashed, after: (R, H), get c, tanh c and h.
    """
    size = after.shape[1]
    for r in range(first, end):
        row = rows[r]
        for j in range(2 * size):
            gates[r, j] = sigmoid(gates[r, j] + drives[row, j] + added[j])
        for j in range(size):
            n = 2 * size + j
            gates[r, n] = tanh(gates[r, n] + drives[row, n] + added[n])
        for j in range(size):
            n = 3 * size + j
            gates[r, n] = sigmoid(gates[r, n] + drives[row, n] + added[n])
        for j in range(size):
            cells[r, j] = gates[r, size + j] * old[r, j] + gates[r, j] * gates[r, 2 * size + j]
        for j in range(size):
            squashed[r, j] = tanh(cells[r, j])
        for j in range(size):
            after[r, j] = gates[r, 3 * size + j] * squashed[r, j]


@loop
def back_tanh(first: int, end: int, gates: Array, d_hidden: Array) -> None:
    """Pre-activations' gradient from that of s.

    Args:
        gates: (R, W), s; becomes the gradient.
        d_hidden: (end - first, H).
    """
    for r in range(first, end):
        for j in range(gates.shape[1]):
            gates[r, j] = d_hidden[r - first, j] * (f4(1) - gates[r, j] * gates[r, j])


@loop
def back_lstm(
    first: int, end: int, gates: Array, old: Array, squashed: Array, d_hidden: Array, d_cell: Array
) -> None:  # fmt: skip
    """Pre-activations' gradient, as `back_tanh`; `squashed` is used up.

    Args:
        d_cell: (end - first, H), the gradient of c; becomes that of c'.
    """
    size = old.shape[1]
    spare = np.empty(size, f4)
    for r in range(first, end):
        n = r - first
        for j in range(size):
            o, t = gates[r, 3 * size + j], squashed[r, j]
            d_cell[n, j] += d_hidden[n, j] * o * (f4(1) - t * t)
        for j in range(size):
            o, t = gates[r, 3 * size + j], squashed[r, j]
            gates[r, 3 * size + j] = d_hidden[n, j] * t * (o * (f4(1) - o))
        for j in range(size):
            squashed[r, j] = d_cell[n, j] * gates[r, 2 * size + j]
            spare[j] = d_cell[n, j] * gates[r, j]
        for j in range(size):
            i = gates[r, j]
            gates[r, j] = squashed[r, j] * (i * (f4(1) - i))
        for j in range(size):
            g = gates[r, 2 * size + j]
            gates[r, 2 * size + j] = spare[j] * (f4(1) - g * g)
        for j in range(size):
            f, dc = gates[r, size + j], d_cell[n, j]
            gates[r, size + j] = dc * old[r, j] * (f * (f4(1) - f))
            d_cell[n, j] = dc * f


@loop
def put(target: Array, i: int, source: Array, n: int) -> None:
    """Row i of `target` becomes row n of `source`; a row as an array would cost more."""
    for j in range(target.shape[1]):
        target[i, j] = source[n, j]


@loop
def add(target: Array, i: int, source: Array, n: int) -> None:
    """Row n of `source` is added to row i of `target`."""
    for j in range(target.shape[1]):
        target[i, j] += source[n, j]


@loop
def turn(source: Array, target: Array) -> None:
    """`target` (H, W) becomes the transpose of `source` (W, H), a few rows at a time."""
    for top in range(0, len(source), TURNED):
        for j in range(len(target)):
            for i in range(min(TURNED, len(source) - top)):
                target[j, top + i] = source[top + i, j]


@loop
def clear(target: Array, first: int, end: int) -> None:
    """Rows `first` to `end - 1` of `target` become zero."""
    for i in range(first, end):
        for j in range(target.shape[1]):
            target[i, j] = 0
