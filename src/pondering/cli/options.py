"""Options that several commands have, and how they print a text."""

from __future__ import annotations

import shutil
import textwrap

import click

from pondering.params.schema import PROFILES

profile = click.option(
    "--profile", default=None, help="quick, reduced or paper; the active one if left out."
)
published = click.option(
    "--profile", type=click.Choice(PROFILES), default="reduced", show_default=True
)


def wrapped(text: str, head: str = "") -> str:
    """A text as wide as the terminal, at most 120 characters a line.

    Args:
        head: stands before the first line; further lines are indented by its width.
    """
    indent = " " * len(click.unstyle(head))
    width = min(shutil.get_terminal_size((100, 24)).columns, 120)
    lines = textwrap.wrap(text, max(width - len(indent), 30))
    return head + f"\n{indent}".join(lines)
