"""`pondering publish`: a profile's results into git."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.params.read import load_params


@click.command("publish")
@click.argument("profile", required=False)
def publish_command(profile: str | None) -> None:
    """Copy results, page and a few networks of PROFILE (the active one) to reports/PROFILE.

    What is missing or unfinished is refused, and nothing copied.
    """
    from pondering.evaluate.publish import publish

    folder = publish(load_params(profile=profile), Path())
    click.echo(f"publish: {folder} has the results; `git add {folder}` and commit them")
