"""How a process uses the machine it is on: threads, memory that it keeps, numbers near zero."""

from __future__ import annotations

import ctypes
import os

import torch

from pondering.project import provenance

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # of mallopt(3)
AT_MOST = 16  # processes at once; each wants some hundred MB
LARGEST_KEPT = 2**26  # bytes of a block that is kept when it is freed; larger ones leave holes


def settle(threads: int) -> None:
    """Use so many threads, as many as there are cores at most; then `tune`."""
    tune()
    torch.set_num_threads(min(threads, os.cpu_count() or 1))


def processes(threads: int) -> int:
    """How many processes of so many threads this machine has cores for."""
    known = hasattr(os, "sched_getaffinity")  # not on macOS
    cores = len(os.sched_getaffinity(0)) if known else os.cpu_count() or 1
    return max(1, min(AT_MOST, cores // threads))


def tune() -> None:
    """Keep freed memory, and take numbers below 1.2e-38 for zero, where the system lets us.

    After many ponder steps what is left of PonderNet's mass is as small as that, and a CPU may
    compute with such numbers a hundred times as slowly. Threads started later do the same.
    """
    keep_memory()
    torch.set_flush_denormal(True)


def name_of(device: torch.device) -> str:
    """The GPU in words, or the processor with what decides the last bit of its floats."""
    gpu = device.type == "cuda"
    return torch.cuda.get_device_name(device) if gpu else provenance.processor()


def keep_memory() -> bool:
    """Keep what is freed for the next update, and say whether this system can be told to.

    glibc gives large blocks back at once. An update frees and asks for the same megabytes again and
    again, and then spends a fifth of its time on pages that the system clears.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library
        return False
    kept = mallopt(MMAP_THRESHOLD, LARGEST_KEPT) or mallopt(
        MMAP_THRESHOLD, LARGEST_KEPT // 2
    )  # an old glibc
    return bool(mallopt(TRIM_THRESHOLD, 2**31 - 1) and kept)
