"""No edit changes the pinned numbers of an update."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from support import golden

from pondering.params.mechanisms import MECHANISMS

PINS = json.loads(golden.FILE.read_text())
SAME = PINS["where"] == golden.where()


def flat(value: Any) -> list[float]:
    """The numbers of nested lists and mappings, in their order."""
    if isinstance(value, dict):
        return [number for each in value.values() for number in flat(each)]
    return (
        [number for each in value for number in flat(each)] if isinstance(value, list) else [value]
    )


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Today's numbers, from a fresh process, as in a training."""
    path = tmp_path_factory.mktemp("golden") / "found.json"
    tests = golden.FILE.parents[1]
    code = f"from support import golden; golden.write(golden.Path({str(path)!r}))"
    subprocess.run([sys.executable, "-c", code], cwd=tests, check=True)
    found: dict[str, dict[str, Any]] = json.loads(path.read_text())["cases"]
    return found


@pytest.mark.parametrize("name", golden.NAMES)
def test_an_update_keeps_its_numbers(name: str, cases: dict[str, dict[str, Any]]) -> None:
    pinned, found = PINS["cases"][name], cases[name]
    pinned_bits, found_bits = pinned.pop("sha256"), found.pop("sha256")
    assert found.keys() == pinned.keys()
    np.testing.assert_allclose(flat(found), flat(pinned), rtol=2e-5, atol=1e-6)
    if SAME and pinned_bits:
        assert found_bits == pinned_bits
    pinned["sha256"] = pinned_bits


def test_every_case_is_pinned_and_every_mechanism_has_a_case() -> None:
    assert list(PINS["cases"]) == golden.NAMES
    made = [make() for make in (golden.MECHANISMS | golden.OF_CLASSES).values()]
    classes = {entry.path.partition(":")[2] for entry in MECHANISMS.values()}
    assert {type(each).__name__ for each in made} == classes
