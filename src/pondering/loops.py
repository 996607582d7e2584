"""ACT's pondering of whole replicas as compiled loops: `compute.path: compiled`.

Where few rows are left of a step, calling torch takes longer than the step itself. Numba compiles
these loops instead: each replica's rows are walked until they halt, and only those that go on are
computed. Replicas know nothing of one another, so no result depends on neighbours, threads or
shards.

ACT's rule and the cells' steps stand here once more, as arithmetic on numbers; the tests pin them
to the readable path. `compiled.py` is the side of torch. All of it is one file, since Numba looks
at no other when it asks whether the code that it keeps on disk is still that of a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit

Array = Any  # numpy.ndarray; Numba makes its own types of what a function is called with
Float = Any  # numpy.float32
F = TypeVar("F", bound=Callable[..., Any])
f4 = np.float32

# Sums in any order, so that they fit the CPU's vectors; NaN and infinity stay what they are.
LIBERTIES = {"reassoc", "contract", "arcp", "nsz"}


def loop(function: F) -> F:
    """Compile where first called, and keep the code on disk; other Python threads go on."""
    compiler = njit(nogil=True, cache=True, fastmath=LIBERTIES, error_model="numpy")
    return cast(F, compiler(function))


class Job(NamedTuple):
    """K stacked replicas, what they ponder, and when they halt."""

    lstm: bool  # else a TanhRNN
    epsilon: float
    max_steps: int
    mask: Array  # (T, K, B) bool
    drives: Array  # (T, K, B, W) float32, as all that follow; W = H, or 4 H of an LSTM
    flag: Array  # (K, W), zero where a cell has none
    recurrent: Array  # (K, W, H)
    units: Array  # (K, H), weights of the halting units
    bias: Array  # (K,)


class Tape(NamedTuple):
    """What the backward pass needs, step after step, of each step the rows that took it: (R, ...).

    Replica after replica, of each input after input.
    """

    hidden: Array  # (R, H) before the step
    gates: Array  # (R, W) activations; d pre-activations once the backward pass was there
    after: Array  # (R, H) after it; of a TanhRNN these are its gates, in one place
    old: Array  # (R, H) an LSTM's c before the step; the next two are its too
    cells: Array  # (R, H) c after it
    squashed: Array  # (R, H) tanh c
    row: Array  # (R,) its place in the batch
    goes_on: Array  # (R,) bool: it takes another step
    weight: Array  # (R,) p_n
    counts: Array  # rows of each step; as many numbers as there were steps


@loop
def tanh(x: Float) -> Float:
    """tanh x to 5e-7 of its value, as a quotient of polynomials (the coefficients are Eigen's).

    Beyond +-7.9 it is what it is there. NaN stays NaN.
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
def step_tanh(gates: Array) -> None:
    """s = tanh of the pre-activations (n, H), which it replaces."""
    for i in range(len(gates)):
        for j in range(gates.shape[1]):
            gates[i, j] = tanh(gates[i, j])


@loop
def step_lstm(gates: Array, old: Array, cells: Array, squashed: Array, after: Array) -> None:
    """c = f c' + i g and h = o tanh c; the gates i, f, g, o (n, 4 H) replace pre-activations."""
    size = after.shape[1]
    for i in range(len(gates)):
        for j in range(2 * size):
            gates[i, j] = sigmoid(gates[i, j])
        for j in range(2 * size, 3 * size):
            gates[i, j] = tanh(gates[i, j])
        for j in range(3 * size, 4 * size):
            gates[i, j] = sigmoid(gates[i, j])
        for j in range(size):
            c = gates[i, size + j] * old[i, j] + gates[i, j] * gates[i, 2 * size + j]
            cells[i, j] = c
            squashed[i, j] = tanh(c)
            after[i, j] = gates[i, 3 * size + j] * squashed[i, j]


@loop
def back_tanh(gates: Array, d_hidden: Array) -> None:
    """Pre-activations' gradient from that of s (n, H), in place of s."""
    for i in range(len(gates)):
        for j in range(gates.shape[1]):
            gates[i, j] = d_hidden[i, j] * (1 - gates[i, j] * gates[i, j])


@loop
def back_lstm(gates: Array, old: Array, squashed: Array, d_hidden: Array, d_cell: Array) -> None:
    """Pre-activations' gradient in place of the gates, that of c' in place of that of c."""
    size = old.shape[1]
    for n in range(len(gates)):
        for j in range(size):
            i, f = gates[n, j], gates[n, size + j]
            g, o = gates[n, 2 * size + j], gates[n, 3 * size + j]
            t, dh = squashed[n, j], d_hidden[n, j]
            dc = d_cell[n, j] + dh * o * (1 - t * t)
            gates[n, j] = dc * g * (i * (1 - i))
            gates[n, size + j] = dc * old[n, j] * (f * (1 - f))
            gates[n, 2 * size + j] = dc * i * (1 - g * g)
            gates[n, 3 * size + j] = dh * t * (o * (1 - o))
            d_cell[n, j] = dc * f


@loop
def add(target: Array, i: int, source: Array, n: int, factor: Float) -> None:
    """Add factor x row n of `source` to row i of `target`; a row as an array would cost more."""
    for j in range(target.shape[1]):
        target[i, j] += factor * source[n, j]


@loop
def put(target: Array, i: int, source: Array, n: int) -> None:
    """Row i of `target` becomes row n of `source`."""
    for j in range(target.shape[1]):
        target[i, j] = source[n, j]


@loop
def clear(target: Array, i: int) -> None:
    """Row i of `target` becomes zero."""
    for j in range(target.shape[1]):
        target[i, j] = 0


@loop
def product(a: Array, i: int, b: Array, n: int) -> Float:
    """The product of row i of a and row n of b."""
    total = f4(0)
    for j in range(a.shape[1]):
        total += a[i, j] * b[n, j]
    return total


@loop
def grown(old: Array, used: int, more: int) -> Array:
    """`old` with room for `more` rows after the first `used`."""
    new = np.empty((max(2 * len(old), used + more), *old.shape[1:]), old.dtype)
    source, target = old.reshape(-1), new.reshape(-1)
    for i in range(used * (old.size // len(old))):  # Numba takes seconds to compile a slice's copy
        target[i] = source[i]
    return new


@loop
def with_room(tape: Tape, lstm: bool, used: int, more: int) -> Tape:
    """The tape with room for `more` rows."""
    if used + more <= len(tape.hidden):
        return tape
    gates = grown(tape.gates, used, more)
    return Tape(
        grown(tape.hidden, used, more), gates,
        grown(tape.after, used, more) if lstm else gates, grown(tape.old, used, more),
        grown(tape.cells, used, more), grown(tape.squashed, used, more),
        grown(tape.row, used, more), grown(tape.goes_on, used, more),
        grown(tape.weight, used, more), grown(tape.counts, used, more),
    )  # fmt: skip


@loop
def blank(rows: int, size: int, width: int, lstm: bool) -> Tape:
    """An empty tape with room for so many rows."""
    cell = size if lstm else 0
    gates = np.empty((rows, width), f4)
    return Tape(
        np.empty((rows, size), f4), gates, np.empty((rows, size), f4) if lstm else gates,
        np.empty((rows, cell), f4), np.empty((rows, cell), f4), np.empty((rows, cell), f4),
        np.empty(rows, np.int32), np.empty(rows, np.bool_), np.empty(rows, f4),
        np.empty(rows, np.int32),
    )  # fmt: skip


@loop
def halt(job: Job, k: int, step: int, after: Array, i: int, left: Float) -> tuple[Float, bool]:
    """Of row i after a step: its weight p_n, and whether it takes another.

    Source: Graves 2016, Eqs. 5-8 and 13; `ACT.step` in `halting.py`.
    """
    h = f4(1) / (f4(1) + np.exp(-(product(after, i, job.units, k) + job.bias[k])))
    goes_on = step < job.max_steps and h < left - f4(job.epsilon)
    return h if goes_on else left, goes_on


@loop
def forward(
    first: int, end: int, job: Job,
    features: Array, steps: Array, remainder: Array, expected: Array,
) -> tuple[Tape, Array, int, int]:  # fmt: skip
    """Ponder every input of the replicas `first` to `end - 1`, from states of zeros.

    Args:
        job: all replicas.
        features: (T, K, B, H), gets sum of p_n s_n; where there is no input, the state before.
        steps, remainder, expected: (T, K, B) zeros, get N, R and sum of n p_n.

    Returns:
        the tape; steps of each replica and input; rows and steps on the tape.
    """
    times, _, size, width = job.drives.shape
    units = job.recurrent.shape[2]
    tape = blank(2 * times * size * (end - first) + size, units, width, job.lstm)
    taken = np.zeros((end - first, times), np.int32)
    rows, left = np.empty(size, np.int32), np.empty(size, f4)
    used = calls = 0
    for k in range(first, end):
        state = np.zeros((size, units), f4)
        memory = np.zeros((size, units if job.lstm else 0), f4)
        for t in range(times):
            tape = with_room(tape, job.lstm, used, size)
            drives = job.drives[t, k]
            n = 0
            for row in range(size):
                if job.mask[t, k, row]:
                    put(tape.hidden, used + n, state, row)
                    put(tape.old, used + n, memory, row)
                    clear(state, row)
                    clear(memory, row)
                    rows[n], left[n] = row, 1
                    n += 1
            step = 0
            while n:
                step += 1
                a, b = used, used + n
                tape = with_room(tape, job.lstm, b, n)
                gates = tape.gates[a:b]
                if t == 0 and step == 1:
                    for i in range(n):
                        clear(gates, i)
                else:
                    np.dot(tape.hidden[a:b], job.recurrent[k].T, gates)
                for i in range(n):
                    add(gates, i, drives, rows[i], f4(1))
                    if step == 1:
                        add(gates, i, job.flag, k, f4(1))
                if job.lstm:
                    step_lstm(gates, tape.old[a:b], tape.cells[a:b], tape.squashed[a:b],
                              tape.after[a:b])  # fmt: skip
                else:
                    step_tanh(gates)
                on = 0
                for i in range(n):
                    row = rows[i]
                    weight, goes_on = halt(job, k, step, tape.after, a + i, left[i])
                    tape.row[a + i], tape.weight[a + i] = row, weight
                    tape.goes_on[a + i] = goes_on
                    add(state, row, tape.after, a + i, weight)
                    add(memory, row, tape.cells, a + i, weight)
                    expected[t, k, row] += weight * step
                    if goes_on:
                        rows[on], left[on] = row, left[i] - weight
                        put(tape.hidden, b + on, tape.after, a + i)
                        put(tape.old, b + on, tape.cells, a + i)
                        on += 1
                    else:
                        steps[t, k, row] = step
                        remainder[t, k, row] = weight
                tape.counts[calls] = n
                calls += 1
                used, n = b, on
            taken[k - first, t] = step
            for row in range(size):
                put(features[t, k], row, state, row)
    return tape, taken, used, calls


@loop
def backward(
    first: int, end: int, job: Job, taped: tuple[Tape, Array, int, int],
    d_features: Array, d_cost: Array,
    d_drives: Array, d_flag: Array, d_recurrent: Array, d_units: Array, d_bias: Array,
) -> None:  # fmt: skip
    """The gradients of what `forward` read, last replica, input and step first.

    Args:
        first, end, job, taped: as there; the tape is used up.
        d_features: (T, K, B, H).
        d_cost: (T, K, B), dL/dR.
        d_drives, d_flag, d_recurrent, d_units, d_bias: zeros, get the gradients.
    """
    tape, taken, used, calls = taped
    units = job.recurrent.shape[2]
    size = job.mask.shape[2]
    last = np.zeros(size, f4)  # dL/dp of each row's last step
    for k in range(end - 1, first - 1, -1):
        total = np.zeros((size, units), f4)  # gradient of sum p_n s_n
        memory = np.zeros((size, units if job.lstm else 0), f4)
        bottom = used
        for t in range(len(job.mask) - 1, -1, -1):
            total += d_features[t, k]
            into = d_drives[t, k]
            d_later = np.empty((0, units), f4)  # gradient of the states that went on
            d_kept = np.empty((0, memory.shape[1]), f4)
            n = 0
            for step in range(taken[k - first, t], 0, -1):
                calls -= 1
                n = tape.counts[calls]
                b, a = used, used - n
                used = a
                d_hidden = np.zeros((n, units), f4)
                d_cell = np.zeros((n, memory.shape[1]), f4)
                on = 0
                for i in range(n):
                    row, weight = tape.row[a + i], tape.weight[a + i]
                    goes_on = tape.goes_on[a + i]
                    if goes_on:
                        put(d_hidden, i, d_later, on)
                        put(d_cell, i, d_kept, on)
                        on += 1
                    add(d_hidden, i, total, row, weight)
                    add(d_cell, i, memory, row, weight)
                    score = product(total, row, tape.after, a + i)
                    score += product(memory, row, tape.cells, a + i)
                    if goes_on:  # Graves 2016, Eqs. 14-20; `ACT.logit_gradient`
                        d_logit = (score - last[row] - d_cost[t, k, row]) * (weight * (1 - weight))
                        add(d_hidden, i, job.units, k, d_logit)
                        add(d_units, k, tape.after, a + i, d_logit)
                        d_bias[k] += d_logit
                    else:
                        last[row] = score
                gates = tape.gates[a:b]
                if job.lstm:
                    back_lstm(gates, tape.old[a:b], tape.squashed[a:b], d_hidden, d_cell)
                else:
                    back_tanh(gates, d_hidden)
                for i in range(n):
                    add(into, tape.row[a + i], gates, i, f4(1))
                    if step == 1:
                        add(d_flag, k, gates, i, f4(1))
                if t or step > 1:
                    np.dot(gates, job.recurrent[k], d_hidden)
                d_later, d_kept = d_hidden, d_cell
            for i in range(n):  # step 1: the rows that have an input
                put(total, tape.row[used + i], d_later, i)
                put(memory, tape.row[used + i], d_kept, i)
            begun = used + n if t == 0 else used  # before its first step the state was zero
        if begun < bottom:
            np.dot(tape.gates[begun:bottom].T, tape.hidden[begun:bottom], d_recurrent[k])
