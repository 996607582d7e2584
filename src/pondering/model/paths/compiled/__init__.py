"""Loops over rows that Numba compiles, for CPUs, and the networks that have such loops."""

from __future__ import annotations

import functools
import importlib.util
import warnings
from typing import Any

import torch

from pondering.model.paths.fast.sequence import supports


@functools.cache
def installed() -> bool:
    """Whether Numba, SciPy and threadpoolctl are installed, and Numba has a folder for its cache.

    It warns once if the folder is missing: a package in a read-only place, a user without a home.
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
    """Whether there are loops for a network.

    Args:
        kind, halting: the cell's class, and the mechanism.
        device, dtype: those of the network.
    """
    return supports(kind, halting) and device.type == "cpu" and dtype == torch.float32
