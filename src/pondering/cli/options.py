"""Options that several commands have."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from pondering.project.command import completed


def profiles() -> tuple[str, ...]:
    """Their names."""
    from pondering.params.schema import PROFILES  # loads pydantic, which few commands need

    return PROFILES


def with_tables(kind: str) -> list[str]:
    """The experiments that have a table in `tables` or `exits` of any profile."""
    return sorted({path.stem.partition("-")[0] for path in Path("reports").glob(f"*/{kind}/*.csv")})


def width() -> int:
    """Characters in a line of what is printed."""
    return min(shutil.get_terminal_size((100, 24)).columns, 120)


profile = click.option(
    "--profile",
    default=None,
    help="quick, reduced or paper; the active one if left out",
    shell_complete=completed(profiles),
)
published = click.option(
    "--profile",
    default="reduced",
    show_default=True,
    help="quick, reduced or paper.",
    shell_complete=completed(profiles),
)
root = click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    show_default=True,
    help="Folder of the project.",
)
