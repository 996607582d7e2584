"""Fixtures that several test modules share."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# One thread per process, and per process that a test starts: read when torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

# Processes that a shell starts with `&` ignore Ctrl-C; processes that a test starts must not.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# pytest-xdist hands out files in this order. The slowest files come first: one that starts late
# would keep a single worker busy at the end. The first file compiles every loop into a cache for
# all workers. The second file needs no loop, so two workers never compile one loop at once.
FIRST = (
    "model/paths/test_paths.py",
    "report/test_pages.py",
    "report/test_catalogue.py",
    "params/test_profiles.py",
    "report/test_site.py",
    "evaluate/test_merge.py",
    "evaluate/test_stages.py",
    "train/test_processes.py",
    "train/test_neighbours.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files of `FIRST`, then the others as they were collected."""
    rank = {Path(__file__).parent / name: number for number, name in enumerate(FIRST)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


@pytest.fixture(autouse=True)
def denormal_numbers() -> Iterator[None]:
    """Restore denormal numbers, which a stage flushes to zero in its whole process."""
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].set_flush_denormal(False)
