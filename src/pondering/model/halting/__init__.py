"""Halting mechanisms, one file each: when a network stops, and what its steps cost.

`act.py` and `pondernet.py` hold the whole difference between the two papers. Nothing here imports
cells or tasks.
"""

from __future__ import annotations

from pondering.model.halting.act import ACT
from pondering.model.halting.certainty import Certainty
from pondering.model.halting.contract import (
    Halting,
    HaltingState,
    PonderRecord,
    Score,
    Setting,
    per_row,
)
from pondering.model.halting.correctness import Correctness
from pondering.model.halting.dact import DACT
from pondering.model.halting.exits import Exit, History, Rule, relative_change, side_by_side
from pondering.model.halting.pondernet import PonderNet
from pondering.model.halting.random_depth import RandomDepth
from pondering.model.halting.repeat import FixedRepeat
from pondering.model.halting.sampled import SampledHalting, SampledState

__all__ = [
    "ACT", "DACT", "Certainty", "Correctness", "Exit", "FixedRepeat", "Halting", "HaltingState",
    "History", "PonderNet", "PonderRecord", "RandomDepth", "Rule", "SampledHalting",
    "SampledState", "Score", "Setting", "per_row", "relative_change", "side_by_side",
]  # fmt: skip
