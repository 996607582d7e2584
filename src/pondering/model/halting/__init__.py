"""Halting mechanisms, a file each: when a network stops to ponder, and what that costs.

`act.py` and `pondernet.py` are the whole difference between the two papers. Nothing here knows of
cells or of tasks.
"""

from __future__ import annotations

from pondering.model.halting.act import ACT
from pondering.model.halting.contract import (
    Halting,
    MeanField,
    Pondered,
    Progress,
    Score,
    Setting,
    per_row,
)
from pondering.model.halting.pondernet import PonderNet, SampledHalting
from pondering.model.halting.repeat import FixedRepeat

__all__ = [
    "ACT",
    "FixedRepeat",
    "Halting",
    "MeanField",
    "PonderNet",
    "Pondered",
    "Progress",
    "SampledHalting",
    "Score",
    "Setting",
    "per_row",
]
