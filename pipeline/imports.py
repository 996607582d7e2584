"""Stage `imports`: the code that each other stage depends on, so that DVC need not list it."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.cli import imports
from pondering.project.command import Command, stage


@click.command(cls=Command)
def main() -> None:
    """Write data/imports/STAGE.json for every stage."""
    with stage():
        imports.write(Path())
        click.echo(f"imports: {imports.FOLDER} holds the code of every stage, with hashes")


if __name__ == "__main__":
    main()
