"""How a command ends: its line and exit status; and what it says of its progress."""

from __future__ import annotations

import errno
import os

import pytest

from pondering import progress
from pondering.errors import Interrupted, UserError
from pondering.progress import Progress, duration
from pondering.stage import stage


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


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to"),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes"),
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
    with Progress("quick parity act", 1000, 100) as bar:
        for done, seconds in ((110, 1), (200, 25), (300, 26), (550, 50)):
            now = 100.0 + seconds
            bar.show(done, {"loss": 0.51234, "error": 0.25, "ponder": 2.0})
    first, second = capsys.readouterr().out.splitlines()
    # 100 updates in 25 s leave 800 in 200 s; 450 in 50 s leave 450 in 50 s
    assert first == (
        "quick parity act: 200 of 1,000 updates, 3.3 min left, loss 0.512, error 0.25, ponder 2"
    )
    assert second.startswith("quick parity act: 550 of 1,000 updates, 50 s left, ")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0, "0 s"), (89, "89 s"), (90, "1.5 min"), (7200, "2.0 h"), (200_000, "2.3 d")],
)
def test_durations_in_the_unit_a_person_would_use(seconds: float, words: str) -> None:
    assert duration(seconds) == words
    assert duration(float("nan")) == "unknown time"
