"""A replica: what one training is called, from the parameters to the rows of the tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pondering.params.mechanisms import MECHANISMS
from pondering.params.ranges import setting_text


@dataclass(frozen=True)
class Replica:
    """One network of a sweep.

    Args:
        mechanism: a name in `MECHANISMS`.
        setting: rho, tau or lambda_p.
        seed: of its parameters and its training batches.
    """

    mechanism: str
    setting: float
    seed: int

    def setting_name(self) -> str:
        """Its setting with its name: tau 0.01."""
        return f"{MECHANISMS[self.mechanism].setting} {setting_text(self.setting)}"

    def text(self) -> str:
        """Its name in messages, and what finds it again in a table: act, tau 0.01, seed 7."""
        return f"{self.mechanism}, {self.setting_name()}, seed {self.seed}"

    def row(self) -> dict[str, Any]:
        """What a row of a table begins with."""
        return {"mechanism": self.mechanism, "setting": self.setting, "seed": self.seed}
