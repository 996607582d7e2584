"""Quantities whose intervals are tried where they are made: their words, values and seeds alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from pondering.claims.measures.quantities import Quantity

Known = tuple[str, str, float, int]
"""Label, unit, value, seeds."""


def check_values(found: Sequence[Quantity], known: Mapping[str, Known]) -> list[Quantity]:
    """Compare the quantities that are known, each of which must be there; hand back the others."""
    named = {quantity.name: quantity for quantity in found}
    for name, (label, unit, value, seeds) in known.items():
        quantity = named.pop(name)
        assert (quantity.label, quantity.unit, quantity.seeds) == (label, unit, seeds), name
        assert quantity.value == pytest.approx(value, rel=1e-9, nan_ok=True), name
    return list(named.values())


def values(found: Sequence[Quantity]) -> dict[str, float]:
    return {quantity.name: quantity.value for quantity in found}
