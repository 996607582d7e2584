"""What may stand in `params.yaml`: numbers, lists of numbers, and blocks of known keys.

What a mechanism is given, its class checks; here are whole numbers and numbers, told apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

LARGEST = 10**9  # keeps sizes and rates within what torch and float32 can hold

# Strict: "0.1" in quotes is a word and true is no number; a whole number may stand for a float.
Whole = Annotated[int, Field(ge=0, le=LARGEST, strict=True)]
Count = Annotated[int, Field(ge=1, le=LARGEST, strict=True)]
Number = Annotated[float, Field(ge=-LARGEST, le=LARGEST, strict=True)]
Positive = Annotated[float, Field(gt=0, le=LARGEST, strict=True)]


def refuse_unknown(values: Any, allowed: Iterable[str]) -> None:
    """Refuse a key that a block may not have; `read.py` makes a line of it."""
    for key in values if isinstance(values, dict) else ():
        if key not in allowed:
            said = {"key": str(key), "allowed": ", ".join(allowed)}
            raise PydanticCustomError("unknown", "unknown key; allowed: {allowed}", said)


class Model(BaseModel):
    """A block of the file: its fields are all the keys that it may have."""

    model_config = ConfigDict(frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _known(cls, values: Any) -> Any:
        refuse_unknown(values, cls.model_fields)
        return values


def _graves(decimals: int) -> tuple[float, ...]:
    """i x 10^-j for i = 1..10 and j = `decimals`..1, in rising order (Graves 2016, Sec. 3)."""
    steps = [(i, j) for j in range(decimals, 0, -1) for i in range(1, 11)]
    return tuple(dict.fromkeys(round(i * 10.0**-j, j) for i, j in steps))


GRIDS: dict[str, tuple[float, ...]] = {
    "graves": _graves(4),
    "graves_text": _graves(3),  # of Wikipedia
    "banino": (0.0, *_graves(4)[1:9], *_graves(3)[:9], 0.01, 0.02),  # of tau, as drawn in Fig. 2a
    "banino_priors": tuple(round(0.1 * i, 1) for i in range(1, 10)),  # as drawn in Fig. 2b
}
"""The papers' lists of settings, by the name that may stand for one."""


def _listed(seeds: Any) -> Any:
    """20 stands for 0 to 19, {from: 100, count: 10} for 100 to 109; a list for itself."""
    first, count = 0, seeds
    if isinstance(seeds, dict) and seeds.keys() == {"from", "count"}:
        first, count = seeds["from"], seeds["count"]
    if type(first) is int and type(count) is int:
        return tuple(range(first, first + count))
    return seeds


Seed = Annotated[int, Field(ge=0, lt=2**63, strict=True)]
Seeds = Annotated[tuple[Seed, ...], BeforeValidator(_listed)]
