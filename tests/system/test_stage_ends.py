"""How a command ends: its line and exit status; and what it says of its progress."""

from __future__ import annotations

import errno
import io
import os
from pathlib import Path

import pytest
from support import tiny

from pondering.params.read import load_params
from pondering.project import progress
from pondering.project.command import stage
from pondering.project.errors import Interrupted, UserError
from pondering.project.paths import Layout
from pondering.project.progress import ProgressBar, duration
from pondering.train.plan import plan
from pondering.train.stage import run


def end_of(error: BaseException, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    with pytest.raises(SystemExit) as caught, stage():
        raise error
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert isinstance(caught.value.code, int)
    return caught.value.code, captured.err.rstrip()


def failure(number: int) -> OSError:
    return OSError(number, os.strerror(number), "reports/quick/table.csv")


def test_every_expected_end(capsys: pytest.CaptureFixture[str]) -> None:
    assert end_of(UserError("params.yaml: x"), capsys) == (2, "error: params.yaml: x")
    assert end_of(Interrupted("stopped at update 3"), capsys) == (130, "stopped at update 3")
    status, line = end_of(KeyboardInterrupt(), capsys)
    assert (status, line) == (130, "stopped; the same command starts this stage again")


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.ENOSPC, "the disk is full"),
        (errno.EDQUOT, "quota"),
        (errno.EFBIG, "larger than a file may be"),
        (errno.EROFS, "read-only"),
        (errno.EACCES, "not writable"),
        (errno.EPERM, "not writable"),
        (errno.ENOTDIR, "a file stands where a folder should be"),
        (errno.EEXIST, "a file stands where a folder should be"),
        (errno.EISDIR, "a folder stands where a file should be"),
    ],
)
def test_a_file_that_cannot_be_written(
    capsys: pytest.CaptureFixture[str], number: int, words: str
) -> None:
    status, line = end_of(failure(number), capsys)
    assert status == 1
    assert line.startswith("error: reports/quick/table.csv: ")
    assert words in line
    assert "run the same" in line


def test_a_refusal_of_the_system_told_in_better_words(capsys: pytest.CaptureFixture[str]) -> None:
    """Status 1, as for the same error told by the stage itself."""
    try:
        raise UserError("words: no space left; free 8 bytes") from failure(errno.ENOSPC)
    except UserError as error:
        assert end_of(error, capsys) == (1, "error: words: no space left; free 8 bytes")


def caused(error: Exception, words: str) -> Exception:
    """An exception that comes of another."""
    error.__cause__ = ImportError(words)
    return error


def told_instead(error: Exception) -> Exception:
    """`raise ... from None` while memory was out."""
    error.__context__, error.__suppress_context__ = MemoryError(), True
    return error


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to"),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes"),
        RuntimeError("std::bad_alloc"),
        ImportError("libopenblas.so: failed to map segment from shared object"),
        caused(OSError("Could not find/load shared object file"), "failed to map segment"),
        caused(ImportError("scipy seems to be broken"), "cannot allocate memory"),
    ],
)
def test_exhausted_memory_names_the_remedy(
    capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    status, line = end_of(error, capsys)
    assert status == 1
    assert line.startswith("error: out of memory: lower training.batch")


@pytest.mark.parametrize(
    "error",
    [
        ZeroDivisionError("a mistake of ours"),
        RuntimeError("CUDA error: an illegal memory access was encountered"),
        OSError(errno.EBADF, "a mistake of ours"),
        ImportError("lib.so: failed to map segment from shared object: Operation not permitted"),
        caused(OSError("a mistake of ours"), "another"),
        told_instead(RuntimeError("a mistake of ours")),
    ],
)
def test_a_mistake_of_the_program_keeps_its_traceback(error: Exception) -> None:
    with pytest.raises(type(error)), stage():
        raise error


def test_a_good_end_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with stage():
        pass
    assert capsys.readouterr() == ("", "")


def test_lines_now_and_then_where_there_is_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr(progress.time, "monotonic", lambda: now)
    with ProgressBar("quick parity act", 1000, 100) as bar:
        for done, seconds in ((110, 1), (200, 30), (300, 31), (550, 60)):
            now = 100.0 + seconds
            bar.show(done, {"loss": 0.51234, "error": 0.25, "ponder": 2.0})
        for done, seconds in ((551, 89), (700, 90), (701, 91)):  # between two logging points
            now = 100.0 + seconds
            bar.tick(done)
    first, second, third = capsys.readouterr().out.splitlines()
    # 100 updates in 30 s leave 800 in 240 s; 450 in 60 s leave 450 in 60 s; 600 in 90 s
    numbers = "loss 0.512, error 0.25, ponder 2"
    assert first == f"quick parity act: 200 of 1,000 updates, 4.0 min left, {numbers}"
    assert second == f"quick parity act: 550 of 1,000 updates, 60 s left, {numbers}"
    assert third == f"quick parity act: 700 of 1,000 updates, 45 s left, {numbers}"


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
    run(plan(load_params(tiny.write(tmp_path, values)), "tiny", "act", frozen(tmp_path)))
    assert sorted(set(ticks)) == list(range(31))


def frozen(root: Path) -> Path:
    """A project's folder with an evaluation set, which a training wants to see."""
    path = Layout(root, "quick").frozen("tiny")
    path.parent.mkdir(parents=True)
    path.touch()
    return root


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.0321, "32 ms"),
        (89, "89 s"),
        (90, "1.5 min"),
        (7200, "2.0 h"),
        (200_000, "2.3 d"),
    ],
)
def test_durations_in_the_unit_a_person_would_use(seconds: float, words: str) -> None:
    assert duration(seconds) == words
    assert duration(float("nan")) == "unknown time"
