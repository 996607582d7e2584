"""Bars, columns and colours for a terminal of any width, with plain characters where it must."""

from __future__ import annotations

import codecs
import os
import shutil
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

import click

NARROWEST = 40
EIGHTHS = " ▏▎▍▌▋▊▉"  # of a character's width
HEIGHTS = "▁▂▃▄▅▆▇█"
PLAIN_HEIGHTS = ".:-=+*#@"
VISIBLE = 0.0005  # a smaller share is not drawn
COLOURS = {"bar": "cyan", "right": "green", "wrong": "red", "title": "yellow"}
MARKS = {  # what a terminal without Unicode shows instead
    "✓ right": "(right)", "✗ wrong": "(WRONG)",
    "·": "-", "─": "-", "✓": "+", "✗": "x", "◀": "<", "│": "|", "┊": ":", "…": "~",
    "␣": "_", "⏎": "$", "⇥": ">", "Σ": "sum",
}  # fmt: skip


@dataclass(frozen=True)
class Terminal:
    """What the output can show.

    Args:
        width: in characters; no line is longer.
        unicode: whether block characters can be written; else ASCII alone.
        colour: whether colour codes are understood.
    """

    width: int
    unicode: bool
    colour: bool

    @classmethod
    def of(cls, stream: TextIO, environment: Mapping[str, str] = os.environ) -> Terminal:
        """The terminal, pipe or file behind a stream."""
        try:
            unicode = codecs.lookup(stream.encoding or "ascii").name == "utf-8"
        except LookupError:
            unicode = False
        plain = environment.get("NO_COLOR") or environment.get("TERM") == "dumb"
        width = max(NARROWEST, shutil.get_terminal_size().columns)
        return cls(width, unicode, stream.isatty() and not plain)

    def write(self, line: str = "") -> None:
        """Print one line."""
        click.echo(self.plain(line), color=self.colour)

    def plain(self, text: str) -> str:
        """`text` in characters that the stream has."""
        if self.unicode:
            return text
        for mark, instead in MARKS.items():
            text = text.replace(mark, instead)
        return text.encode("ascii", "replace").decode("ascii")

    def paint(self, text: str, kind: str) -> str:
        """`text` in the colour of its kind (`COLOURS`, or "dim"), if there are colours."""
        if not self.colour:
            return text
        return click.style(text, dim=True) if kind == "dim" else click.style(text, COLOURS[kind])

    def bar(self, share: float, width: int, mark: float | None = None) -> str:
        """A horizontal bar.

        Args:
            share: of `width`, from 0 to 1.
            mark: another share, shown as a stroke across.

        Returns:
            exactly `width` characters.
        """
        share = share if share >= VISIBLE else 0.0  # NaN too
        eighths = max(round(share * 8 * width), int(share > 0))
        if self.unicode:
            full, rest = divmod(eighths, 8)
            drawn = ("█" * full + (EIGHTHS[rest] if rest else "")).ljust(width)
        else:
            drawn = ("#" * round(share * width) or "." * (share > 0)).ljust(width)
        if mark is not None:
            place = min(width - 1, int(mark * width))
            drawn = drawn[:place] + "┊" + drawn[place + 1 :]
        return drawn

    def height(self, share: float) -> str:
        """One character whose height is a share from 0 to 1; a blank for next to nothing."""
        if not share >= VISIBLE:
            return " "
        scale = HEIGHTS if self.unicode else PLAIN_HEIGHTS
        return scale[min(len(scale) - 1, int(share * len(scale)))]

    def strip(self, shares: tuple[float, ...], room: int, columns: int) -> str:
        """A distribution as a row of heights, with percentages where there is room.

        Args:
            shares: p_1 ... p_N.
            room: characters there are.
            columns: steps of the longest row, so that the rows of a table stand in line.
        """
        cell = max(1, room // max(1, columns))
        if cell >= 5:
            block = min(cell - 4, 8)  # a share of 1 is a full block as wide as this
            cells = [f"{self.height(p) * block}{percent(p):>3} " for p in shares]
        elif cell >= 2:
            cells = [f"{self.height(p)} " for p in shares]
        else:
            cells = [self.height(p) for p in shares]
        size = len(cells[0]) if cells else 1
        if len(cells) * size > room:
            cells = [*cells[: max(0, room // size - 1)], "…"]
        return "".join(cells).rstrip()

    def wrapped(self, text: str, indent: str = "", rest: str | None = None) -> list[str]:
        """Prose in lines of the terminal's width, the first after `indent`, others after `rest`."""
        rest = indent if rest is None else rest
        return textwrap.wrap(
            self.plain(text), self.width, initial_indent=indent, subsequent_indent=rest
        )


def clipped(text: str, room: int) -> str:
    """`text` in at most `room` characters."""
    return text if len(text) <= room else text[: room - 1] + "…"


def percent(share: float) -> str:
    """A share in whole percent, blank for next to nothing."""
    if not share >= VISIBLE:
        return ""
    return "<1" if share < 0.005 else f"{100 * share:.0f}"
