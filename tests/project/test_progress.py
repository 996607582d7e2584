"""Progress lines and durations."""

from __future__ import annotations

import pytest

from pondering.project.progress import duration, progress_bar


def test_without_a_terminal_progress_is_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("quick parity act", 1000) as bar:
        bar.mininterval = bar.delay = 0
        bar.set_postfix({"loss": "0.512"}, refresh=False)
        bar.update(400)
    last = capsys.readouterr().out.strip().rpartition("\n")[2]
    assert last.strip().startswith("quick parity act: 400 of 1000 updates, ")
    assert last.endswith(" left, loss=0.512")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (0.0321, "32 ms"), (89, "89 s"), (90, "1.5 min"), (7200, "2.0 h"), (2e5, "2.3 d")],
)
def test_durations_have_a_readable_unit(seconds: float, words: str) -> None:
    assert duration(seconds) == words
