"""Loops over rows that Numba compiles, for CPUs, and which networks have them."""

from __future__ import annotations

import functools
import importlib.util
from typing import Any

import torch

from pondering.model.halting import ACT, FixedRepeat, PonderNet
from pondering.model.paths.fast.kernels import KERNELS

MOST_HIDDEN = 256  # units; larger networks spend their time in products, where torch is faster


@functools.cache
def installed() -> bool:
    """Whether there is what the loops need."""
    return all(importlib.util.find_spec(name) for name in ("numba", "scipy", "threadpoolctl"))


def has_loops(
    kind: type, hidden: int, halting: Any, device: torch.device, dtype: torch.dtype = torch.float32
) -> bool:
    """Whether such a network has loops, and they are faster than torch.

    Args:
        kind: the cell's class.
        hidden: its hidden units, H.
        halting: the mechanism; a subclass of one that has loops has none.
        device: where the network computes.
        dtype: its precision.
    """
    small = hidden <= MOST_HIDDEN and type(halting) is PonderNet
    known = kind in KERNELS and (type(halting) in (ACT, FixedRepeat) or small)
    return known and device.type == "cpu" and dtype == torch.float32
