"""The numbers of an update stay what they were, whatever becomes of the code around them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from support import golden

from pondering.project import provenance

KEPT = json.loads(golden.FILE.read_text())
SAME = (KEPT["processor"], KEPT["torch"]) == (provenance.processor(), torch.__version__)


def flat(value: Any) -> list[float]:
    """The numbers of nested lists and mappings, in their order."""
    if isinstance(value, dict):
        return [number for each in value.values() for number in flat(each)]
    return (
        [number for each in value for number in flat(each)] if isinstance(value, list) else [value]
    )


@pytest.mark.parametrize("name", golden.NAMES)
def test_an_update_keeps_its_numbers(name: str) -> None:
    kept, found = KEPT["cases"][name], golden.numbers(name)
    kept_bits, found_bits = kept.pop("sha256"), found.pop("sha256")
    assert found.keys() == kept.keys()
    np.testing.assert_allclose(flat(found), flat(kept), rtol=2e-5, atol=1e-6)
    if SAME:
        assert found_bits == kept_bits
    kept["sha256"] = kept_bits


def test_every_case_is_kept() -> None:
    assert list(KEPT["cases"]) == golden.NAMES
