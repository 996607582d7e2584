"""What the loops of `forward.py` and `backward.py` read, and the tape, which grows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pondering.model.paths.compiled.loops import Array, f4, loop


class Job(NamedTuple):
    """K stacked replicas, their inputs, and when they halt. Arrays are float32 unless said."""

    lstm: bool  # else a TanhRNN
    last: bool  # s_N crosses to the next input, else sum p_n s_n
    epsilon: float
    max_steps: int
    block: int  # rows that go through a step together
    mask: Array  # (T, K, B) bool, False where a sequence is over
    drives: Array  # (T, K, B, W), the embedded inputs; W = H, or 4 H for an LSTM
    flag: Array  # (K, W), zero where a cell has none
    recurrent: Array  # (K, W, H), W_s
    units: Array  # (K, H), weights of the halting units; (K, 2 H) where they read [h; c]
    bias: Array  # (K,), their biases
    rho: Array  # (K,), steps of a fixed repeat; (0,) for ACT


class Tape(NamedTuple):
    """What the backward pass needs: R entries, one for each row and step that was computed.

    In the order of replica, input, step, row. A TanhRNN has no c: there `old`, `cells` and
    `squashed` are (R, 0), and `after` is the same array as `gates`.
    """

    hidden: Array  # (R, H) h before the step
    gates: Array  # (R, W) activations; the backward pass puts the pre-activations' gradient here
    after: Array  # (R, H) h after the step
    old: Array  # (R, H) c before the step
    cells: Array  # (R, H) c after the step
    squashed: Array  # (R, H) tanh c
    row: Array  # (R,) the row's place in the batch
    goes_on: Array  # (R,) bool: the row takes another step
    weight: Array  # (R,) p_n
    counts: Array  # (R,), of which the first are used: entries of each step


@loop
def grown(old: Array, used: int, more: int) -> Array:
    """`old` with room for `more` rows after the first `used`."""
    new = np.empty((max(2 * len(old), used + more), *old.shape[1:]), old.dtype)
    source, target = old.reshape(-1), new.reshape(-1)
    for i in range(used * (old.size // len(old))):  # a copied slice would take seconds to compile
        target[i] = source[i]
    return new


@loop
def with_room(tape: Tape, lstm: bool, used: int, more: int) -> Tape:
    """The tape with room for `more` entries after the first `used`."""
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
    """An empty tape with room for so many entries; `size` is H, `width` W."""
    cell = size if lstm else 0
    gates = np.empty((rows, width), f4)
    return Tape(
        np.empty((rows, size), f4), gates, np.empty((rows, size), f4) if lstm else gates,
        np.empty((rows, cell), f4), np.empty((rows, cell), f4), np.empty((rows, cell), f4),
        np.empty(rows, np.int64), np.empty(rows, np.bool_), np.empty(rows, f4),
        np.empty(rows, np.int64),
    )  # fmt: skip
