"""The halting mechanisms that the pipeline sweeps, an entry each.

Nothing here loads torch: tables, pages, figures and parameters know a mechanism by its entry alone,
and its class is named as text, which `train/build.py` imports where a network is built.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pondering.params import ranges

SHARED: dict[str, tuple[Any, Any]] = {
    "learning_rate": (ranges.Positive | None, None),
    "updates": (ranges.Count | None, None),
}
"""What every mechanism's block may hold: key -> what it may be, its default."""


@dataclass(frozen=True)
class Mechanism:
    """What the pipeline must know of a mechanism.

    Args:
        title: its name on the pages and in figures.
        setting: the argument of its class that is swept; in `params.yaml` a list of that name.
        symbol: the setting's sign.
        settings: what that list may hold: `ranges.Counts` (whole, from 1), `Penalties` (from 0, or
            a grid's name) or `Priors` (between 0 and 1).
        path: its class, as `package.module:Class`; it answers the contract of `model/halting`.
        shares: arguments that come from the experiment's `halting` block: max_steps, epsilon.
        own: further arguments that the mechanism's block has: what each may be, and its default
            (`...` where there is none). None stands for the shared value, or that of the class.
        remainder: whether R, the weight that the last step is given, means anything.
        ways: the functions of `model/paths` that it may take; a training's key leaves out the
            others.
    """

    title: str
    setting: str
    symbol: str
    settings: Any
    path: str
    shares: tuple[str, ...] = ()
    own: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    remainder: bool = False
    ways: tuple[str, ...] = ("sequence", "every_step", "without_gradient")

    @property
    def block(self) -> dict[str, tuple[Any, Any]]:
        """What its block in `params.yaml` may hold: key -> what it may be, its default."""
        return {**SHARED, self.setting: (self.settings, ...), **self.own}

    @property
    def module(self) -> str:
        """The module of its class."""
        return self.path.partition(":")[0]


MECHANISMS: dict[str, Mechanism] = {
    "repeat": Mechanism(
        "Fixed repeat", "rho", "ρ", ranges.Counts, "pondering.model.halting:FixedRepeat",  # noqa: RUF001
        ways=("sequence", "without_gradient"),
    ),
    "act": Mechanism(
        "ACT", "tau", "τ", ranges.Penalties, "pondering.model.halting:ACT",
        shares=("epsilon", "max_steps"), remainder=True, ways=("sequence", "without_gradient"),
    ),
    "pondernet": Mechanism(
        "PonderNet", "lambda_p", "λp", ranges.Priors, "pondering.model.halting:PonderNet",
        shares=("max_steps",),
        own={
            "beta": (ranges.NotNegative, ...),
            "max_steps": (ranges.Count | None, None),
            "epsilon": (ranges.Open | None, None),
        },
        ways=("every_step",),
    ),
}  # fmt: skip
"""Name in `params.yaml` -> entry, in the order of tables and pages."""


def is_plain(mechanism: str, setting: float) -> bool:
    """Whether it is the plain network, "without ACT": every input gets one step."""
    return mechanism == "repeat" and setting == 1
