"""Logic's examples from random words."""

from __future__ import annotations

import torch

from pondering.tasks.base import Batch
from pondering.tasks.logic import NAMES, NO_GATE, TRUTH, Logic
from pondering.train.draws.words import Words


def draw(task: Logic, words: Words) -> Batch:
    """Sequences as in training; see `tasks.logic`. Axes (S, N, T, ...)."""
    device, (low, high) = words.device, task.length
    length = low + words.below(high - low + 1, 1)
    mask = torch.arange(high, device=device) < length
    used = (1 + words.below(task.gates, high)) * mask
    bits = words.below(2, high, 2) * mask[..., None]
    bits[:, :, 1:, 0] = 0
    there = torch.arange(task.gates, device=device) < used[..., None]
    gates = words.below(len(NAMES), high, task.gates).where(there, NO_GATE)
    truth = torch.as_tensor(TRUTH, device=device).flatten().long()
    answers, newest = [], bits[:, :, 0, 0]
    for time in range(high):
        before, newest = newest, bits[:, :, time, 1]
        for gate in gates[:, :, time].unbind(-1):
            before, newest = newest, truth[4 * gate + 2 * newest + before]
        answers.append(newest)
    one_hot = gates[..., None] == torch.arange(len(NAMES), device=device)
    return Batch(
        inputs=torch.cat([bits.float(), one_hot.flatten(-2).float()], dim=-1),
        targets=(torch.stack(answers, dim=-1) * mask).byte(),
        mask=mask,
        scored=mask,
        difficulty=used.sum(-1) / mask.sum(-1),
    )
