"""Random words of training examples: each depends on task, seed, update and row alone.

Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3", Philox4x32-10.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

MASK = 0xFFFFFFFF
ROUNDS = 10


def philox(counter: Sequence[Tensor], key: Sequence[Tensor]) -> list[Tensor]:
    """The four words of each counter, int64 from 0 to 2^32 - 1.

    Products of two words leave the range of int64: what overflows is in the upper half, which is
    cut off after the shift.

    Args:
        counter: four words; key: two, all of shapes that broadcast.
    """
    a, b, c, d = counter
    k, m = key
    for _ in range(ROUNDS):
        left, right = a * 0xD2511F53, c * 0xCD9E8D57
        a, b = ((right >> 32) & MASK) ^ b ^ k, right & MASK
        c, d = ((left >> 32) & MASK) ^ d ^ m, left & MASK
        k, m = (k + 0x9E3779B9) & MASK, (m + 0xBB67AE85) & MASK
    return [a, b, c, d]


class Words:
    """The words of N examples of each of S seeds: of `batch` rows in each of some updates.

    Args:
        name: of the task.
        seeds: S of them.
        updates: whose examples; N = len(updates) * batch.
    """

    def __init__(
        self,
        name: str,
        seeds: Sequence[int],
        updates: range,
        batch: int,
        device: torch.device | str = "cpu",
    ) -> None:
        digests = [
            hashlib.blake2b(repr((name, "train", "device", seed)).encode(), digest_size=8).digest()
            for seed in seeds
        ]
        keys = np.array([np.frombuffer(each, dtype="<u4") for each in digests], dtype=np.int64)
        self.device = device
        self._keys = torch.as_tensor(keys, device=device)[:, None, None].unbind(-1)
        examples = torch.arange(updates.start * batch, updates.stop * batch, device=device)
        self._updates, self._rows = examples[:, None] // batch, examples[:, None] % batch
        self._used = 0  # counters of each example

    def below(self, limit: int, *shape: int) -> Tensor:
        """Whole numbers from 0 to `limit` - 1, (S, N, *shape) int64.

        Their probabilities differ from 1 / limit by 2^-32 at most.
        """
        return (self.next(*shape) * limit) >> 32

    def next(self, *shape: int) -> Tensor:
        """Words that have not been used yet, (S, N, *shape) int64."""
        count = int(np.prod(shape))
        counters = -(-count // 4)
        place = torch.arange(self._used, self._used + counters, device=self.device)
        self._used += counters
        zero = torch.zeros_like(place)
        found = philox((place, self._rows, self._updates, zero), self._keys)
        words = torch.stack(found, dim=-1).flatten(-2)[..., :count]
        return words.reshape(*words.shape[:2], *shape)
