"""Fixtures that several test modules share."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

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


CHROMIUM_OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A headless Chromium. Without one a test fails, or is skipped if PONDERING_NO_BROWSER=1."""
    if os.environ.get("PONDERING_NO_BROWSER") == "1":
        pytest.skip("asked for by PONDERING_NO_BROWSER=1; without it a missing Chromium fails")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.fail(
            "chromium is not installed (apt-get install chromium); "
            "PONDERING_NO_BROWSER=1 leaves the browser tests out"
        )
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=list(CHROMIUM_OPTIONS))
        yield chromium
        chromium.close()
