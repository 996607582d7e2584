"""ACT and fixed repeat: a step computes only the rows that have not halted.

The entries of a step lie side by side on the tape, from `first` to `end - 1`. Those whose row goes
on are written anew behind them, as the entries of the next step.
"""

from __future__ import annotations

import numpy as np

from pondering.model.paths.compiled.loops import Array, f4, loop
from pondering.model.paths.compiled.loops.cells import (
    add,
    back_lstm,
    back_tanh,
    clear,
    put,
    step_lstm,
    step_tanh,
    turn,
)
from pondering.model.paths.compiled.loops.tape import Job, Tape, blank, with_room


@loop
def begin(
    job: Job, k: int, t: int, tape: Tape, used: int, features: Array, memory: Array, left: Array
) -> int:  # fmt: skip
    """Put the rows that have input t on the tape, from `used` on; the others keep their state.

    Args:
        features: (T, K, B, H), h after each input.
        memory: (B, H), c after the input before.
        left: (B,), gets the probability that is unspent, 1.

    Returns:
        the end of the entries.
    """
    end = used
    for row in range(job.mask.shape[2]):
        if job.mask[t, k, row]:
            if t:
                put(tape.hidden, end, features[t - 1, k], row)
                put(tape.old, end, memory, row)
            tape.row[end], left[row] = row, 1
            end += 1
        elif t:
            put(features[t, k], row, features[t - 1, k], row)
        else:
            clear(features[t, k], row, row + 1)
    if not t:  # the state is zero, and so is W_s h
        clear(tape.gates, used, end)
        clear(tape.old, used, end)
    return end


@loop
def halt(
    job: Job, k: int, step: int, tape: Tape, first: int, end: int, goal: int,
    left: Array, steps: Array, remainder: Array, expected: Array,
) -> int:  # fmt: skip
    """Decide p_n of entries after a step; rows that take another become entries from `goal` on.

    Args:
        left: (B,), the probability that is unspent.
        steps, remainder, expected: (B,), get N, R and sum of n p_n.

    Returns:
        the end of the next step's entries.

    Source: Graves 2016, Eqs. 5-8 and 13, as `ACT.step` and `FixedRepeat.step`.
    """
    after, unit = tape.after, job.units[k]
    for r in range(first, end):
        row, h = tape.row[r], f4(0)
        if len(job.rho):
            goes_on = step < job.rho[k]
        else:
            logit = f4(0)
            for j in range(after.shape[1]):
                logit += after[r, j] * unit[j]
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
def carry(
    tape: Tape, first: int, end: int, goal: int, begins: bool,
    after: Array, old: Array, total: Array,
) -> None:  # fmt: skip
    """Add p_n s_n of entries to `total` (B, H); copy the states of those that go on to `old`.

    Args:
        goal: the first entry of those that go on.
        begins: whether this is step 1, which overwrites `total`.
        after, old: (R, H), the tape's states after and before steps: h, or c.
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
            put(old, goal, after, r)
            goal += 1


@loop
def product(a: Array, b: Array, out: Array) -> None:
    """out = a b; for large networks `operations.py` puts torch's product in its place."""
    np.dot(a, b, out)


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
        the tape; most steps of each replica and input, (end - first, T); how many entries and how
        many steps are on the tape.
    """
    times, _, size, width = job.drives.shape
    units = job.recurrent.shape[2]
    tape = blank(2 * times * size * (end - first) + size, units, width, job.lstm)
    taken = np.zeros((end - first, times), np.int32)
    left, nothing = np.empty(size, f4), np.zeros(width, f4)
    turned = np.empty((units, width), f4)
    a = calls = 0
    for k in range(first, end):
        memory = np.zeros((size, units if job.lstm else 0), f4)
        turn(job.recurrent[k], turned)
        for t in range(times):
            tape = with_room(tape, job.lstm, a, size)
            b = begin(job, k, t, tape, a, features, memory, left)
            drives, state, added = job.drives[t, k], features[t, k], job.flag[k]
            step = 0
            while b > a:
                step += 1
                tape = with_room(tape, job.lstm, b, b - a)
                on = b
                for low in range(a, b, job.block):
                    top = min(low + job.block, b)
                    if t or step > 1:
                        product(tape.hidden[low:top], turned, tape.gates[low:top])
                    if job.lstm:
                        step_lstm(low, top, tape.row, drives, added, tape.gates,
                                  tape.old, tape.cells, tape.squashed, tape.after)  # fmt: skip
                    else:
                        step_tanh(low, top, tape.row, drives, added, tape.gates)
                    goal, on = on, halt(job, k, step, tape, low, top, on, left,
                                        steps[t, k], remainder[t, k], expected[t, k])  # fmt: skip
                    carry(tape, low, top, goal, step == 1, tape.after, tape.hidden, state)
                    if job.lstm:
                        carry(tape, low, top, goal, step == 1, tape.cells, tape.old, memory)
                tape.counts[calls] = b - a
                calls += 1
                a, b, added = b, on, nothing
            taken[k - first, t] = step
    return tape, taken, a, calls


@loop
def back_halt(
    job: Job, k: int, tape: Tape, first: int, end: int, on: int, last: Array, d_cost: Array,
    total: Array, later: Array, d_hidden: Array, memory: Array, kept: Array, d_cell: Array,
    d_unit: Array, d_bias: Array,
) -> int:  # fmt: skip
    """Gradients of entries' states after a step, and of their halting units.

    Args:
        on: the first of these entries in `later` and `kept`.
        last: (B,), dL/dp of each row's last step; gets those whose last step this was.
        d_cost: (B,), dL/dR.
        total, memory: (B, H), gradients of sum p_n h_n and sum p_n c_n.
        later, kept: gradients of h and c before the next step, for the rows that took it.
        d_hidden, d_cell: (end - first, H), get the gradients of h and c after the step.
        d_unit, d_bias: (H,) and (K,), are added to.

    Returns:
        where the next block's entries begin in `later` and `kept`.

    Source: Graves 2016, Eqs. 14-20, as `ACT.logit_gradient`.
    """
    after, cells, unit = tape.after, tape.cells, job.units[k]
    rows, weights, goes_on = tape.row, tape.weight, tape.goes_on
    for r in range(first, end):
        row, weight, i, score = rows[r], weights[r], r - first, f4(0)
        if goes_on[r] and len(job.rho):
            put(d_hidden, i, later, on)
            put(d_cell, i, kept, on)
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
                d_hidden[i, j] = later[on, j] + weight * total[row, j] + d_logit * unit[j]
            for j in range(cells.shape[1]):
                d_cell[i, j] = kept[on, j] + weight * memory[row, j]
            on += 1
        else:
            last[row] = score
            for j in range(after.shape[1]):
                d_hidden[i, j] = weight * total[row, j]
            for j in range(cells.shape[1]):
                d_cell[i, j] = weight * memory[row, j]
    return on


@loop
def gather(tape: Tape, first: int, end: int, begins: bool, into: Array, d_flag: Array) -> None:
    """Add the pre-activations' gradients to the drives' (B, W), at step 1 also to the flag's (W,).

    A row's last step, the first that the backward pass meets, overwrites what stands in `into`.
    """
    gates, rows, goes_on = tape.gates, tape.row, tape.goes_on
    for r in range(first, end):
        row = rows[r]
        if goes_on[r]:
            for j in range(gates.shape[1]):
                into[row, j] += gates[r, j]
        else:
            put(into, row, gates, r)
        if begins:
            for j in range(gates.shape[1]):
                d_flag[j] += gates[r, j]


@loop
def receive(job: Job, k: int, t: int, d_features: Array, total: Array, d_drives: Array) -> None:
    """Begin an input's backward pass: add the gradient of its features to `total` (B, H).

    A row without this input has no drive: the drive's gradient is zero.
    """
    for row in range(job.mask.shape[2]):
        add(total, row, d_features[t, k], row)
        if not job.mask[t, k, row]:
            clear(d_drives[t, k], row, row + 1)


@loop
def hand_over(tape: Tape, used: int, n: int, later: Array, total: Array) -> None:
    """Put the gradients `later` (n, H) of the state before step 1 in `total` (B, H).

    The entries of step 1 begin at `used`. Rows without this input keep their gradient.
    """
    for i in range(n):
        put(total, tape.row[used + i], later, i)


@loop
def backward(
    first: int, end: int, job: Job, taped: tuple[Tape, Array, int, int],
    d_features: Array, d_cost: Array,
    d_drives: Array, d_flag: Array, d_recurrent: Array, d_units: Array, d_bias: Array,
) -> None:  # fmt: skip
    """The gradients of what `forward` read; replicas, inputs and steps in reverse order.

    Args:
        first, end, job, taped: arguments and result of `forward`; the tape is overwritten.
        d_features: (T, K, B, H).
        d_cost: (T, K, B), dL/dR.
        d_drives, d_recurrent: get their gradients.
        d_flag, d_units, d_bias: zeros, get their gradients.
    """
    tape, taken, used, calls = taped
    units = job.recurrent.shape[2]
    size = job.mask.shape[2]
    last = np.zeros(size, f4)
    for k in range(end - 1, first - 1, -1):
        total = np.zeros((size, units), f4)  # gradient of sum p_n s_n
        memory = np.zeros((size, units if job.lstm else 0), f4)
        bottom = used
        for t in range(len(job.mask) - 1, -1, -1):
            receive(job, k, t, d_features, total, d_drives)
            later = np.empty((0, units), f4)  # gradient of the states before the next step
            kept = np.empty((0, memory.shape[1]), f4)
            n = 0
            for step in range(taken[k - first, t], 0, -1):
                calls -= 1
                n = tape.counts[calls]
                used -= n
                d_hidden, d_cell = np.empty((n, units), f4), np.empty((n, memory.shape[1]), f4)
                on = 0
                for low in range(0, n, job.block):
                    top = min(low + job.block, n)
                    a, b = used + low, used + top
                    dh, dc = d_hidden[low:top], d_cell[low:top]
                    on = back_halt(
                        job, k, tape, a, b, on, last, d_cost[t, k], total, later, dh,
                        memory, kept, dc, d_units[k], d_bias,
                    )  # fmt: skip
                    if job.lstm:
                        back_lstm(a, b, tape.gates, tape.old, tape.squashed, dh, dc)
                    else:
                        back_tanh(a, b, tape.gates, dh)
                    gather(tape, a, b, step == 1, d_drives[t, k], d_flag[k])
                    if t or step > 1:
                        product(tape.gates[a:b], job.recurrent[k], dh)
                later, kept = d_hidden, d_cell
            hand_over(tape, used, n, later, total)
            hand_over(tape, used, n, kept, memory)
            begun = used + n if t == 0 else used  # before its first step the state was zero
        if begun < bottom:
            product(tape.gates[begun:bottom].T, tape.hidden[begun:bottom], d_recurrent[k])
        else:
            clear(d_recurrent[k], 0, len(d_recurrent[k]))
