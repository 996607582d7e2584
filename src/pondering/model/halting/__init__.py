"""Halting mechanisms, a file each: when a network stops to ponder, and what that costs.

`act.py` and `pondernet.py` are how the two papers differ in halting. Nothing here knows of cells or
of tasks.
"""

from __future__ import annotations

from pondering.model.halting.act import ACT, ACTState
from pondering.model.halting.certainty import Certainty, CertaintyState
from pondering.model.halting.contract import (
    EXITS,
    Halting,
    HaltingState,
    MeanField,
    Pondered,
    Score,
    Setting,
    per_row,
)
from pondering.model.halting.correctness import Correctness
from pondering.model.halting.dact import DACT, DACTState
from pondering.model.halting.exits import (
    Exit,
    ExitState,
    Rule,
    Seen,
    relative_change,
    side_by_side,
)
from pondering.model.halting.pondernet import PonderNet, PonderNetState
from pondering.model.halting.random_depth import RandomDepth
from pondering.model.halting.repeat import FixedRepeat
from pondering.model.halting.sampled import SampledHalting, SampledState

__all__ = [
    "ACT",
    "DACT",
    "EXITS",
    "ACTState",
    "Certainty",
    "CertaintyState",
    "Correctness",
    "DACTState",
    "Exit",
    "ExitState",
    "FixedRepeat",
    "Halting",
    "HaltingState",
    "MeanField",
    "PonderNet",
    "PonderNetState",
    "Pondered",
    "RandomDepth",
    "Rule",
    "SampledHalting",
    "SampledState",
    "Score",
    "Seen",
    "Setting",
    "per_row",
    "relative_change",
    "side_by_side",
]
