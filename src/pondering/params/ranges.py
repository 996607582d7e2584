"""The numbers and lists of numbers that may stand in `params.yaml`, each with its range."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, Field

LARGEST = 10**9  # keeps sizes and rates within what torch and float32 can hold


def setting_text(setting: float | str) -> str:
    """A setting as it is written: in six digits, as tables have it and find it again; a word."""
    return setting if isinstance(setting, str) else f"{setting:g}"


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(values)) != len(values):
        raise ValueError("must not name a value twice")
    return values


def _grid(decimals: int) -> tuple[float, ...]:
    """i x 10^-j for i = 1..10 and j = `decimals`..1, in rising order (Graves 2016, Sec. 3)."""
    steps = [(i, j) for j in range(decimals, 0, -1) for i in range(1, 11)]
    return tuple(dict.fromkeys(round(i * 10.0**-j, j) for i, j in steps))


# Graves's penalties by name: those of his synthetic tasks, and of Wikipedia.
GRIDS = {"graves": _grid(4), "graves_text": _grid(3)}


class Swept(NamedTuple):
    """What a setting may be: the range of its number, and grids whose names stand for a list."""

    number: Any
    grids: Mapping[str, tuple[float, ...]]


# Strict: "0.1" in quotes is a word and true is no number; a whole number may stand for a float.
Count = Annotated[int, Field(ge=1, le=LARGEST, strict=True)]
Whole = Annotated[int, Field(ge=0, le=LARGEST, strict=True)]
Open = Annotated[float, Field(gt=0, lt=1, strict=True)]
Positive = Annotated[float, Field(gt=0, le=LARGEST, strict=True)]
NotNegative = Annotated[float, Field(ge=0, le=LARGEST, strict=True)]
Bias = Annotated[float, Field(ge=-LARGEST, le=LARGEST, strict=True)]
Prior = Annotated[float, Field(ge=0, lt=1, strict=True)]
Share = Annotated[float, Field(ge=0, le=1, strict=True)]
Counts = Swept(Count, {})
Penalties = Swept(NotNegative, GRIDS)
Priors = Swept(Prior, {})
Shares = Swept(Share, {})
Thresholds = Swept(Annotated[float, Field(gt=0, le=1, strict=True)], {})
Seed = Annotated[int, Field(ge=0, lt=2**63, strict=True)]
Seeds = Annotated[tuple[Seed, ...], Field(min_length=1), AfterValidator(_distinct)]
OwnSeeds = Annotated[tuple[Seed, ...], AfterValidator(_distinct)]
