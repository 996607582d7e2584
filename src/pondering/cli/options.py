"""Options that several commands have."""

from __future__ import annotations

import shutil
from pathlib import Path

import click

from pondering.project.errors import UserError


def width() -> int:
    """Characters in a line of what is printed."""
    return min(shutil.get_terminal_size((100, 24)).columns, 120)


def _project(ctx: click.Context, parameter: click.Parameter, root: Path) -> Path:
    """Refuse a folder that is no project before anything is written to it."""
    if not any((root / name).is_file() for name in ("params.yaml", "claims.yaml")):
        raise UserError(f"{root / 'params.yaml'}: no such file; run from the project's root")
    return root


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
    callback=_project,
    help="Folder of the project.",
)
