"""The halting mechanisms that the pipeline sweeps, an entry each.

Nothing here loads torch: tables, pages, figures and parameters know a mechanism by its entry alone,
and its class is named as text, which `train/build.py` imports where a network is built.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Shared = Literal["epsilon", "max_steps", "carry"]
"""What a mechanism may take of the experiment's `halting` block."""


@dataclass(frozen=True)
class Mechanism:
    """What the pipeline must know of a mechanism.

    Args:
        title: its name on the pages and in figures.
        setting: the argument of its class that is swept; in `params.yaml` a list of that name.
        symbol: the setting's sign.
        kind: what that list holds: "Number", or "Count", whole from 1, as `ranges.py` has them;
            mappings, too, see `sweeps`.
        path: its class, as `package.module:Class`; it answers the contract of `model/halting`, and
            refuses arguments that mean nothing.
        shares: arguments that come from the experiment's `halting` block. A replica's hash has no
            others of `Shared`; halt_bias and reads are in it where the halting unit learns.
        arguments: further arguments that the mechanism's block has: what each may be, by name or
            as a type, and its default (`...` where there is none). None stands for the shared
            value, or that of the class.
        learns: whether its halting unit does, as in its class.
        remainder: whether R, the weight that the last step is given, means anything.
        sweeps: what a mapping in the list of settings may name besides the setting, for the
            replicas of that setting alone. It may be `halt_bias`, where the halting unit learns,
            and those of `arguments` that are numbers or words. Its class takes tensors
            (K,) of such numbers, and tuples of K such words.
    """

    title: str
    setting: str
    symbol: str
    kind: Any
    path: str
    shares: tuple[Shared, ...] = ()
    arguments: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    learns: bool = True
    remainder: bool = False
    sweeps: tuple[str, ...] = ()


MECHANISMS: dict[str, Mechanism] = {
    "repeat": Mechanism(
        "Fixed repeat", "rho", "ρ", "Count", "pondering.model.halting.repeat:FixedRepeat",  # noqa: RUF001
        learns=False,
    ),
    "act": Mechanism(
        "ACT", "tau", "τ", "Number", "pondering.model.halting.act:ACT",
        shares=("epsilon", "max_steps", "carry"), arguments={"tau_warmup": ("Whole", 0)},
        remainder=True, sweeps=("halt_bias", "tau_warmup"),
    ),
    "pondernet": Mechanism(
        "PonderNet", "lambda_p", "λp", "Number", "pondering.model.halting.pondernet:PonderNet",
        shares=("max_steps", "carry"),
        arguments={
            "beta": ("Number", ...),
            "max_steps": ("Count", None),
            "epsilon": ("Number", None),
            "kl": (Literal["p_prior", "prior_p"], "p_prior"),
        },
        sweeps=("halt_bias", "beta", "epsilon", "kl"),
    ),
    "correctness": Mechanism(
        "Correctness", "weight", "w", "Number",
        "pondering.model.halting.correctness:Correctness",
        shares=("max_steps",), arguments={"explore": ("Number", 0.1), "detach": (bool, False)},
        sweeps=("halt_bias", "explore"),
    ),
    "certainty": Mechanism(
        "Certainty", "theta", "θ", "Number", "pondering.model.halting.certainty:Certainty",
        shares=("max_steps",), learns=False,
    ),
    "dact": Mechanism(
        "DACT", "tau", "τ*", "Number", "pondering.model.halting.dact:DACT",
        shares=("max_steps",), remainder=True, sweeps=("halt_bias",),
    ),
    "random_depth": Mechanism(
        "Random depth", "alpha", "α", "Number",  # noqa: RUF001
        "pondering.model.halting.random_depth:RandomDepth",
        shares=("max_steps",), arguments={"progressive": (bool, True)}, learns=False,
    ),
}  # fmt: skip
"""Name in `params.yaml` -> entry, in the order of tables and pages."""


def is_plain(mechanism: str, setting: float) -> bool:
    """Whether it is the plain network, "without ACT": every input gets one step."""
    return mechanism == "repeat" and setting == 1
