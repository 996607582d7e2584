"""A replica: what one training is called, from the parameters to the rows of the tables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pondering.params.mechanisms import MECHANISMS

Options = tuple[tuple[str, float | str], ...]
"""Names and values, sorted by name."""

_VARIANT = re.compile(r"(\w+)\[(.+)\]")


@dataclass(frozen=True)
class Replica:
    """One network of a sweep.

    Args:
        mechanism: a name in `MECHANISMS`.
        setting: rho, tau or lambda_p.
        seed: of its parameters and its training batches.
        options: what its setting names besides, where it is a mapping: halt_bias, beta.
    """

    mechanism: str
    setting: float
    seed: int
    options: Options = ()

    @classmethod
    def of_row(cls, variant: Any, setting: Any, seed: Any) -> Replica:
        """The replica that a row of a table begins with; numbers as that table has them."""
        mechanism, options = read_variant(str(variant))
        return cls(mechanism, float(setting), int(seed), options)

    @classmethod
    def of_record(cls, mechanism: str, record: Mapping[str, Any]) -> Replica:
        """The replica of a `record`."""
        options = tuple(sorted(record.get("options", {}).items()))
        return cls(mechanism, float(record["setting"]), int(record["seed"]), options)

    @property
    def variant(self) -> str:
        """Its mechanism as tables write it: act, or with options act[halt_bias=-3]."""
        if not self.options:
            return self.mechanism
        return f"{self.mechanism}[{','.join(f'{n}={setting_text(v)}' for n, v in self.options)}]"

    def text(self) -> str:
        """Its name in messages, and what finds it again in a table: act, tau 0.01, seed 7."""
        setting = f"{MECHANISMS[self.mechanism].setting} {setting_text(self.setting)}"
        options = options_listed(self.options)
        return ", ".join((self.mechanism, setting, *options, f"seed {self.seed}"))

    def row(self) -> dict[str, Any]:
        """What a row of a table begins with."""
        return {"mechanism": self.variant, "setting": self.setting, "seed": self.seed}

    def record(self) -> dict[str, Any]:
        """What the records of its mechanism say of it."""
        more = {"options": dict(self.options)} if self.options else {}
        return {"setting": self.setting} | more | {"seed": self.seed}


def setting_text(setting: float | str) -> str:
    """A setting as it is written: in six digits, as tables have it and find it again; a word."""
    return setting if isinstance(setting, str) else f"{setting:g}"


def read_variant(name: str) -> tuple[str, Options]:
    """A mechanism as tables write it, taken apart: its name in `MECHANISMS`, and the options.

    Numbers are those of the text, in six digits. Names without brackets have no options.
    """
    found = _VARIANT.fullmatch(name)
    if found is None:
        return name, ()
    pairs = (each.partition("=") for each in found[2].split(","))
    return found[1], tuple(sorted((key, _read(value)) for key, _, value in pairs))


def title_of(variant: str) -> str:
    """A mechanism of a table in words: ACT, or ACT, halt_bias -3."""
    mechanism, options = read_variant(variant)
    return ", ".join((MECHANISMS[mechanism].title, *options_listed(options)))


def options_listed(options: Options) -> list[str]:
    """Each option in words: halt_bias -3."""
    return [f"{name} {setting_text(value)}" for name, value in options]


def _read(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
