"""`pondering track` and `pondering ui`; MLflow is imported only when one of them runs."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from pondering.cli import options


@click.command("track")
@options.root
def track_command(root: Path) -> None:
    """Bring MLflow's database up to what the tables under reports/ say."""
    from pondering.track.fill import rebuild

    added, kept = rebuild(root)
    click.echo(f"MLflow: train stages added: {added}, there before: {kept}; `make ui` shows them")


@click.command("ui")
@options.root
@click.option("--port", type=click.IntRange(1, 65535), default=5000, show_default=True)
def ui_command(root: Path, port: int) -> None:
    """Open MLflow's own UI on 127.0.0.1."""
    from pondering.track.server import ui

    sys.exit(ui(root, port))
