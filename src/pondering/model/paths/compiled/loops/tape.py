"""The arguments of `forward.py` and `backward.py`, and the tape, which grows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pondering.model.paths.compiled.loops import Array, f4, loop


class Job(NamedTuple):
    """K stacked replicas, their inputs and their halting. Arrays are float32 unless noted."""

    lstm: bool  # else a TanhRNN
    last: bool  # s_N crosses to the next input, else sum p_n s_n
    epsilon: float
    max_steps: int
    block: int  # rows that take a step together
    mask: Array  # (T, K, B) bool, False after the end of a sequence
    drives: Array  # (T, K, B, W), the embedded inputs; W = H, or 4 H for an LSTM
    flag: Array  # (K, W), zero for a cell without a flag
    recurrent: Array  # (K, W, H), W_s
    units: Array  # (K, H), weights of the halting units; (K, 2 H) where they read [h; c]
    bias: Array  # (K,), their biases
    rho: Array  # (K,), steps of a fixed repeat; (0,) for ACT


class Tape(NamedTuple):
    """R entries for the backward pass, one for each row and step that was computed.

    Their order is replica, input, step, row. A TanhRNN has no c: its `c_before`, `c_after` and
    `tanh_c` are (R, 0), and `h_after` is the same array as `gates`.
    """

    h_before: Array  # (R, H) h before the step
    gates: Array  # (R, W) activations; in the backward pass the pre-activations' gradient
    h_after: Array  # (R, H)
    c_before: Array  # (R, H)
    c_after: Array  # (R, H)
    tanh_c: Array  # (R, H)
    row: Array  # (R,) index in the batch
    goes_on: Array  # (R,) bool: the row takes another step
    weight: Array  # (R,) p_n
    counts: Array  # (R,) entries of each step; only the first are used


@loop
def enlarge(old: Array, used: int, more: int) -> Array:
    """`old` with room for `more` rows after the first `used`."""
    new = np.empty((max(2 * len(old), used + more), *old.shape[1:]), old.dtype)
    source, target = old.reshape(-1), new.reshape(-1)
    for i in range(used * (old.size // len(old))):  # a copied slice would take seconds to compile
        target[i] = source[i]
    return new


@loop
def ensure_room(tape: Tape, lstm: bool, used: int, more: int) -> Tape:
    """The tape with room for `more` entries after the first `used`."""
    if used + more <= len(tape.h_before):
        return tape
    gates = enlarge(tape.gates, used, more)
    return Tape(
        enlarge(tape.h_before, used, more), gates,
        enlarge(tape.h_after, used, more) if lstm else gates, enlarge(tape.c_before, used, more),
        enlarge(tape.c_after, used, more), enlarge(tape.tanh_c, used, more),
        enlarge(tape.row, used, more), enlarge(tape.goes_on, used, more),
        enlarge(tape.weight, used, more), enlarge(tape.counts, used, more),
    )  # fmt: skip


@loop
def empty_tape(rows: int, size: int, width: int, lstm: bool) -> Tape:
    """A tape with room for so many entries; `size` is H, `width` W."""
    cell = size if lstm else 0
    gates = np.empty((rows, width), f4)
    return Tape(
        np.empty((rows, size), f4), gates, np.empty((rows, size), f4) if lstm else gates,
        np.empty((rows, cell), f4), np.empty((rows, cell), f4), np.empty((rows, cell), f4),
        np.empty(rows, np.int64), np.empty(rows, np.bool_), np.empty(rows, f4),
        np.empty(rows, np.int64),
    )  # fmt: skip
