"""ACT and fixed repeat forwards: a step computes only the rows that have not halted.

The entries of a step lie side by side on the tape, from `first` to `end - 1`. The rows that go on
get new entries behind them, for the next step.
"""

from __future__ import annotations

import numpy as np

from pondering.model.paths.compiled.loops import Array, f4, loop, zero
from pondering.model.paths.compiled.loops.cells import (
    copy_row,
    step_lstm,
    step_tanh,
    transpose,
    zero_rows,
)
from pondering.model.paths.compiled.loops.tape import Job, Tape, empty_tape, ensure_room


@loop
def begin_input(
    job: Job, k: int, t: int, tape: Tape, used: int, features: Array, ends: Array, memory: Array,
    left: Array,
) -> int:  # fmt: skip
    """Add entries for the rows that have input t, from `used` on; other rows keep their state.

    Args:
        features: (T, K, B, H), sum p_n h_n of each input; without an input, the h before.
        ends: (T, K, B, H), the h that crosses to the next input; may be `features`.
        memory: (B, H), the c that crosses to the next input.
        left: (B,), becomes the unspent probability, 1.

    Returns:
        the end of the entries.
    """
    end = used
    for row in range(job.mask.shape[2]):
        if job.mask[t, k, row]:
            if t:
                copy_row(tape.h_before, end, ends[t - 1, k], row)
                copy_row(tape.c_before, end, memory, row)
            tape.row[end], left[row] = row, 1
            end += 1
        elif t:
            copy_row(features[t, k], row, ends[t - 1, k], row)
            copy_row(ends[t, k], row, ends[t - 1, k], row)
        else:
            zero_rows(features[t, k], row, row + 1)
            zero_rows(ends[t, k], row, row + 1)
    if not t:  # the state is zero, and so is W_s h
        zero_rows(tape.gates, used, end)
        zero_rows(tape.c_before, used, end)
    return end


@loop
def halt(
    job: Job, k: int, step: int, tape: Tape, first: int, end: int, goal: int,
    left: Array, steps: Array, remainder: Array, expected: Array,
) -> int:  # fmt: skip
    """Set p_n of entries after a step; rows that go on get entries from `goal` on.

    Args:
        left: (B,), the unspent probability.
        steps, remainder, expected: (B,), become N, R and sum of n p_n.

    Returns:
        the end of the next step's entries.

    Source: Graves 2016, Eqs. 5-8 and 13, as `ACT.step` and `FixedRepeat.step`.
    """
    after, unit, units = tape.h_after, job.units[k], tape.h_after.shape[1]
    for r in range(first, end):
        row, h = tape.row[r], f4(0)
        if len(job.rho):
            goes_on = step < job.rho[k]
        else:
            logit = f4(0)
            for j in range(after.shape[1]):
                logit += after[r, j] * unit[j]
            for j in range(len(unit) - units):
                logit += tape.c_after[r, j] * unit[units + j]
            h = f4(1) / (f4(1) + np.exp(-(logit + job.bias[k])))
            goes_on = step < job.max_steps and h < left[row] - f4(job.epsilon)
        weight = h if goes_on else left[row]
        tape.weight[r], tape.goes_on[r] = weight, goes_on
        expected[row] += weight * step
        if goes_on:
            left[row] -= weight
            tape.row[goal] = row
            goal += 1
        else:
            steps[row], remainder[row] = step, weight
    return goal


@loop
def accumulate(
    tape: Tape, first: int, end: int, goal: int, begins: bool,
    after: Array, before: Array, total: Array,
) -> None:  # fmt: skip
    """Add p_n s_n of entries to `total` (B, H); copy the states of rows that go on to `before`.

    Args:
        goal: the first entry of the rows that go on.
        begins: whether this is step 1, which overwrites `total`.
        after, before: (R, H), the tape's states after and before steps: h, or c.
    """
    rows, weights, goes_on = tape.row, tape.weight, tape.goes_on
    for r in range(first, end):
        row, weight = rows[r], weights[r]
        if begins:
            for j in range(after.shape[1]):
                total[row, j] = weight * after[r, j]
        else:
            for j in range(after.shape[1]):
                total[row, j] += weight * after[r, j]
        if goes_on[r]:
            copy_row(before, goal, after, r)
            goal += 1


@loop
def copy_last(tape: Tape, first: int, end: int, after: Array, ends: Array) -> None:
    """Copy the states `after` (R, H) of rows that halt at this step to `ends` (B, H)."""
    for r in range(first, end):
        if not tape.goes_on[r]:
            copy_row(ends, tape.row[r], after, r)


@loop
def product(a: Array, b: Array, out: Array) -> None:
    """out = a b; for large networks `operations.py` takes torch's product instead."""
    np.dot(a, b, out)


@loop
def forward(
    first: int, end: int, job: Job,
    features: Array, ends: Array, steps: Array, remainder: Array, expected: Array,
) -> tuple[Tape, Array, int, int]:  # fmt: skip
    """Ponder every input of the replicas `first` to `end - 1`, from states of zeros.

    Args:
        job: all replicas.
        features: (T, K, B, H), becomes sum of p_n h_n; without an input, the h before.
        ends: (T, K, B, H), becomes h_N if that crosses to the next input; else `features` itself.
        steps, remainder, expected: (T, K, B) zeros, become N, R and sum of n p_n.

    Returns:
        the tape; the largest number of steps of each replica and input, (end - first, T); the
        numbers of entries and of steps on the tape.
    """
    times, _, size, width = job.drives.shape
    units = job.recurrent.shape[2]
    tape = empty_tape(2 * times * size * (end - first) + size, units, width, job.lstm)
    taken = np.zeros((end - first, times), np.int32)
    left, no_flag = np.empty(size, f4), np.zeros(width, f4)
    transposed = np.empty((units, width), f4)
    a = calls = zero
    for k in range(first, end):
        memory = np.zeros((size, units if job.lstm else 0), f4)
        mean = np.empty_like(memory) if job.last else memory
        transpose(job.recurrent[k], transposed)
        for t in range(times):
            tape = ensure_room(tape, job.lstm, a, size)
            b = begin_input(job, k, t, tape, a, features, ends, memory, left)
            drives, state, flag = job.drives[t, k], features[t, k], job.flag[k]
            step = 0
            while b > a:
                step += 1
                tape = ensure_room(tape, job.lstm, b, b - a)
                on = b
                for low in range(a, b, job.block):
                    top = min(low + job.block, b)
                    if t or step > 1:
                        product(tape.h_before[low:top], transposed, tape.gates[low:top])
                    if job.lstm:
                        step_lstm(low, top, tape.row, drives, flag, tape.gates, tape.c_before,
                                  tape.c_after, tape.tanh_c, tape.h_after)  # fmt: skip
                    else:
                        step_tanh(low, top, tape.row, drives, flag, tape.gates)
                    goal, on = on, halt(job, k, step, tape, low, top, on, left,
                                        steps[t, k], remainder[t, k], expected[t, k])  # fmt: skip
                    accumulate(tape, low, top, goal, step == 1, tape.h_after, tape.h_before, state)
                    if job.lstm:
                        accumulate(
                            tape, low, top, goal, step == 1, tape.c_after, tape.c_before, mean
                        )
                    if job.last:
                        copy_last(tape, low, top, tape.h_after, ends[t, k])
                        copy_last(tape, low, top, tape.c_after, memory)
                tape.counts[calls] = b - a
                calls += 1
                a, b, flag = b, on, no_flag
            taken[k - first, t] = step
    return tape, taken, a, calls
