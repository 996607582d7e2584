"""ACT and fixed repeat: rows are walked until they halt, only those that go on are computed."""

from __future__ import annotations

from typing import NamedTuple

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


class Job(NamedTuple):
    """K stacked replicas, what they ponder, and when they halt."""

    lstm: bool  # else a TanhRNN
    epsilon: float
    max_steps: int
    block: int  # rows that are walked together
    mask: Array  # (T, K, B) bool
    drives: Array  # (T, K, B, W) float32, as all that follow; W = H, or 4 H of an LSTM
    flag: Array  # (K, W), zero where a cell has none
    recurrent: Array  # (K, W, H)
    units: Array  # (K, H), weights of the halting units
    bias: Array  # (K,)
    rho: Array  # (K,) steps of a fixed repeat; (0,): the halting units decide


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
        np.empty(rows, np.int64),
    )  # fmt: skip


@loop
def begin(
    job: Job, k: int, t: int, tape: Tape, used: int, features: Array, memory: Array, left: Array
) -> int:  # fmt: skip
    """Put the rows that have an input on the tape, from `used` on; the others' state stays."""
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
    if not t:  # W_s 0, and c = 0
        clear(tape.gates, used, end)
        clear(tape.old, used, end)
    return end


@loop
def halt(
    job: Job, k: int, step: int, tape: Tape, first: int, end: int, goal: int,
    left: Array, steps: Array, remainder: Array, expected: Array,
) -> int:  # fmt: skip
    """Weights p_n of rows after a step; those that take another are noted from `goal` on.

    Source: Graves 2016, Eqs. 5-8 and 13; `ACT.step` and `FixedRepeat.step` in `halting.py`.
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
    """Add p_n s_n of rows to `total` (B, H); copy to `old` the states of those that go on."""
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
    """out = a b; `compiled.py` has another for large networks."""
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
        the tape; steps of each replica and input; rows and steps on the tape.
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
    """Gradients of rows' states after a step, and of the halting units they give.

    Args:
        on: where in `later` and `kept`, gradients of what went on, these rows' begin.
        last: (B,), dL/dp of each row's last step.
        total, memory: (B, H), gradients of sum p_n s_n.
        d_hidden, d_cell: (end - first, H), get the gradients.

    Source: Graves 2016, Eqs. 14-20; `ACT.logit_gradient`.
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
    """Add pre-activations' gradients to the drives' (B, W), at step 1 to the flag's too."""
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
    """Begin an input's backward pass: add its features' gradient; rows without input have none."""
    for row in range(job.mask.shape[2]):
        add(total, row, d_features[t, k], row)
        if not job.mask[t, k, row]:
            clear(d_drives[t, k], row, row + 1)


@loop
def hand_over(tape: Tape, used: int, n: int, later: Array, total: Array) -> None:
    """Hand the gradient of step 1 over to the state before the input, for its n rows."""
    for i in range(n):
        put(total, tape.row[used + i], later, i)


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
        d_drives, d_recurrent: get the gradients.
        d_flag, d_units, d_bias: zeros, get theirs.
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
            later = np.empty((0, units), f4)  # gradient of the states that went on
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
