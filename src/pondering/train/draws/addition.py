"""Addition's examples from random words."""

from __future__ import annotations

import torch

from pondering.tasks.addition import END, Addition
from pondering.tasks.base import Batch
from pondering.train.draws.words import Words


def draw(task: Addition, words: Words) -> Batch:
    """Sequences as in training; see `tasks.addition`. Axes (S, N, T, ...)."""
    device, (low, high) = words.device, task.length
    length = low + words.below(high - low + 1, 1)
    mask = torch.arange(high, device=device) < length
    used = (1 + words.below(task.digits, high)) * mask
    digits = words.below(10, high, task.digits)
    there = torch.arange(task.digits, device=device) < used[..., None]
    one_hot = (digits[..., None] == torch.arange(10, device=device)) & there[..., None]
    sums = torch.zeros_like(used)
    for digit, is_there in zip(digits.unbind(-1), there.unbind(-1), strict=True):
        sums = (10 * sums + digit).where(is_there, sums)
    sums = sums.cumsum(-1)[..., None]
    place = torch.arange(task.digits + 1, device=device)
    powers = 10**place
    exponent = (sums >= powers[1:]).sum(-1, keepdim=True) - place  # of the sum's digit there
    scored = mask.clone()
    scored[:, :, 0] = False
    return Batch(
        inputs=one_hot.flatten(-2).float(),
        targets=(sums // powers[exponent.clamp(min=0)] % 10).where(exponent >= 0, END).byte(),
        mask=mask,
        scored=scored,
        difficulty=used.sum(-1) / mask.sum(-1),
    )
