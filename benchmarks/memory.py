"""A process's peak memory, and the end of a GPU's work."""

from __future__ import annotations

import resource
from pathlib import Path

import torch


def synchronise(device: torch.device) -> None:
    """Wait for a GPU's queue to end."""
    if device.type == "cuda":
        torch.cuda.synchronize()


def peak_memory(device: torch.device) -> int:
    """Bytes: of the whole process on a CPU, of what torch allocated on a GPU."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def forget_peak(device: torch.device) -> int:
    """Let the peak begin anew (on a CPU where Linux can); returns what it is then."""
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    elif Path("/proc/self/clear_refs").exists():
        Path("/proc/self/clear_refs").write_text("5")
    return peak_memory(device)
