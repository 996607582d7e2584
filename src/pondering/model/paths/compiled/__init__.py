"""Loops over rows that Numba compiles, for CPUs, and which networks have them."""

from __future__ import annotations

import functools
import importlib.util
import warnings
from typing import Any

import torch

from pondering.model.halting import ACT, FixedRepeat
from pondering.model.paths.fast.kernels import KERNELS

MOST_HIDDEN = 256  # units; larger networks take torch's products, which are faster than Numba's


@functools.cache
def installed() -> bool:
    """Whether there is what the loops need: Numba and its friends, and a folder for its cache.

    Says once where the folder is missing, as of a package that is read-only for a user without a
    home.
    """
    if not all(importlib.util.find_spec(name) for name in ("numba", "scipy", "threadpoolctl")):
        return False
    try:
        from pondering.model.paths.compiled.loops import forward  # noqa: F401
    except RuntimeError as error:  # Numba's "no locator available"
        hint = "set NUMBA_CACHE_DIR to a folder that can be written"
        warnings.warn(f"path 'compiled' becomes 'fast': {error}; {hint}", stacklevel=2)
        return False
    return True


def has_loops(
    kind: type, halting: Any, device: torch.device, dtype: torch.dtype = torch.float32
) -> bool:
    """Whether such a network has loops, and they are faster than torch.

    Args:
        kind: the cell's class.
        halting: the mechanism; a subclass of one that has loops has none.
        device: where the network computes.
        dtype: its precision.
    """
    known = kind in KERNELS and type(halting) in (ACT, FixedRepeat)
    return known and device.type == "cpu" and dtype == torch.float32
