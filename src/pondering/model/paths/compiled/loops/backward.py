"""ACT and fixed repeat backwards, over the tape of `forward.py` from last entry to first."""

from __future__ import annotations

import numpy as np

from pondering.model.paths.compiled.loops import Array, f4, loop, zero
from pondering.model.paths.compiled.loops.cells import (
    add_row,
    back_lstm,
    back_tanh,
    copy_row,
    zero_rows,
)
from pondering.model.paths.compiled.loops.forward import product
from pondering.model.paths.compiled.loops.tape import Job, Tape


@loop
def back_halt(
    job: Job, k: int, tape: Tape, first: int, end: int, on: int, last: Array, d_cost: Array,
    total: Array, later_h: Array, d_hidden: Array, memory: Array, later_c: Array, d_cell: Array,
    d_end: Array, d_memory: Array, d_unit: Array, d_bias: Array,
) -> int:  # fmt: skip
    """Gradients of entries' states after a step, and of their halting units.

    Args:
        on: the first of these entries in `later_h` and `later_c`.
        last: (B,), dL/dp of each row's last step; set for rows whose last step this is.
        d_cost: (B,), dL/dR.
        total, memory: (B, H), gradients of sum p_n h_n and sum p_n c_n.
        later_h, later_c: gradients of h and c before the next step, for the rows that took it.
        d_hidden, d_cell: (end - first, H), become the gradients of h and c after the step.
        d_end, d_memory: (B, H), gradients of h_N and c_N; (0, H) if these do not cross.
        d_unit, d_bias: (H,) and (K,); the gradients are added to them.

    Returns:
        the first entry of the next block in `later_h` and `later_c`.

    Source: Graves 2016, Eqs. 14-20, as `ACT.logit_gradient`.
    """
    after, cells, unit, units = tape.h_after, tape.c_after, job.units[k], tape.h_after.shape[1]
    rows, weights, goes_on = tape.row, tape.weight, tape.goes_on
    for r in range(first, end):
        row, weight, i, score = rows[r], weights[r], r - first, f4(0)
        if goes_on[r] and len(job.rho):
            copy_row(d_hidden, i, later_h, on)
            copy_row(d_cell, i, later_c, on)
            on += 1
            continue
        for j in range(after.shape[1]):
            score += total[row, j] * after[r, j]
        for j in range(cells.shape[1]):
            score += memory[row, j] * cells[r, j]
        if goes_on[r]:
            d_logit = (score - last[row] - d_cost[row]) * (weight * (f4(1) - weight))
            d_bias[k] += d_logit
            for j in range(after.shape[1]):
                d_unit[j] += d_logit * after[r, j]
            for j in range(after.shape[1]):
                d_hidden[i, j] = later_h[on, j] + weight * total[row, j] + d_logit * unit[j]
            for j in range(cells.shape[1]):
                d_cell[i, j] = later_c[on, j] + weight * memory[row, j]
            for j in range(len(unit) - units):
                d_unit[units + j] += d_logit * cells[r, j]
                d_cell[i, j] += d_logit * unit[units + j]
            on += 1
        else:
            last[row] = score
            for j in range(after.shape[1]):
                d_hidden[i, j] = weight * total[row, j]
            for j in range(cells.shape[1]):
                d_cell[i, j] = weight * memory[row, j]
            if len(d_end):
                add_row(d_hidden, i, d_end, row)
                add_row(d_cell, i, d_memory, row)
    return on


@loop
def gather(tape: Tape, first: int, end: int, begins: bool, into: Array, d_flag: Array) -> None:
    """Add the pre-activations' gradients to the drives' (B, W), at step 1 also to the flag's (W,).

    A row's last step, the first in the backward pass, overwrites `into`.
    """
    gates, rows, goes_on = tape.gates, tape.row, tape.goes_on
    for r in range(first, end):
        row = rows[r]
        if goes_on[r]:
            for j in range(gates.shape[1]):
                into[row, j] += gates[r, j]
        else:
            copy_row(into, row, gates, r)
        if begins:
            for j in range(gates.shape[1]):
                d_flag[j] += gates[r, j]


@loop
def begin_input(
    job: Job, k: int, t: int, d_features: Array, crossing: Array, total: Array, d_drives: Array
) -> None:
    """Begin an input's backward pass: add the gradient of its features to `total` (B, H).

    For a row without this input the drive's gradient is zero, and the features are the h before.
    The gradient of that h is in `crossing`, (B, H), which is `total` if sum p_n h_n crosses.
    """
    for row in range(job.mask.shape[2]):
        if not job.mask[t, k, row]:
            zero_rows(d_drives[t, k], row, row + 1)
            add_row(crossing, row, d_features[t, k], row)
        else:
            add_row(total, row, d_features[t, k], row)


@loop
def end_input(tape: Tape, used: int, n: int, later: Array, total: Array) -> None:
    """Copy the gradients `later` (n, H) of the state before step 1 to `total` (B, H).

    The entries of step 1 begin at `used`. Rows without this input keep their gradient.
    """
    for i in range(n):
        copy_row(total, tape.row[used + i], later, i)


@loop
def backward(
    first: int, end: int, job: Job, taped: tuple[Tape, Array, int, int],
    d_features: Array, d_cost: Array,
    d_drives: Array, d_flag: Array, d_recurrent: Array, d_units: Array, d_bias: Array,
) -> None:  # fmt: skip
    """The gradients of the inputs of `forward`; replicas, inputs and steps in reverse order.

    Args:
        first, end, job, taped: arguments and result of `forward`; the tape is overwritten.
        d_features: (T, K, B, H).
        d_cost: (T, K, B), dL/dR.
        d_drives, d_recurrent: become their gradients.
        d_flag, d_units, d_bias: zeros, become their gradients.
    """
    tape, taken, used, calls = taped
    units = job.recurrent.shape[2]
    size = job.mask.shape[2]
    last = np.zeros(size, f4)
    for k in range(end - 1, first - 1, -1):
        d_h = np.zeros((size, units), f4)  # gradient of what crosses to the next input
        d_c = np.zeros((size, units if job.lstm else 0), f4)
        total, memory = d_h, d_c  # gradient of sum p_n s_n: the same, unless s_N crosses
        d_end, d_memory = np.empty((0, units), f4), np.empty((0, d_c.shape[1]), f4)
        if job.last:
            total, memory, d_end, d_memory = np.zeros_like(d_h), np.zeros_like(d_c), d_h, d_c
        bottom = used
        for t in range(len(job.mask) - 1, -1, -1):
            if job.last:
                zero_rows(total, 0, size)
            begin_input(job, k, t, d_features, d_h, total, d_drives)
            later_h = np.empty((0, units), f4)  # gradient of the states before the next step
            later_c = np.empty((0, memory.shape[1]), f4)
            n = zero
            for step in range(taken[k - first, t], 0, -1):
                calls -= 1
                n = tape.counts[calls]
                used -= n
                d_hidden, d_cell = np.empty((n, units), f4), np.empty((n, memory.shape[1]), f4)
                on = zero
                for low in range(0, n, job.block):
                    top = min(low + job.block, n)
                    a, b = used + low, used + top
                    dh, dc = d_hidden[low:top], d_cell[low:top]
                    on = back_halt(
                        job, k, tape, a, b, on, last, d_cost[t, k], total, later_h, dh,
                        memory, later_c, dc, d_end, d_memory, d_units[k], d_bias,
                    )  # fmt: skip
                    if job.lstm:
                        back_lstm(a, b, tape.gates, tape.c_before, tape.tanh_c, dh, dc)
                    else:
                        back_tanh(a, b, tape.gates, dh)
                    gather(tape, a, b, step == 1, d_drives[t, k], d_flag[k])
                    if t or step > 1:
                        product(tape.gates[a:b], job.recurrent[k], dh)
                later_h, later_c = d_hidden, d_cell
            end_input(tape, used, n, later_h, d_h)
            end_input(tape, used, n, later_c, d_c)
            low_entry = used + n if t == 0 else used  # before its first step the state was zero
        if low_entry < bottom:
            product(tape.gates[low_entry:bottom].T, tape.h_before[low_entry:bottom], d_recurrent[k])
        else:
            zero_rows(d_recurrent[k], 0, len(d_recurrent[k]))
