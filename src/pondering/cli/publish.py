"""`pondering publish`: a profile's results into git."""

from __future__ import annotations

import click

from pondering.params.read import load_params


@click.command("publish", short_help="Copy results into git.")
@click.argument("profile", required=False)
def publish_command(profile: str | None) -> None:
    """Copy results, page and a few networks of PROFILE (the active one) to reports/PROFILE.

    What is missing or unfinished is refused, and nothing copied.
    """
    from pondering.data.encoding import encodings
    from pondering.evaluate.publish import publish
    from pondering.report.pages import write_pages

    params = load_params(profile=profile)
    folder = publish(params)
    write_pages(params.root, params.profile, encodings(), params.published)
    click.echo(f"publish: {folder} has the results; `git add {folder}` and commit them")
