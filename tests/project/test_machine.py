"""Threads, memory and denormal numbers of a process."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys

import pytest
import torch

from pondering.project import machine

ALONE = """
import ctypes, json, resource
import torch
from pondering.project.machine import keep_memory, settle
if hasattr(ctypes.CDLL(None), "prctl"):
    ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE: small pages, whose faults count
def use():
    blocks = [torch.ones(10 * 2**20) for _ in range(2)]  # more than glibc keeps by itself
    return sum(float(block[0]) for block in blocks)
def faults():
    for _ in range(16):  # the allocator needs up to five until every block has found its place
        use()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(3):
        use()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
def left():
    x = torch.full((10**6,), 1e-30)  # enough for two threads
    return int((x * 1e-10).count_nonzero())
before, kept = faults(), keep_memory()
after, without = faults(), left()
settle(2)
torch.set_num_threads(2)
print(json.dumps([kept, before, after, without, left()]))
"""


def test_there_are_no_more_threads_than_cores() -> None:
    before = torch.get_num_threads()
    try:
        machine.settle(1)
        assert torch.get_num_threads() == 1
        machine.settle(10_000)
        assert torch.get_num_threads() == os.cpu_count()
    finally:
        torch.set_num_threads(before)


def test_freed_memory_is_reused_and_denormal_numbers_are_zero_on_every_thread() -> None:
    """The code runs in a new process, whose second thread starts after `settle`."""
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [sys.executable, "-c", ALONE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    keeps, before, after, without, left = json.loads(done.stdout)
    assert (left, without) == (0, 10**6)
    name = "CS_GNU_LIBC_VERSION"
    assert keeps is bool(name in os.confstr_names and os.confstr(name)), "kept by glibc alone"
    pages = 3 * 2 * 40 * 2**20 // resource.getpagesize()
    assert not keeps or after < pages / 20 < before


def test_another_c_library_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    assert machine.keep_memory() is False
