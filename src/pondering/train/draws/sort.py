"""Sort's examples from random words."""

from __future__ import annotations

import torch
from torch import Tensor

from pondering.tasks.base import Batch
from pondering.tasks.sort import Sort
from pondering.train.draws.words import Words

CELLS = 2**16  # between quantiles of the normal distribution; the farthest are at +-4.33


def draw(task: Sort, words: Words) -> Batch:
    """Sequences as in training; see `tasks.sort`. Axes (S, N, T, ...)."""
    device, (low, high) = words.device, task.length
    length = low + words.below(high - low + 1, 1)
    place = torch.arange(2 * high, device=device)
    values = normal(words.next(high)).where(place[:high] < length, torch.inf)
    order = values.argsort(dim=-1, stable=True)
    mask = place < 2 * length
    scored = mask & (place >= length)
    answers = order.gather(-1, (place - length).clamp(0, high - 1)) * scored
    shown = torch.zeros_like(place, dtype=torch.float32).repeat(*values.shape[:2], 1)
    shown[..., :high] = values.where(values < torch.inf, 0.0)
    return Batch(
        inputs=torch.stack([shown, (place == length - 1).float()], dim=-1),
        targets=answers.byte(),
        mask=mask,
        scored=scored,
        difficulty=length[..., 0].float(),
    )


def normal(word: Tensor) -> Tensor:
    """Standard normals of words: a cell by the upper half, the way through it by the lower.

    The density is even within a cell, which has a probability of 2^-16.
    """
    share = (torch.arange(CELLS + 1, dtype=torch.float64) + 0.5) / (CELLS + 1)
    quantiles = torch.special.ndtri(share).float().to(word.device)
    cell = word >> 16
    begin, end = quantiles[cell], quantiles[cell + 1]
    found: Tensor = begin + (end - begin) * ((word & 0xFFFF).float() / CELLS)
    return found
