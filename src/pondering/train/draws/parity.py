"""Parity's examples from random words."""

from __future__ import annotations

import torch

from pondering.tasks.base import Batch
from pondering.tasks.parity import Parity
from pondering.train.draws.words import Words


def draw(task: Parity, words: Words) -> Batch:
    """Vectors as in training; see `tasks.parity`. Axes (S, N, T, ...), T = 1."""
    low, high = task.train_nonzero
    nonzero = low + words.below(high - low + 1, 1)
    place = torch.arange(task.bits, device=words.device)
    packed = words.next(-(-task.bits // 32))  # a bit a sign
    positive = (packed[..., place // 32] >> (place % 32)) & 1
    if task.layout == "scattered":
        place = words.next(task.bits).argsort(dim=-1, stable=True)  # a random order
    there = place < nonzero
    present = torch.ones_like(nonzero, dtype=torch.bool)
    return Batch(
        inputs=((2 * positive - 1) * there).float().unsqueeze(2),
        targets=((positive * there).sum(-1, keepdim=True) % 2).byte(),
        mask=present,
        scored=present,
        difficulty=nonzero[..., 0].float(),
    )
