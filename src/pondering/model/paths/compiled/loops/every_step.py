"""PonderNet: a block of a few rows goes through all steps of an input."""

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
)


class StepsJob(NamedTuple):
    """K stacked replicas and one input each. Arrays are float32."""

    lstm: bool  # else a TanhRNN
    block: int  # rows that go through the steps together
    drives: Array  # (K, B, W), the embedded inputs; W = H, or 4 H for an LSTM
    flag: Array  # (K, W), zero where a cell has none
    recurrent: Array  # (K, W, H), W_s
    turned: Array  # (K, H, W), its transpose
    heads: Array  # (K, C + 1, H), the output's weights and the halting unit's


class StepsTape(NamedTuple):
    """Every step of every row. A TanhRNN has no c: there H is 0 in `cells` and `squashed`."""

    hidden: Array  # (K, N + 1, B, H) h before the first step and after each
    cells: Array  # (K, N + 1, B, H) c before the first step and after each
    gates: Array  # (K, N, B, W) activations; `backward` puts the pre-activations' gradient here
    squashed: Array  # (K, N, B, H) tanh c


@loop
def blocks(job: StepsJob) -> int:
    """How many blocks all rows of all replicas make."""
    each: int = -(-job.drives.shape[1] // job.block)
    return len(job.drives) * each


@loop
def place(job: StepsJob, number: int) -> tuple[int, int, int]:
    """Replica, first row and end of the block of this number."""
    size = job.drives.shape[1]
    each = -(-size // job.block)
    low = number % each * job.block
    return number // each, low, min(low + job.block, size)


@loop
def forward(first: int, end: int, job: StepsJob, tape: StepsTape, out: Array) -> None:
    """Ponder the blocks `first` to `end - 1`.

    Args:
        first, end, job: which blocks, and of what.
        tape: holds the states before the first step; gets the rest.
        out: (K, N, B, C + 1), gets what the heads make of each step, without their bias.
    """
    _, steps, size, width = tape.gates.shape
    nothing, rows = np.zeros(width, f4), np.arange(size)
    for number in range(first, end):
        k, low, top = place(job, number)
        for n in range(steps):
            gates, hidden = tape.gates[k, n], tape.hidden[k, n + 1]
            added = nothing if n else job.flag[k]
            np.dot(tape.hidden[k, n, low:top], job.turned[k], gates[low:top])
            if job.lstm:
                step_lstm(low, top, rows, job.drives[k], added, gates, tape.cells[k, n],
                          tape.cells[k, n + 1], tape.squashed[k, n], hidden)  # fmt: skip
            else:
                step_tanh(low, top, rows, job.drives[k], added, gates)
                for row in range(low, top):
                    put(hidden, row, gates, row)
            np.dot(hidden[low:top], job.heads[k].T, out[k, n, low:top])


@loop
def backward(
    first: int, end: int, job: StepsJob, tape: StepsTape,
    d_out: Array, d_hidden: Array, d_cells: Array, d_state: Array, d_memory: Array,
) -> None:  # fmt: skip
    """Write the pre-activations' gradients over the gates, from the last step to the first.

    Args:
        first, end, job, tape: as in `forward`.
        d_out: (K, N, B, C + 1), the gradient of what the heads have made.
        d_hidden, d_cells: (K, N, B, H), gradients of h and c by other ways; (0, ...) if none.
        d_state, d_memory: (K, B, H), get the gradients of h and c before the first step.
    """
    steps = tape.gates.shape[1]
    for number in range(first, end):
        k, low, top = place(job, number)
        later, memory = d_state[k, low:top], d_memory[k, low:top]
        clear(later, 0, top - low)
        clear(memory, 0, top - low)
        dh = np.empty_like(later)
        for n in range(steps - 1, -1, -1):
            gates = tape.gates[k, n]
            np.dot(d_out[k, n, low:top], job.heads[k], dh)
            for i in range(top - low):
                add(dh, i, later, i)
                if len(d_hidden):
                    add(dh, i, d_hidden[k, n], low + i)
                if len(d_cells):
                    add(memory, i, d_cells[k, n], low + i)
            if job.lstm:
                back_lstm(low, top, gates, tape.cells[k, n], tape.squashed[k, n], dh, memory)
            else:
                back_tanh(low, top, gates, dh)
            np.dot(gates[low:top], job.recurrent[k], later)
