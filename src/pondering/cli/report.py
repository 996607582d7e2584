"""`pondering report`: the pages again, from the tables there are."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.cli import options
from pondering.params.read import load_params
from pondering.project.paths import current


@click.command(short_help="Draw the report again from its tables.")
@options.profile
def report(profile: str | None) -> None:
    """Draw the report again from the tables there are, finished or not."""
    from pondering.data.encoding import encodings
    from pondering.report.pages import write_pages

    chosen = load_params(profile=profile).profile
    verdicts = write_pages(Path(), chosen, encodings())
    click.echo(f"report: open {current(Path(), chosen).report / 'index.html'} ({verdicts})")
