"""Options that several commands have."""

from __future__ import annotations

import shutil
from pathlib import Path

import click


def width() -> int:
    """Characters in a line of what is printed."""
    return min(shutil.get_terminal_size((100, 24)).columns, 120)


profile = click.option(
    "--profile", default=None, help="quick, reduced or paper; the active one if left out."
)
published = click.option(
    "--profile", default="reduced", show_default=True, help="quick, reduced or paper."
)
root = click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    show_default=True,
    help="Folder of the project.",
)
