"""The last line and the exit status of a command."""

from __future__ import annotations

import errno
import os

import pytest

from pondering.project.command import stage
from pondering.project.errors import Interrupted, UserError


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


def test_a_users_mistake_is_one_printable_line() -> None:
    assert (
        str(UserError("a:\n  b\x1b[31m is\tnot allowed"))
        == "a: b\N{REPLACEMENT CHARACTER}[31m is not allowed"
    )


def test_expected_errors_have_a_line_and_a_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert end_of(UserError("params.yaml: x"), capsys) == (2, "error: params.yaml: x")
    assert end_of(Interrupted("stopped at update 3"), capsys) == (130, "stopped at update 3")
    status, line = end_of(KeyboardInterrupt(), capsys)
    assert (status, line) == (130, "stopped; the same command starts this stage again")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES])
def test_a_file_that_cannot_be_written_is_named(
    capsys: pytest.CaptureFixture[str], number: int
) -> None:
    status, line = end_of(failure(number), capsys)
    said = f"error: reports/quick/table.csv: {os.strerror(number).lower()}; "
    assert status == 1 and line.startswith(said)


def test_an_error_of_the_system_in_other_words_has_status_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The system's error alone would have status 1, too."""
    try:
        raise UserError("words: no space left; free 8 bytes") from failure(errno.ENOSPC)
    except UserError as error:
        assert end_of(error, capsys) == (1, "error: words: no space left; free 8 bytes")


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to"),
        RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes"),
        RuntimeError("std::bad_alloc"),
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
    ],
)
def test_an_error_of_the_program_keeps_its_traceback(error: Exception) -> None:
    with pytest.raises(type(error)), stage():
        raise error
