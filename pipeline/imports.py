"""Stage `imports`: the code that each other stage depends on, so that DVC need not list it."""

from __future__ import annotations

from pathlib import Path

import click

from pondering import dependencies
from pondering.stage import Command, stage


@click.command(cls=Command)
def main() -> None:
    """Write data/imports/STAGE.json for every stage."""
    with stage():
        dependencies.write(Path())
        click.echo(f"imports: {dependencies.FOLDER} holds the code of every stage, with hashes")


if __name__ == "__main__":
    main()
