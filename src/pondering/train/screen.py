"""A screen of recipes: every arm trained with every mechanism, setting and seed of its plan.

Its seeds are those of no published run, so that what it finds is tested on others.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from pondering.params.screens import Screen
from pondering.project import locks
from pondering.train.plan import Plan, plan
from pondering.train.stage import train_all

COLUMNS = ["arm", "mechanism", "setting", "seed", "update", "loss", "error", "ponder_time"]
ORIGIN = ["commit", "key", "params_hash", "data_hash", "device", "path", "versions", "wall_seconds"]


@dataclass(frozen=True)
class Part:
    """An arm with one mechanism: its training, and the key of all that decides its numbers."""

    arm: str
    mechanism: str
    plan: Plan

    @property
    def name(self) -> str:
        """In the record of the screen."""
        return f"{self.arm}, {self.mechanism}"

    def train(self) -> tuple[pd.DataFrame, dict[str, Any]]:
        """Train to the end, from the last checkpoint if there is one.

        Returns:
            The curves, and where their numbers come from.
        """
        self.plan.folder.mkdir(parents=True, exist_ok=True)
        with locks.alone(self.plan.folder):
            outcome = train_all(self.plan)
        whole = self.plan.origin() | {"wall_seconds": round(outcome.seconds, 3)}
        rows = pd.DataFrame(outcome.rows).assign(arm=self.arm)[COLUMNS]
        return rows, {name: whole[name] for name in ORIGIN}


def parts(screen: Screen, profile: str, root: Path) -> list[Part]:
    """Every arm with every mechanism, checked before any of them trains.

    Raises:
        UserError: a value that an arm, its task or its mechanism refuses.
    """
    found = []
    for arm in screen.arms:
        params = screen.params(arm, profile, root / "params.yaml")
        for mechanism in screen.settings:
            found.append(Part(arm, mechanism, plan(params, screen.experiment, mechanism, root)))
    return found
