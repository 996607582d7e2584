"""`pondering track` and `pondering ui`; MLflow is imported only when one of them runs."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.project.command import stage

_root = click.option(
    "--root",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=".",
    show_default=True,
    help="Folder of the project.",
)


@click.command("track")
@_root
def track_command(root: Path) -> None:
    """Bring MLflow's database up to what the tables under reports/ say."""
    with stage():
        from pondering import track

        added, kept = track.rebuild(root)
        click.echo(f"MLflow: {added} train stages added, {kept} were there; `make ui` shows them")


@click.command("ui")
@_root
@click.option("--port", type=click.IntRange(1, 65535), default=5000, show_default=True)
def ui_command(root: Path, port: int) -> None:
    """Open MLflow's own UI on 127.0.0.1."""
    with stage():
        from pondering import track

        track.ui(root, port)
