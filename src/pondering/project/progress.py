"""Progress of long work: tqdm's bar on a terminal, a line every half minute elsewhere."""

from __future__ import annotations

import sys
from typing import Any

from tqdm import tqdm

LINE = "{desc}: {n_fmt} of {total_fmt} updates, {remaining} left{postfix}\n"


def progress_bar(label: str, total: int) -> Any:
    """Tqdm's bar with the time left.

    Args:
        label: what is being worked on.
        total: how many updates there are.
    """
    terminal = sys.stderr.isatty()
    return tqdm(
        total=total,
        desc=label,
        unit=" updates",
        leave=not terminal,
        file=sys.stderr if terminal else sys.stdout,
        mininterval=1 if terminal else 30,
        miniters=1,
        delay=1,
        bar_format=None if terminal else LINE,
    )


def duration(seconds: float) -> str:
    """Seconds in the unit a person would use."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 0.5 or not seconds else f"{1000 * seconds:.0f} ms"
