"""Rows under PonderNet (Banino 2021) around the tanh RNN: one input vector.

One launch embeds the inputs, ponders to step N or until PonderNet's epsilon ends the last row,
scores every step and goes back through them. Grid: (K replicas, chunks of R rows).
"""

from __future__ import annotations

import triton
import triton.language as tl

from pondering.model.paths.kernels.tiles import embed, end_chunk, sigmoid, softplus, step, step_back


@triton.jit(do_not_specialize=["slot"])
def rows(
    slot, todo, alive, inputs, targets, places,
    log_priors, log_normalisers, betas, epsilons, reverses,
    recurrent, weight, bias, flag, heads, heads_bias,
    d_bias, d_flag, d_heads, d_heads_bias,
    drives, d_drives, states, d_pres, log_weights, outputs, logits, deepest, sums,
    max_steps, moments, seeds, B,
    D: tl.constexpr, H: tl.constexpr, R: tl.constexpr, TILE: tl.constexpr,
    P: tl.constexpr, V: tl.constexpr, PADDED: tl.constexpr,
):  # fmt: skip
    """One update's rows, forwards and backwards.

    Args: as in `act.rows`;
        log_priors, log_normalisers: (K, N), log g_n before truncation, log Z(n).
        betas: (K,), weight of the KL; epsilons: (K,), 0 for a constant N.
        reverses: (K,), 1 where the KL is that of the prior from p, else 0.
        log_weights, outputs, logits: (K, N, PADDED), log p_n, y_n, and that of lambda_n.
        sums: (K, chunks, 8), over rows: loss, error, expected steps, remainder, steps, inputs.
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
    by_step = k * moments * PADDED
    log_weights, outputs, logits = log_weights + by_step, outputs + by_step, logits + by_step
    log_priors, log_normalisers = log_priors + k * max_steps, log_normalisers + k * max_steps
    beta, epsilon = tl.load(betas + k), tl.load(epsilons + k)
    reverse = tl.load(reverses + k) != 0
    output_weight, halting_weight = tl.load(heads + k * P + unit), tl.load(heads + k * P + H + unit)
    output_bias, halting_bias = tl.load(heads_bias + k * P), tl.load(heads_bias + k * P + 1)
    sign = 2.0 * tl.load(targets + batch * PADDED + row) - 1.0
    tl.store(drives + at, embed(inputs, weight + k * P, bias + k * P, row, D, H, TILE))

    # Forwards.
    running = there
    log_survival = tl.zeros((R,), tl.float32)  # log of prod (1 - lambda_j)
    loss = tl.zeros((R,), tl.float32)
    kl = tl.zeros((R,), tl.float32)
    log_z = tl.zeros((R,), tl.float32)  # log Z(N)
    mixture = tl.zeros((R,), tl.float32)
    steps = tl.zeros((R,), tl.float32)
    expected = tl.zeros((R,), tl.float32)
    remainder = tl.zeros((R,), tl.float32)
    n = 0
    while tl.max(running.to(tl.int32), 0) > 0:
        tl.debug_barrier()
        n += 1
        steps += tl.where(running, 1.0, 0.0)  # of a row that is running, n
        s = step(n, drives, flag, recurrent, states, row, PADDED, H, TILE)
        y = tl.sum(s * output_weight[None, :], 1) + output_bias
        logit = tl.sum(s * halting_weight[None, :], 1) + halting_bias
        log_prior, log_normaliser = tl.load(log_priors + n - 1), tl.load(log_normalisers + n - 1)
        log_after = log_survival - softplus(logit)
        last = (steps == max_steps) | (tl.exp(log_after) < epsilon)
        log_p = tl.where(last, log_survival, log_survival - softplus(-logit))  # Banino Eq. 2
        p = tl.where(running, tl.exp(log_p), 0.0)
        ratio = log_p - log_prior
        share = tl.where(reverse, -tl.exp(log_prior) * ratio, p * ratio)
        kl += tl.where(running, share, 0.0)
        ends = running & last
        log_z = tl.where(ends, log_normaliser, log_z)
        remainder = tl.where(ends, tl.exp(log_survival), remainder)
        loss += p * softplus(-sign * y)  # Eq. 3
        mixture += p * y
        expected += n * p
        running = running & (last == 0)
        log_survival = log_after
        tl.store(states + (n - 1) * PADDED * H + at, s)
        tl.store(log_weights + (n - 1) * PADDED + row, log_p)
        tl.store(outputs + (n - 1) * PADDED + row, y)
        tl.store(logits + (n - 1) * PADDED + row, logit)
    kl = tl.where(reverse, kl * tl.exp(-log_z) - log_z, kl + log_z)
    loss += beta * kl  # Eq. 3
    wrong = (mixture > 0) != (sign > 0)

    # Backwards. log p_n is the sum of log(1 - lambda_j), j < n, and of log lambda_n before step N:
    # a logit's gradient has the shares of all later steps.
    later = tl.zeros((R,), tl.float32)  # sum of dL/d log p_m, m > n
    d_drive = tl.zeros((R, H), tl.float32)
    d_output_weight = tl.zeros((H,), tl.float32)
    d_halting_weight = tl.zeros((H,), tl.float32)
    d_output_bias = tl.zeros((R,), tl.float32)
    d_halting_bias = tl.zeros((R,), tl.float32)
    for m in range(n, 0, -1):
        tl.debug_barrier()
        d_s = tl.zeros((R, H), tl.float32)
        if m < n:
            d_s = step_back(d_pres + m * PADDED * H, recurrent, row, H, TILE)
        s = tl.load(states + (m - 1) * PADDED * H + at)
        y = tl.load(outputs + (m - 1) * PADDED + row)
        logit = tl.load(logits + (m - 1) * PADDED + row)
        log_p = tl.load(log_weights + (m - 1) * PADDED + row)
        log_prior = tl.load(log_priors + m - 1)
        p = tl.where(m <= steps, tl.exp(log_p), 0.0)
        d_kl = tl.where(reverse, -tl.exp(log_prior - log_z), p * (log_p - log_prior + 1.0))
        d_log_p = tl.where(m <= steps, (p * softplus(-sign * y) + beta * d_kl) / B, 0.0)
        halts = sigmoid(logit)  # lambda_m
        d_logit = tl.where(m < steps, (1.0 - halts) * d_log_p - halts * later, 0.0)
        later += d_log_p
        d_y = -p * sign * sigmoid(-sign * y) / B
        d_s += d_y[:, None] * output_weight[None, :] + d_logit[:, None] * halting_weight[None, :]
        d_pre = tl.where((m <= steps)[:, None], d_s * (1.0 - s * s), 0.0)
        d_drive += d_pre
        d_output_weight += tl.sum(d_y[:, None] * s, 0)
        d_halting_weight += tl.sum(d_logit[:, None] * s, 0)
        d_output_bias += d_y
        d_halting_bias += d_logit
        tl.store(d_pres + (m - 1) * PADDED * H + at, d_pre)
        if m == 1:
            tl.store(d_flag + (k * chunks + chunk) * V + unit, tl.sum(d_pre, 0))
    tl.store(d_drives + at, d_drive)

    end_chunk(
        k * chunks + chunk, n, d_bias, d_heads, d_heads_bias, deepest, sums,
        d_drive, d_output_weight, d_halting_weight, d_output_bias, d_halting_bias,
        loss, wrong, expected, remainder, steps, there, H, V,
    )  # fmt: skip
