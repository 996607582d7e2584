"""`pondering next`: where to look after a run."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.params.read import load_params
from pondering.project.command import stage
from pondering.project.paths import Layout


@click.command("next")
def whats_next() -> None:
    """Say where to look after a run."""
    with stage():
        profile = load_params().profile
        page = Layout(Path(), profile).report / "index.html"
        click.echo(f"The report: open {page} (as text: {page.with_name('report.md')})")
        click.echo(f"The runs: make ui. The verdicts: pondering claims --profile {profile}")
        click.echo("Change a line of params.yaml, make repro again, then: dvc metrics diff")
