"""Gradient norm, clipping and Adam (Kingma & Ba 2015, Algorithm 1), and what the curves read.

Grid: (K,). A program has one replica; it walks twice over the P numbers in tiles of BP: for the
norm, and for the step.
"""

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit
def gradient(
    first, k, matrices, vectors, P: tl.constexpr, G: tl.constexpr, BP: tl.constexpr,
    PARTS: tl.constexpr,
):  # fmt: skip
    """The gradient of BP parameters of replica k, from parameter `first` on.

    A matrix has its own; of a vector each chunk of rows has a part for each input. The sum over
    parts has a fixed order.
    """
    i = first + tl.arange(0, BP)
    g = tl.load(matrices + k * G + i, mask=i < G, other=0.0)
    if first + BP > G:
        inside = (i >= G) & (i < P)
        for part in range(0, PARTS):
            g += tl.load(vectors + (k * PARTS + part) * (P - G) + i - G, mask=inside, other=0.0)
    return g


@triton.jit
def finite(x):
    """Whether x is neither infinite nor NaN."""
    return tl.abs(x) < float("inf")


@triton.jit(do_not_specialize=["slot"])
def adam(
    slot, todo, alive, diverged, parameters, means, squares, matrices, vectors, factors,
    rates, corrections, sums, window, computed_steps, clip, beta1, beta2, tiny, B,
    P: tl.constexpr, G: tl.constexpr, BP: tl.constexpr,
    CHUNKS: tl.constexpr, PARTS: tl.constexpr,
):  # fmt: skip
    """End an update.

    Args:
        slot, todo, alive: as in `act.rows`. `alive` and `diverged` (K,) change where loss or norm
            is not finite: such a replica keeps its numbers.
        parameters, means, squares: (K, P), and Adam's moments m and v.
        matrices: (K, G), gradients; vectors: (K, parts, P - G), those of the parameters behind.
        factors: (P,), by which the learning rate is multiplied.
        rates: (slots, K), the learning rate / (1 - beta_1^t).
        corrections: (slots,), the root of 1 - beta_2^t.
        sums: (K, chunks, 8), see `act.rows`.
        window: (K, 5) float64, sums over updates of the mean loss and error of sequences, of the
            mean ponder and remainder of inputs, and the number of updates.
        computed_steps: (K,) float64, steps of all rows.
        clip: the largest norm; beta1, beta2, tiny: of Adam, tiny its epsilon.
    """
    k = tl.program_id(0).to(tl.int64)
    if (slot >= tl.load(todo)) | (tl.load(alive + k) == 0):
        return
    tile = tl.arange(0, BP)
    square = tl.zeros((BP,), tl.float32)
    for first in range(0, P, BP):
        g = gradient(first, k, matrices, vectors, P, G, BP, PARTS)
        square += g * g
    norm = tl.sqrt(tl.sum(square, 0))
    column = tl.arange(0, 8)
    total = tl.zeros((8,), tl.float32)
    for chunk in range(0, CHUNKS):
        total += tl.load(sums + (k * CHUNKS + chunk) * 8 + column)
    lives = finite(tl.sum(tl.where(column == 0, total, 0.0), 0)) & finite(norm)
    end = tl.where(lives, P, 0)
    scale = clip / tl.maximum(norm, clip)
    rate = tl.load(rates + slot * tl.num_programs(0) + k)
    correction = tl.load(corrections + slot)
    for first in range(0, P, BP):
        i = first + tile
        inside = i < end
        g = scale * gradient(first, k, matrices, vectors, P, G, BP, PARTS)
        m = tl.load(means + k * P + i, mask=inside, other=0.0)
        v = tl.load(squares + k * P + i, mask=inside, other=0.0)
        m = beta1 * m + (1.0 - beta1) * g
        v = beta2 * v + (1.0 - beta2) * g * g
        change = rate * m / (tl.sqrt(v) / correction + tiny)
        factor = tl.load(factors + i, mask=inside, other=0.0)
        new = tl.load(parameters + k * P + i, mask=inside, other=0.0) - factor * change
        tl.store(means + k * P + i, m, mask=inside)
        tl.store(squares + k * P + i, v, mask=inside)
        tl.store(parameters + k * P + i, new, mask=inside)
    tl.store(alive + k, lives.to(tl.uint8))
    tl.store(diverged + k, 1 - lives.to(tl.uint8))
    at = window + k * 5 + column
    count = tl.where(column < 2, B, tl.sum(tl.where(column == 5, total, 0.0), 0))
    share = tl.where(column == 4, 1.0, total / count).to(tl.float64)
    tl.store(at, tl.load(at, mask=column < 5, other=0.0) + share, mask=column < 5)
    steps = computed_steps + k + 0 * column
    tl.store(steps, tl.load(steps) + total.to(tl.float64), mask=column == 4)
