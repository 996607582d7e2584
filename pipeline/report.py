"""Stage `report`: figures, verdicts and the static site of a profile."""

from __future__ import annotations

import importlib
from pathlib import Path

import click

from pondering.project.command import Command, stage


@click.command(cls=Command)
@click.option("--profile", required=True, help="quick, reduced or paper.")
def main(profile: str) -> None:
    """Write reports/PROFILE and rewrite reports/index.html, from whatever has been run."""
    with stage():  # imports take seconds: Ctrl-C may come among them
        from pondering.report.pages import publish

        verdicts = publish(Path(), profile)
        # Imported by name because it cannot change a page: no dependency of this stage.
        importlib.import_module("pondering.track").log_results(Path(), profile)
        click.echo(f"report: open reports/{profile}/index.html ({verdicts})")


if __name__ == "__main__":
    main()
