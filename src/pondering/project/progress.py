"""Durations in words."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """Seconds in the unit a person would use."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 0.5 or not seconds else f"{1000 * seconds:.0f} ms"
