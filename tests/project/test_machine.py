"""What a process takes of the machine, and the tanh that a CPU computes fast."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from pondering.model.paths.fast.kernels import LANES, _squash
from pondering.project import machine

FAULTS = """
import resource, sys
import torch
from pondering.project.machine import keep_memory
if sys.argv[1] == "keep":
    assert keep_memory()
def use():
    blocks = [torch.ones(10 * 2**20) for _ in range(2)]  # more than glibc keeps by itself
    return sum(float(block[0]) for block in blocks)
for _ in range(12):
    use()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(5):
    use()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


TINY = """
import torch
from pondering.project.machine import settle
if __import__("sys").argv[1] == "settle":
    settle(2)
torch.set_num_threads(2)
x = torch.full((10**6,), 1e-30)  # enough for two threads
print(int((x * 1e-10).count_nonzero()))
"""


def test_threads_are_those_asked_for_but_no_more_than_cores() -> None:
    before = torch.get_num_threads()
    try:
        machine.settle(1)
        assert torch.get_num_threads() == 1
        machine.settle(10_000)
        assert torch.get_num_threads() == os.cpu_count()
    finally:
        torch.set_num_threads(before)


def test_numbers_near_zero_are_zero_on_every_thread() -> None:
    def left(how: str) -> int:
        run = subprocess.run(
            [sys.executable, "-c", TINY, how], capture_output=True, text=True, check=True
        )
        return int(run.stdout)

    assert (left("settle"), left("leave")) == (0, 10**6)


def test_what_is_freed_is_kept_for_the_next_update() -> None:
    def faults(how: str) -> int:
        run = subprocess.run(
            [sys.executable, "-c", FAULTS, how], capture_output=True, text=True, check=True
        )
        return int(run.stdout)

    huge = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not machine.keep_memory() or (huge.is_file() and "[always]" in huge.read_text()):
        pytest.skip("no glibc, or huge pages always: page faults tell nothing of kept memory here")
    pages = 5 * 2 * 40 * 2**20 // resource.getpagesize()
    assert faults("keep") < pages / 20 < faults("give")


def test_a_c_library_that_cannot_be_told_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    assert machine.keep_memory() is False


@pytest.mark.parametrize("width", [LANES, 3 * LANES, LANES + 1, 5])
def test_the_fast_tanh_is_tanh_to_a_rounding_of_one(width: int) -> None:
    x = torch.linspace(-3, 3, 40 * width, dtype=torch.float64).pow(3).view(40, width)
    for dtype, close in ((torch.float32, 3e-7), (torch.float64, 1e-15)):
        given = x.to(dtype)
        exact = np.tanh(given.double().numpy())
        assert np.abs(_squash(given).double().numpy() - exact).max() < close
    odd = torch.tensor([[0.0, torch.inf, -torch.inf, torch.nan]]).repeat(1, width)
    found = _squash(odd)[0, :4]
    assert found[:3].tolist() == [0.0, 1.0, -1.0] and found[3].isnan()
