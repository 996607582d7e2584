"""Durations."""

from __future__ import annotations

import pytest

from pondering.project.progress import duration


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (0.0321, "32 ms"), (89, "89 s"), (90, "1.5 min"), (7200, "2.0 h"), (2e5, "2.3 d")],
)
def test_durations_have_a_readable_unit(seconds: float, words: str) -> None:
    assert duration(seconds) == words
