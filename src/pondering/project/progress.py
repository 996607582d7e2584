"""Progress of long work: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 30.0
SECONDS_BETWEEN_DRAWINGS = 1.0  # of the bar


class ProgressBar:
    """A bar or lines with time left and the latest numbers.

    Args:
        label: what is being worked on.
        total: how many updates there are.
        done: how many of them are done already.
    """

    def __init__(self, label: str, total: int, done: int = 0) -> None:
        self._label = label
        self._total = total
        self._first = done
        self._done = done
        self._numbers: dict[str, float] = {}
        self._started = float("nan")  # with the end of the first update, which may compile
        self._bar = None
        if sys.stderr.isatty():
            self._bar = tqdm(total=total, initial=done, desc=label, unit="upd", leave=False)
        self._rest = SECONDS_BETWEEN_LINES if self._bar is None else SECONDS_BETWEEN_DRAWINGS
        self._next = time.monotonic() + self._rest

    def resumed(self, done: int) -> None:
        """So many more of them were done before this work: they say nothing of its pace."""
        self._first += done

    def show(self, done: int, numbers: dict[str, float]) -> None:
        """Say where the work stands, with new numbers."""
        self._numbers = numbers
        if self._bar is not None:
            self._bar.set_postfix({k: f"{v:.3g}" for k, v in numbers.items()}, refresh=False)
        self.tick(done)

    def tick(self, done: int) -> None:
        """Say where the work stands if it is time to; cheap enough to be called at every update."""
        now = time.monotonic()
        if self._started != self._started and done > self._first:
            self._started, self._first = now, done
        if now < self._next:
            return
        self._next = now + self._rest
        if self._bar is not None:
            self._bar.update(done - self._done)
            self._bar.refresh()
        self._done = done
        if self._bar is None:
            self._line()

    def _line(self) -> None:
        spent = time.monotonic() - self._started
        worked = self._done - self._first
        left = spent / worked * (self._total - self._done) if worked else float("nan")
        values = "".join(f", {name} {value:.3g}" for name, value in self._numbers.items())
        share = f"{self._done:,} of {self._total:,} updates"
        print(f"{self._label}: {share}, {duration(left)} left{values}", flush=True)

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()


def duration(seconds: float) -> str:
    """Seconds in the unit a person would use."""
    if seconds != seconds:
        return "unknown time"
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 1.5 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 0.5 or not seconds else f"{1000 * seconds:.0f} ms"
