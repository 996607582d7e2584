"""Stage `keys`: a short file for every other stage, which changes where its program does."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.cli import keys
from pondering.params.read import load_params
from pondering.project.command import stage


@click.command()
def main() -> None:
    """Write data/keys/STAGE.json, and data/keys/STAGE/... of what an experiment has."""
    with stage():
        keys.write(Path(), load_params())
        click.echo(f"keys: {keys.FOLDER} says which program each stage runs")


if __name__ == "__main__":
    main()
