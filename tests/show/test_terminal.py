"""Bars, colours and widths on any terminal."""

from __future__ import annotations

import io
import math
from pathlib import Path

import pytest
from support.trained_project import shown

from pondering.show.terminal import Terminal


@pytest.mark.parametrize("columns", [40, 53, 80, 200])
@pytest.mark.parametrize("charset", ["utf-8", "ascii"])
def test_the_width_and_the_characters_of_the_terminal_are_kept(
    project: Path, monkeypatch: pytest.MonkeyPatch, columns: int, charset: str
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    commands = (
        ("parity",), ("parity", "--mechanism", "pondernet"), ("logic",), ("--list",),
        ("mnist", "--mechanism", "pondernet", "--count", "1"),
    )  # fmt: skip
    for command in commands:
        output = shown(*command, charset=charset)
        assert max(map(len, output.splitlines())) <= columns, command
        assert output.isascii() == (charset == "ascii")
        assert "\x1b" not in output


class _Screen(io.StringIO):
    encoding = "UTF-8"

    def isatty(self) -> bool:
        return True


def test_colours_only_where_they_are_understood() -> None:
    assert Terminal.of(_Screen(), {}).colour
    assert not Terminal.of(_Screen(), {"NO_COLOR": "1"}).colour
    assert not Terminal.of(_Screen(), {"TERM": "dumb"}).colour
    assert "\x1b[" in Terminal(80, True, True).paint("x", "bar")
    assert Terminal(80, True, False).paint("x", "bar") == "x"


@pytest.mark.parametrize(
    ("share", "unicode", "plain"),
    [
        (0.0, "", ""),
        (0.0004, "", ""),
        (0.0006, "▏", "."),
        (0.25, "██▌", "##"),
        (0.99, "█████████▉", "##########"),
        (1.0, "██████████", "##########"),
        (math.nan, "", ""),
    ],
)
def test_bars(share: float, unicode: str, plain: str) -> None:
    for has_unicode, bar in ((True, unicode), (False, plain)):
        terminal = Terminal(80, has_unicode, False)
        assert terminal.bar(share, 10) == bar.ljust(10)
        assert len(terminal.bar(share, 10, mark=1.0)) == 10
