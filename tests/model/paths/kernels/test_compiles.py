"""Kernels compiled for three generations of GPUs, none of which need be here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from support import kernel_code

REGISTERS, STACK, SHARED = 255, 64, 48 * 1024  # of a thread, in bytes of a thread, of a program
ALONE = ("adam", "lstm_adam")  # whose threads read back nothing but their own numbers


@pytest.fixture(scope="module", params=[80, 90, 100])
def kernels(request: pytest.FixtureRequest) -> dict[str, dict[str, Any]]:
    """What each kernel becomes; in a process of its own, where Triton compiles."""
    environment = {n: v for n, v in os.environ.items() if n != "TRITON_INTERPRET"}
    command = [sys.executable, kernel_code.__file__, str(request.param)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, dict[str, Any]] = json.loads(done.stdout)
    return found


def test_registers_and_memory_suffice(kernels: dict[str, dict[str, Any]]) -> None:
    for name, found in kernels.items():
        assert found["registers"] <= REGISTERS, (name, found)
        assert found["stack"] <= STACK, (name, found)
        assert found["shared"] <= SHARED, (name, found)


def test_sums_have_one_order(kernels: dict[str, dict[str, Any]]) -> None:
    assert {name: found["atomics"] for name, found in kernels.items()} == {n: [] for n in kernels}


def test_no_thread_reads_what_another_has_not_written_yet(
    kernels: dict[str, dict[str, Any]],
) -> None:
    for name in kernels.keys() - set(ALONE):
        assert kernels[name]["loads_behind_stores"] == [], name


def test_a_missing_barrier_is_found() -> None:
    ptx = "{\n$L1:\n%s\nld.global.b32 %%r1;\nst.global.b32 %%r1;\n@%%p1 bra $L1;\nret;\n}"
    assert kernel_code.loads_behind_stores(ptx % "bar.sync 0;") == []
    assert kernel_code.loads_behind_stores(ptx % "") == ["ld.global.b32 %r1;"]
