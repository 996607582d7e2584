"""Stage `report`: figures, verdicts and the static site of a profile."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.claims import load_claims
from pondering.config import load_params
from pondering.report import build, build_index
from pondering.results import Results
from pondering.stage import stage

REPORTS, TASKS = Path("reports"), Path("data/tasks")


@click.command()
@click.option("--profile", required=True, help="quick, reduced or paper.")
def main(profile: str) -> None:
    """Write reports/PROFILE and rewrite reports/index.html, from whatever has been run."""
    with stage():
        # the settings are printed only; a changed one reaches this stage through what it changes
        params = load_params(Path("params.yaml"), profile)
        results = Results.load(REPORTS, profile, TASKS)
        page = build(results, load_claims(), REPORTS / profile, params.experiments)
        build_index(REPORTS)
        verdicts = ", ".join(f"{count} {words}" for words, *_, count in page.counts if count)
        click.echo(f"report: open reports/{profile}/index.html ({verdicts})")


if __name__ == "__main__":
    main()
