"""Loops over rows that Numba compiles, for CPUs, and for which networks there are any."""

from __future__ import annotations

from typing import Any

import torch

from pondering.model.halting import ACT, FixedRepeat
from pondering.model.paths.fast.kernels import KERNELS
from pondering.model.paths.fast.unrolled import takes_all_steps

MOST_HIDDEN = 256  # hidden units; with more, the products are nearly all, and torch's are faster


def has_loops(
    kind: type, hidden: int, halting: Any, device: torch.device, dtype: torch.dtype = torch.float32
) -> bool:
    """Whether there are loops for such cells and such a mechanism, and they are the faster way.

    Args:
        kind: the cell's class.
        hidden: its units.
        halting: the mechanism; a subclass of one that has loops has none.
    """
    small = hidden <= MOST_HIDDEN and takes_all_steps(halting)
    known = kind in KERNELS and (type(halting) in (ACT, FixedRepeat) or small)
    return known and device.type == "cpu" and dtype == torch.float32
