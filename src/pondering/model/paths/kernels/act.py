"""Rows under ACT (Graves 2016), or under a fixed repeat, around the tanh RNN: one input vector.

One launch embeds the inputs, ponders until the rows have halted, scores the answer and goes back
through all steps. Grid: (K replicas, chunks of R rows). A program steps until the last row of its
own chunk has halted.
"""

from __future__ import annotations

import triton
import triton.language as tl

from pondering.model.paths.kernels.tiles import embed, end_chunk, sigmoid, softplus, step, step_back


@triton.jit
def weigh(logit, unspent, steps, setting, epsilon, max_steps, ACT: tl.constexpr):
    """p_n of rows, (R,): h_n before the last step and R at it (Graves Eqs. 5-8, 13).

    Args:
        logit: of the halting unit; unspent: 1 - sum of p so far, 0 of a row that has halted.
        steps: n, of a row that is running.
        setting: rho of a fixed repeat, whose p_n is 1 at n = rho.
    """
    if ACT:
        h = sigmoid(logit)  # Eq. 5
        goes_on = (h < unspent - epsilon) & (steps < max_steps)  # Eqs. 7, 13
    else:
        h = tl.zeros_like(logit)
        goes_on = (unspent > 0) & (steps < setting)
    return tl.where(goes_on, h, unspent)  # Eq. 6


@triton.jit(do_not_specialize=["slot"])
def rows(
    slot, todo, alive, inputs, targets, places, settings,
    recurrent, weight, bias, flag, heads, heads_bias,
    d_bias, d_flag, d_heads, d_heads_bias,
    drives, d_drives, states, d_pres, weights, deepest, sums,
    epsilon, max_steps, moments, seeds, B,
    D: tl.constexpr, H: tl.constexpr, R: tl.constexpr, TILE: tl.constexpr,
    P: tl.constexpr, V: tl.constexpr, PADDED: tl.constexpr, ACT: tl.constexpr,
):  # fmt: skip
    """One update's rows, forwards and backwards.

    Args:
        slot: which update of the batches that wait on the device, 0, 1, ...
        todo: (), so many of them are done; a later slot does nothing.
        alive: (K,); a replica that is not alive does nothing.
        inputs: (slots, seeds, PADDED, D); targets: (slots, seeds, PADDED), 0 or 1.
        places: (K,), which of the seeds a replica has.
        settings: (slots, K), tau at this update, or rho of a fixed repeat.
        recurrent: (K, H, H); weight: (K, H, D); bias, flag: (K, H); heads: (K, 2, H), those of the
            output and of the halting unit; heads_bias: (K, 2). A replica's begin P floats apart.
        d_bias ... d_heads_bias: (K, chunks, ...), what a chunk adds to the gradient, V floats
            apart. The matrices' gradients are made of `states` and `d_pres` (`gradient.py`).
        drives, d_drives: (K, PADDED, H), W_x x + b, and its gradient.
        states, d_pres: (K, moments, PADDED, H), s_n, and the gradient of what its tanh was taken
            of; moments is M.
        weights: (K, moments, PADDED), p_n.
        deepest: (K, chunks), the most steps of a row.
        sums: (K, chunks, 8), over rows: loss, error, steps, remainder, steps again, inputs; 0, 0.
        B: rows with an input; PADDED: the next multiple of R.
        ACT: False: a fixed repeat.
    """
    k, chunk = tl.program_id(0).to(tl.int64), tl.program_id(1)
    if (slot >= tl.load(todo)) | (tl.load(alive + k) == 0):
        return
    row, unit = chunk * R + tl.arange(0, R), tl.arange(0, H)
    there = row < B
    at = row[:, None] * H + unit[None, :]
    chunks: tl.constexpr = PADDED // R
    batch = slot.to(tl.int64) * seeds + tl.load(places + k)
    inputs += batch * PADDED * D
    recurrent, flag = recurrent + k * P, flag + k * P
    drives, d_drives = drives + k * PADDED * H, d_drives + k * PADDED * H
    states, d_pres = states + k * moments * PADDED * H, d_pres + k * moments * PADDED * H
    weights += k * moments * PADDED
    setting = tl.load(settings + slot * tl.num_programs(0) + k)
    output_weight, halting_weight = tl.load(heads + k * P + unit), tl.load(heads + k * P + H + unit)
    output_bias, halting_bias = tl.load(heads_bias + k * P), tl.load(heads_bias + k * P + 1)
    sign = 2.0 * tl.load(targets + batch * PADDED + row) - 1.0
    tl.store(drives + at, embed(inputs, weight + k * P, bias + k * P, row, D, H, TILE))

    # Forwards. A row is running as long as some of its probability is unspent.
    unspent = tl.where(there, 1.0, 0.0)
    steps = tl.zeros((R,), tl.float32)
    remainder = tl.zeros((R,), tl.float32)
    output = tl.zeros((R,), tl.float32) + output_bias
    n = 0
    while tl.max(unspent, 0) > 0:
        tl.debug_barrier()
        n += 1
        s = step(n, drives, flag, recurrent, states, row, PADDED, H, TILE)  # Graves Eq. 1
        steps += tl.where(unspent > 0, 1.0, 0.0)  # of a row that is running, n
        logit = tl.sum(s * halting_weight[None, :], 1) + halting_bias
        p = weigh(logit, unspent, steps, setting, epsilon, max_steps, ACT)
        if ACT:
            remainder = tl.where(unspent > 0, p, remainder)  # Eq. 8
        unspent -= p
        # The head is linear: sum p_n (v s_n + b) = v sum p_n s_n + b (Eq. 9).
        output += p * tl.sum(s * output_weight[None, :], 1)
        tl.store(states + (n - 1) * PADDED * H + at, s)
        tl.store(weights + (n - 1) * PADDED + row, p)

    # The cross entropy of a sigmoid, and tau (N + R) (Eqs. 10-12).
    wrong = (output > 0) != (sign > 0)
    loss = softplus(-sign * output)
    d_remainder = 0.0
    if ACT:
        loss += setting * (steps + remainder)
        d_remainder = setting / B
    d_output = tl.where(there, -sign * sigmoid(-sign * output) / B, 0.0)

    # Backwards. h_n moves weight from the last step to step n, and takes it from the remainder.
    last = tl.zeros((R,), tl.float32)  # dL/dp_N
    d_drive = tl.zeros((R, H), tl.float32)
    d_output_weight = tl.zeros((H,), tl.float32)
    d_halting_weight = tl.zeros((H,), tl.float32)
    d_halting_bias = tl.zeros((R,), tl.float32)
    for m in range(n, 0, -1):
        tl.debug_barrier()
        d_s = tl.zeros((R, H), tl.float32)
        if m < n:
            d_s = step_back(d_pres + m * PADDED * H, recurrent, row, H, TILE)
        s = tl.load(states + (m - 1) * PADDED * H + at)
        p = tl.load(weights + (m - 1) * PADDED + row)
        score = d_output * tl.sum(s * output_weight[None, :], 1)  # dL/dp_m
        last = tl.where(m == steps, score, last)
        d_logit = tl.zeros((R,), tl.float32)
        if ACT:  # Eqs. 14-20
            d_logit = tl.where(m < steps, (score - last - d_remainder) * p * (1.0 - p), 0.0)
        d_y = p * d_output
        d_s += d_y[:, None] * output_weight[None, :] + d_logit[:, None] * halting_weight[None, :]
        d_pre = tl.where((m <= steps)[:, None], d_s * (1.0 - s * s), 0.0)
        d_drive += d_pre
        d_output_weight += tl.sum(d_y[:, None] * s, 0)
        d_halting_weight += tl.sum(d_logit[:, None] * s, 0)
        d_halting_bias += d_logit
        tl.store(d_pres + (m - 1) * PADDED * H + at, d_pre)
        if m == 1:
            tl.store(d_flag + (k * chunks + chunk) * V + unit, tl.sum(d_pre, 0))
    tl.store(d_drives + at, d_drive)

    end_chunk(
        k * chunks + chunk, n, d_bias, d_heads, d_heads_bias, deepest, sums,
        d_drive, d_output_weight, d_halting_weight, d_output, d_halting_bias,
        loss, wrong, steps, remainder, steps, there, H, V,
    )  # fmt: skip
