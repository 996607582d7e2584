"""`pondering track` and `pondering ui`; MLflow is imported only when one of them runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import click

from pondering.errors import UserError

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
    from pondering import tracking

    def run() -> None:
        added, kept = tracking.rebuild(root)
        print(f"MLflow: {added} train stages added, {kept} were there; `make ui` shows them")

    _guarded(run)


@click.command("ui")
@_root
@click.option("--port", type=click.IntRange(1, 65535), default=5000, show_default=True)
def ui_command(root: Path, port: int) -> None:
    """Open MLflow's own UI on 127.0.0.1."""
    from pondering import tracking

    _guarded(lambda: tracking.ui(root, port))


def _guarded(run: Callable[[], None]) -> None:
    """A user's mistake ends in one line and status 2."""
    try:
        run()
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
