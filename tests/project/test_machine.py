"""What a process takes of the machine."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
import torch

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


def printed(code: str, how: str) -> int:
    """The number that a process of its own prints."""
    command = [sys.executable, "-c", code, how]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_numbers_near_zero_are_zero_on_every_thread() -> None:
    assert (printed(TINY, "settle"), printed(TINY, "leave")) == (0, 10**6)


def test_what_is_freed_is_kept_for_the_next_update() -> None:
    huge = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not machine.keep_memory() or (huge.is_file() and "[always]" in huge.read_text()):
        pytest.skip("only glibc keeps memory; where all pages are huge no fault is left to count")
    pages = 5 * 2 * 40 * 2**20 // resource.getpagesize()
    assert printed(FAULTS, "keep") < pages / 20 < printed(FAULTS, "give")


def test_a_c_library_that_cannot_be_told_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    assert machine.keep_memory() is False
