"""Rows under ACT (Graves 2016), or under a fixed repeat, around the LSTM: sequences.

One launch embeds the inputs, ponders over one after the other, scores every answer and goes back
through all steps. Grid: (K replicas, chunks of R rows).

The states of a chunk lie one behind the other, its *moments*. The state is zero at moment 0. Then
each ponder step has a moment, and after the steps of an input the mean-field state has one.
Where each input begins depends on the chunk's own rows. The 4 H gates of a step are computed in
tiles of `TILE` units, so that only a tile's four products are in registers.
"""

from __future__ import annotations

import triton
import triton.language as tl

from pondering.model.paths.kernels.act import weigh
from pondering.model.paths.kernels.tiles import embed, sigmoid, softplus, tanh


@triton.jit(do_not_specialize=["slot"])
def rows(
    slot, todo, alive, inputs, targets, present, places, settings,
    recurrent, weight, bias, flag, heads, heads_bias,
    d_bias, d_flag, d_heads, d_heads_bias,
    drives, d_drives, states, cells, d_pres, weights, outputs, taken, begins, deepest, sums,
    epsilon, max_steps, moments, seeds, B,
    T: tl.constexpr, D: tl.constexpr, H: tl.constexpr, R: tl.constexpr, TILE: tl.constexpr,
    P: tl.constexpr, V: tl.constexpr, PADDED: tl.constexpr, ACT: tl.constexpr,
):  # fmt: skip
    """One update's rows, forwards and backwards.

    Args: as in `act.rows`, with an axis T before PADDED in inputs, targets, drives, d_drives;
        present: (slots, seeds, T, PADDED), 1 where there is an input, which is scored, else 0.
        recurrent: (K, 4 H, H); weight: (K, 4 H, D); bias, flag: (K, 4 H), gates i, f, g, o.
        d_bias ... d_heads_bias: (K, chunks, T, ...), what an input of a chunk adds.
        states, cells: (K, moments, PADDED, H), h and c.
        d_pres: (K, moments, PADDED, 4 H), the gates of a step; then their gradient before sigmoid
            and tanh, which is zero at the moments of crossing states.
        weights: (K, moments, PADDED), p_n.
        outputs, taken: (K, T, PADDED), the answer's logit and N(t).
        begins: (K, chunks, T + 1), the moment of the state that each input finds; the last state.
        deepest: (K, chunks), the last moment.
    """
    k, chunk = tl.program_id(0).to(tl.int64), tl.program_id(1)
    if (slot >= tl.load(todo)) | (tl.load(alive + k) == 0):
        return
    row, unit, part = chunk * R + tl.arange(0, R), tl.arange(0, H), tl.arange(0, TILE)
    at, at4 = row[:, None] * H + unit[None, :], row[:, None] * 4 * H + unit[None, :]
    chunks: tl.constexpr = PADDED // R
    mine = k * chunks + chunk
    batch = (slot.to(tl.int64) * seeds + tl.load(places + k)) * T * PADDED
    inputs, targets, present = inputs + batch * D, targets + batch, present + batch
    recurrent, flag = recurrent + k * P, flag + k * P
    drives, d_drives = drives + k * T * PADDED * 4 * H, d_drives + k * T * PADDED * 4 * H
    states, cells = states + k * moments * PADDED * H, cells + k * moments * PADDED * H
    d_pres, weights = d_pres + k * moments * PADDED * 4 * H, weights + k * moments * PADDED
    outputs, taken = outputs + k * T * PADDED, taken + k * T * PADDED
    begins += mine * (T + 1)
    setting = tl.load(settings + slot * tl.num_programs(0) + k)
    output_weight, halting_weight = tl.load(heads + k * P + unit), tl.load(heads + k * P + H + unit)
    output_bias, halting_bias = tl.load(heads_bias + k * P), tl.load(heads_bias + k * P + 1)
    nothing = tl.zeros((R, H), tl.float32)
    for t in range(0, T):
        for gate in range(0, 4):
            tl.debug_barrier()
            w, b = weight + k * P + gate * H * D, bias + k * P + gate * H
            drive = embed(inputs + t * PADDED * D, w, b, row, D, H, TILE)
            tl.store(drives + t * PADDED * 4 * H + gate * H + at4, drive)

    # Forwards. Moment q is the newest state.
    q = 0
    tl.store(states + at, nothing)
    tl.store(cells + at, nothing)
    loss = tl.zeros((R,), tl.float32)
    wrong = tl.zeros((R,), tl.float32)
    all_steps = tl.zeros((R,), tl.float32)
    all_remainders = tl.zeros((R,), tl.float32)
    all_inputs = tl.zeros((R,), tl.float32)
    for t in range(0, T):
        tl.debug_barrier()
        begin = q
        there = tl.load(present + t * PADDED + row)
        sign = 2.0 * tl.load(targets + t * PADDED + row) - 1.0
        unspent = there
        steps = tl.zeros((R,), tl.float32)
        remainder = tl.zeros((R,), tl.float32)
        mean_h = nothing
        mean_c = nothing
        tl.store(begins + t, begin)
        while tl.max(unspent, 0) > 0:
            logit = tl.zeros((R,), tl.float32) + halting_bias
            for first in range(0, H, TILE):
                tl.debug_barrier()
                here = first + part
                drive = drives + (t * PADDED + row[:, None]) * 4 * H + here[None, :]
                i, f = tl.load(drive), tl.load(drive + H)
                g, o = tl.load(drive + 2 * H), tl.load(drive + 3 * H)
                if q == begin:
                    i += tl.load(flag + here)[None, :]
                    f += tl.load(flag + H + here)[None, :]
                    g += tl.load(flag + 2 * H + here)[None, :]
                    o += tl.load(flag + 3 * H + here)[None, :]
                before = states + q * PADDED * H + row[:, None] * H + part[None, :]
                turned = recurrent + here[None, :] * H + part[:, None]
                for j in range(0, H, TILE):
                    h = tl.load(before + j)
                    w = turned + j
                    i = tl.dot(h, tl.load(w), i, input_precision="ieee")
                    f = tl.dot(h, tl.load(w + H * H), f, input_precision="ieee")
                    g = tl.dot(h, tl.load(w + 2 * H * H), g, input_precision="ieee")
                    o = tl.dot(h, tl.load(w + 3 * H * H), o, input_precision="ieee")
                i, f, g, o = sigmoid(i), sigmoid(f), tanh(g), sigmoid(o)
                tile = row[:, None] * H + here[None, :]
                c = f * tl.load(cells + q * PADDED * H + tile) + i * g
                h = o * tanh(c)
                logit += tl.sum(h * tl.load(heads + k * P + H + here)[None, :], 1)
                tl.store(cells + (q + 1) * PADDED * H + tile, c)
                tl.store(states + (q + 1) * PADDED * H + tile, h)
                gates = d_pres + ((q + 1) * PADDED + row[:, None]) * 4 * H + here[None, :]
                tl.store(gates, i)
                tl.store(gates + H, f)
                tl.store(gates + 2 * H, g)
                tl.store(gates + 3 * H, o)
            q += 1
            running = unspent > 0
            steps += tl.where(running, 1.0, 0.0)
            p = weigh(logit, unspent, steps, setting, epsilon, max_steps, ACT)
            if ACT:
                remainder = tl.where(running, p, remainder)  # Graves Eq. 8
            unspent -= p
            tl.store(weights + q * PADDED + row, p)
            tl.debug_barrier()
            mean_h += p[:, None] * tl.load(states + q * PADDED * H + at)  # Eq. 9
            mean_c += p[:, None] * tl.load(cells + q * PADDED * H + at)
        tl.debug_barrier()
        is_there = (there > 0)[:, None]
        mean_h = tl.where(is_there, mean_h, tl.load(states + begin * PADDED * H + at))
        mean_c = tl.where(is_there, mean_c, tl.load(cells + begin * PADDED * H + at))
        q += 1
        tl.store(states + q * PADDED * H + at, mean_h)
        tl.store(cells + q * PADDED * H + at, mean_c)
        for gate in range(0, 4):
            tl.store(d_pres + q * PADDED * 4 * H + gate * H + at4, nothing)

        # The cross entropy of a sigmoid, and tau (N + R) (Eqs. 10-12).
        output = tl.sum(mean_h * output_weight[None, :], 1) + output_bias
        loss += tl.where(there > 0, softplus(-sign * output), 0.0)
        if ACT:
            loss += setting * (steps + remainder)
        wrong = tl.where((there > 0) & ((output > 0) != (sign > 0)), 1.0, wrong)
        all_steps += steps
        all_remainders += remainder
        all_inputs += there
        tl.store(outputs + t * PADDED + row, output)
        tl.store(taken + t * PADDED + row, steps)
    tl.store(begins + T, q)
    tl.store(deepest + mine, q)
    taken_steps = tl.sum(all_steps, 0)
    tl.store(sums + mine * 8, tl.sum(loss, 0))
    tl.store(sums + mine * 8 + 1, tl.sum(wrong, 0))
    tl.store(sums + mine * 8 + 2, taken_steps)
    tl.store(sums + mine * 8 + 3, tl.sum(all_remainders, 0))
    tl.store(sums + mine * 8 + 4, taken_steps)
    tl.store(sums + mine * 8 + 5, tl.sum(all_inputs, 0))

    # Backwards. d_h and d_c are the gradient of the state that crosses to the next input.
    d_remainder = 0.0
    if ACT:
        d_remainder = setting / B
    d_h = nothing
    d_c = nothing
    for back in range(0, T):
        tl.debug_barrier()
        t = T - 1 - back
        begin, end = tl.load(begins + t), tl.load(begins + t + 1)
        there = tl.load(present + t * PADDED + row)
        sign = 2.0 * tl.load(targets + t * PADDED + row) - 1.0
        steps = tl.load(taken + t * PADDED + row)
        d_output = -there * sign * sigmoid(-sign * tl.load(outputs + t * PADDED + row)) / B
        d_output_weight = tl.sum(d_output[:, None] * tl.load(states + end * PADDED * H + at), 0)
        d_h += d_output[:, None] * output_weight[None, :]
        last = tl.zeros((R,), tl.float32)  # dL/dp_N
        d_halting_weight = tl.zeros((H,), tl.float32)
        d_halting_bias = tl.zeros((R,), tl.float32)
        back_h = nothing  # dL/dh_n and dL/dc_n
        back_c = nothing
        sum_i = nothing  # of all steps
        sum_f = nothing
        sum_g = nothing
        sum_o = nothing
        flag_i = tl.zeros((H,), tl.float32)  # of step 1
        flag_f = tl.zeros((H,), tl.float32)
        flag_g = tl.zeros((H,), tl.float32)
        flag_o = tl.zeros((H,), tl.float32)
        for m in range(end - 1, begin, -1):
            n = m - begin
            h = tl.load(states + m * PADDED * H + at)
            c = tl.load(cells + m * PADDED * H + at)
            p = tl.load(weights + m * PADDED + row)
            gates = d_pres + m * PADDED * 4 * H + at4
            i, f = tl.load(gates), tl.load(gates + H)
            g, o = tl.load(gates + 2 * H), tl.load(gates + 3 * H)
            c_before = tl.load(cells + (m - 1) * PADDED * H + at)
            score = tl.sum(d_h * h + d_c * c, 1)  # dL/dp_n
            last = tl.where(n == steps, score, last)
            d_logit = tl.zeros((R,), tl.float32)
            if ACT:  # Graves Eqs. 14-20
                d_logit = tl.where(n < steps, (score - last - d_remainder) * p * (1.0 - p), 0.0)
            d_halting_weight += tl.sum(d_logit[:, None] * h, 0)
            d_halting_bias += d_logit
            on = (n <= steps)[:, None]
            back_h += p[:, None] * d_h + d_logit[:, None] * halting_weight[None, :]
            back_h = tl.where(on, back_h, 0.0)
            squashed = tanh(c)
            back_c += p[:, None] * d_c + back_h * o * (1.0 - squashed * squashed)
            back_c = tl.where(on, back_c, 0.0)
            d_o = back_h * squashed * o * (1.0 - o)
            d_i = back_c * g * i * (1.0 - i)
            d_f = back_c * c_before * f * (1.0 - f)
            d_g = back_c * i * (1.0 - g * g)
            back_c *= f
            sum_i += d_i
            sum_f += d_f
            sum_g += d_g
            sum_o += d_o
            if n == 1:
                flag_i, flag_f = tl.sum(d_i, 0), tl.sum(d_f, 0)
                flag_g, flag_o = tl.sum(d_g, 0), tl.sum(d_o, 0)
            tl.debug_barrier()
            tl.store(gates, d_i)
            tl.store(gates + H, d_f)
            tl.store(gates + 2 * H, d_g)
            tl.store(gates + 3 * H, d_o)
            tl.debug_barrier()
            back_h = nothing
            d = d_pres + (m * PADDED + row[:, None]) * 4 * H + part[None, :]
            w = recurrent + part[:, None] * H + unit[None, :]
            for j in range(0, 4 * H, TILE):
                back_h = tl.dot(tl.load(d + j), tl.load(w + j * H), back_h, input_precision="ieee")
        is_there = (there > 0)[:, None]
        d_h = tl.where(is_there, back_h, d_h)
        d_c = tl.where(is_there, back_c, d_c)
        d_drive, piece = d_drives + t * PADDED * 4 * H + at4, (mine * T + t) * V
        tl.store(d_drive, sum_i)
        tl.store(d_drive + H, sum_f)
        tl.store(d_drive + 2 * H, sum_g)
        tl.store(d_drive + 3 * H, sum_o)
        tl.store(d_bias + piece + unit, tl.sum(sum_i, 0))
        tl.store(d_bias + piece + H + unit, tl.sum(sum_f, 0))
        tl.store(d_bias + piece + 2 * H + unit, tl.sum(sum_g, 0))
        tl.store(d_bias + piece + 3 * H + unit, tl.sum(sum_o, 0))
        tl.store(d_flag + piece + unit, flag_i)
        tl.store(d_flag + piece + H + unit, flag_f)
        tl.store(d_flag + piece + 2 * H + unit, flag_g)
        tl.store(d_flag + piece + 3 * H + unit, flag_o)
        tl.store(d_heads + piece + unit, d_output_weight)
        tl.store(d_heads + piece + H + unit, d_halting_weight)
        tl.store(d_heads_bias + piece, tl.sum(d_output, 0))
        tl.store(d_heads_bias + piece + 1, tl.sum(d_halting_bias, 0))
