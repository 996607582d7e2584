"""The gradients of the matrices W_s and W_x, as products over all rows and steps.

Grid: (K, W / BM, (H + D) / BN), W = H or, of an LSTM, 4 H. Each program has one tile of
[W_s | W_x]. It adds in a fixed order, chunk by chunk and step by step: no atomics are needed, and
equal runs give equal bits. A chunk's moments end with its own last state: what lies behind is of an
earlier update.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["slot"])
def matrices(
    slot, todo, alive, inputs, places, d_drives, states, d_pres, deepest, d_recurrent, d_weight,
    moments, seeds,
    T: tl.constexpr, D: tl.constexpr, H: tl.constexpr, W: tl.constexpr, R: tl.constexpr,
    G: tl.constexpr, PADDED: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr,
):  # fmt: skip
    """dW_s = sum of d_pre_n s_{n-1}^T, dW_x = sum of d_drive x^T.

    Args: as in `act.rows` and `lstm.rows`;
        states: (K, moments, PADDED, H); d_pres: (K, moments, PADDED, W), where that of a moment
            belongs to the state of the moment before; that of moment 0 counts nothing.
        inputs: (slots, seeds, T, PADDED, D); d_drives: (K, T, PADDED, W).
        d_recurrent: (K, W, H); d_weight: (K, W, D); a replica's begin G floats apart.
    """
    k = tl.program_id(0).to(tl.int64)
    if (slot >= tl.load(todo)) | (tl.load(alive + k) == 0):
        return
    i = tl.program_id(1) * BM + tl.arange(0, BM)
    j = tl.program_id(2) * BN + tl.arange(0, BN)
    row = tl.arange(0, R)
    chunks: tl.constexpr = PADDED // R
    total = tl.zeros((BM, BN), tl.float32)
    if tl.program_id(2) < H // BN:
        for chunk in range(0, chunks):
            for n in range(1, tl.load(deepest + k * chunks + chunk)):
                at = (k * moments + n) * PADDED + chunk * R
                d = tl.load(d_pres + (at + row[None, :]) * W + i[:, None])
                s = tl.load(states + (at - PADDED + row[:, None]) * H + j[None, :])
                total = tl.dot(d, s, total, input_precision="ieee")
        tl.store(d_recurrent + k * G + i[:, None] * H + j[None, :], total)
    else:
        column = j - H
        inputs += (slot.to(tl.int64) * seeds + tl.load(places + k)) * T * PADDED * D
        inside = column[None, :] < D
        for chunk in range(0, T * chunks):  # of one input after the other
            here = chunk * R + row
            d = tl.load(d_drives + (k * T * PADDED + here[None, :]) * W + i[:, None])
            x = tl.load(inputs + here[:, None] * D + column[None, :], mask=inside, other=0.0)
            total = tl.dot(d, x, total, input_precision="ieee")
        tl.store(d_weight + k * G + i[:, None] * D + column[None, :], total, mask=inside)
