"""Progress of long work: tqdm's bar on a terminal, a line every half minute elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from tqdm import tqdm

LINE = "{desc}: {n_fmt} of {total_fmt} updates, {remaining} left{postfix}\n"


class ProgressBar:
    """A bar with the time left and the latest numbers.

    Args:
        label: what is being worked on.
        total: how many updates there are.
    """

    def __init__(self, label: str, total: int) -> None:
        terminal = sys.stderr.isatty()
        self._bar = tqdm(
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

    def resumed(self, done: int) -> None:
        """So many more updates were done before this work: they say nothing of its pace."""
        self._bar.initial += done

    def show(self, done: int, numbers: Mapping[str, float]) -> None:
        """Say where the work stands, with new numbers."""
        self._bar.set_postfix({k: f"{v:.3g}" for k, v in numbers.items()}, refresh=False)
        self._bar.update(done - self._bar.n)

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.close()


def duration(seconds: float) -> str:
    """Seconds in the unit a person would use."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 0.5 or not seconds else f"{1000 * seconds:.0f} ms"
