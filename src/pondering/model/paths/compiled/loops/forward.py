"""ACT and fixed repeat forwards: a step computes only the rows that have not halted.

The entries of a step lie side by side on the tape, from `first` to `end - 1`. Those whose row goes
on are written anew behind them, as the entries of the next step.
"""

from __future__ import annotations

import numpy as np

from pondering.model.paths.compiled.loops import Array, f4, loop, zero
from pondering.model.paths.compiled.loops.cells import clear, put, step_lstm, step_tanh, turn
from pondering.model.paths.compiled.loops.tape import Job, Tape, blank, with_room


@loop
def begin(
    job: Job, k: int, t: int, tape: Tape, used: int, features: Array, ends: Array, memory: Array,
    left: Array,
) -> int:  # fmt: skip
    """Put the rows that have input t on the tape, from `used` on; the others keep their state.

    Args:
        features: (T, K, B, H), sum p_n h_n of each input; where there is none, h before.
        ends: (T, K, B, H), the h that crosses to the next input; `features` itself if it is that.
        memory: (B, H), the c that crosses to the next input.
        left: (B,), gets the probability that is unspent, 1.

    Returns:
        the end of the entries.
    """
    end = used
    for row in range(job.mask.shape[2]):
        if job.mask[t, k, row]:
            if t:
                put(tape.hidden, end, ends[t - 1, k], row)
                put(tape.old, end, memory, row)
            tape.row[end], left[row] = row, 1
            end += 1
        elif t:
            put(features[t, k], row, ends[t - 1, k], row)
            put(ends[t, k], row, ends[t - 1, k], row)
        else:
            clear(features[t, k], row, row + 1)
            clear(ends[t, k], row, row + 1)
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
    after, unit, units = tape.after, job.units[k], tape.after.shape[1]
    for r in range(first, end):
        row, h = tape.row[r], f4(0)
        if len(job.rho):
            goes_on = step < job.rho[k]
        else:
            logit = f4(0)
            for j in range(after.shape[1]):
                logit += after[r, j] * unit[j]
            for j in range(len(unit) - units):
                logit += tape.cells[r, j] * unit[units + j]
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
def keep(tape: Tape, first: int, end: int, after: Array, ends: Array) -> None:
    """Copy the states `after` (R, H) of entries that have halted to their rows in `ends` (B, H)."""
    for r in range(first, end):
        if not tape.goes_on[r]:
            put(ends, tape.row[r], after, r)


@loop
def product(a: Array, b: Array, out: Array) -> None:
    """out = a b; for large networks `operations.py` puts torch's product in its place."""
    np.dot(a, b, out)


@loop
def forward(
    first: int, end: int, job: Job,
    features: Array, ends: Array, steps: Array, remainder: Array, expected: Array,
) -> tuple[Tape, Array, int, int]:  # fmt: skip
    """Ponder every input of the replicas `first` to `end - 1`, from states of zeros.

    Args:
        job: all replicas.
        features: (T, K, B, H), gets sum of p_n h_n; where there is no input, h before.
        ends: (T, K, B, H), gets h_N where that crosses to the next input; else `features` itself.
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
    a = calls = zero
    for k in range(first, end):
        memory = np.zeros((size, units if job.lstm else 0), f4)
        mean = np.empty_like(memory) if job.last else memory
        turn(job.recurrent[k], turned)
        for t in range(times):
            tape = with_room(tape, job.lstm, a, size)
            b = begin(job, k, t, tape, a, features, ends, memory, left)
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
                        carry(tape, low, top, goal, step == 1, tape.cells, tape.old, mean)
                    if job.last:
                        keep(tape, low, top, tape.after, ends[t, k])
                        keep(tape, low, top, tape.cells, memory)
                tape.counts[calls] = b - a
                calls += 1
                a, b, added = b, on, nothing
            taken[k - first, t] = step
    return tape, taken, a, calls
