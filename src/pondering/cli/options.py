"""Options that several commands have."""

from __future__ import annotations

import shutil

import click

from pondering.params.schema import PROFILES


def width() -> int:
    """Characters in a line of what is printed."""
    return min(shutil.get_terminal_size((100, 24)).columns, 120)


profile = click.option(
    "--profile", default=None, help="quick, reduced or paper; the active one if left out."
)
published = click.option(
    "--profile", type=click.Choice(PROFILES), default="reduced", show_default=True
)
