"""What a long work says of its progress."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from support import tiny

from pondering.params.read import load_params
from pondering.project import progress
from pondering.project.paths import Layout
from pondering.project.progress import ProgressBar, duration
from pondering.train.plan import plan
from pondering.train.stage import run


def test_lines_now_and_then_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    with ProgressBar("quick parity act", 1000, 99) as bar:
        for done, seconds in ((99, 0), (100, 40), (200, 70), (300, 71), (550, 100)):
            now = 100.0 + seconds
            bar.show(done, {"loss": 0.51234, "error": 0.25, "ponder": 2.0})
        for done, seconds in ((551, 129), (700, 130), (701, 131)):  # between two logging points
            now = 100.0 + seconds
            bar.tick(done)
    compiled, first, second, third = capsys.readouterr().out.splitlines()
    # 100 updates in 30 s leave 800 in 240 s; 450 in 60 s leave 450 in 60 s; 600 in 90 s
    numbers = "loss 0.512, error 0.25, ponder 2"
    assert compiled == f"quick parity act: 100 of 1,000 updates, unknown time left, {numbers}"
    assert first == f"quick parity act: 200 of 1,000 updates, 4.0 min left, {numbers}"
    assert second == f"quick parity act: 550 of 1,000 updates, 60 s left, {numbers}"
    assert third == f"quick parity act: 700 of 1,000 updates, 45 s left, {numbers}"


def test_updates_of_a_checkpoint_say_nothing_of_the_pace(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    with ProgressBar("quick parity act", 1000) as bar:  # two shards, of 500 each
        bar.resumed(100)
        bar.show(100, {})
        now += 5
        bar.tick(110)  # has compiled
        now += 5
        bar.resumed(300)  # the other tells of itself
        bar.show(420, {})
        now += 25
        bar.tick(470)
    # 60 updates in 30 s leave 530 in 265 s
    assert capsys.readouterr().out == "quick parity act: 470 of 1,000 updates, 4.4 min left\n"


class _Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_bar_moves_every_second_between_logging_points(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now, screen = 100.0, _Screen()
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    monkeypatch.setattr(progress.sys, "stderr", screen)
    with ProgressBar("quick parity act", 1000) as bar:
        drawn = []
        for done in range(1, 41):  # eight updates a second
            now += 1 / 8
            before = screen.tell()
            bar.tick(done)
            if screen.tell() > before:
                drawn.append(done)
        bar.show(40, {"loss": 0.5})
        now += 1.0
        bar.tick(50)
    assert drawn == [8, 16, 24, 32, 40]
    assert "32/1000" in screen.getvalue()
    assert "50/1000" in screen.getvalue() and "loss=0.5" in screen.getvalue()
    assert capsys.readouterr().out == ""


def test_training_refreshes_it_at_every_update(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks: list[int] = []
    monkeypatch.setattr(ProgressBar, "tick", lambda self, done: ticks.append(done))
    values = tiny.document(training={"updates": 30, "log_points": 1})
    frozen = Layout(tmp_path, "quick").frozen("tiny")
    frozen.parent.mkdir(parents=True)
    frozen.touch()  # which a training wants to see
    run(plan(load_params(tiny.write(tmp_path, values)), "tiny", "act", tmp_path))
    assert sorted(set(ticks)) == list(range(31))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (0.0321, "32 ms"), (89, "89 s"), (90, "1.5 min"), (7200, "2.0 h"), (2e5, "2.3 d")],
)
def test_durations_in_the_unit_a_person_would_use(seconds: float, words: str) -> None:
    assert duration(seconds) == words
    assert duration(float("nan")) == "unknown time"
