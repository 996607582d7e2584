"""Stage `report`: figures, verdicts and the static site of a profile."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.project.command import stage


@click.command()
@click.option("--profile", required=True, help="quick, reduced or paper.")
def main(profile: str) -> None:
    """Write the page and rewrite reports/index.html, from whatever has been run."""
    with stage():  # imports take seconds; stage() handles Ctrl-C during them
        from pondering.data.encoding import encodings
        from pondering.report.pages import write_pages
        from pondering.track.writer import load_if_open

        verdicts = write_pages(Path(), profile, encodings())
        load_if_open(profile)
        click.echo(f"report: open data/results/{profile}/index.html ({verdicts})")


if __name__ == "__main__":
    main()
