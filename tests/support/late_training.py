"""`python -m support.late_training` is `pondering repro` with trainings slow to hear of signals."""

from __future__ import annotations

import time
from pathlib import Path

from pondering.cli import repro
from pondering.cli.main import main

BEGUN, SECONDS = Path("begun"), 1.0
work = repro._work


def late(command: str, environment: dict[str, str], alone: bool) -> None:
    """Of a training's first second, before it handles any signal, leave a file."""
    if "train.py" in command:
        BEGUN.touch()
        time.sleep(SECONDS)
    work(command, environment, alone)


if __name__ == "__main__":
    repro._work = late
    main(["repro"])
