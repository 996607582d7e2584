"""`pondering judge`: the verdicts on tables of anyone's, without a run."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.cli import options
from pondering.project.errors import UserError


@click.command("judge", short_help="Judge the claims by tables of your own.")
@click.argument("paths", nargs=-1, required=True, metavar="TABLE...",
                type=click.Path(exists=True, path_type=Path))  # fmt: skip
@click.option("--card", "cards", multiple=True,
              type=click.Path(exists=True, dir_okay=False, path_type=Path),
              help="The data card of a table, EXPERIMENT.json; may be given again.")  # fmt: skip
@options.published
def judge_command(paths: tuple[Path, ...], cards: tuple[Path, ...], profile: str) -> None:
    """Judge the papers' claims by tables of your own; docs/library.md says what is in them.

    TABLE is a CSV file with its --card, or a folder with tables/ and cards/. The runs are taken to
    be of the size of --profile.

    \b
    pondering judge mine.csv --card reports/reduced/cards/parity.json
    pondering judge reports/reduced
    """
    from pondering.claims.claims import load_register
    from pondering.claims.verdicts import judge_all
    from pondering.cli import claims_text
    from pondering.results import submission

    register = load_register(Path("claims.yaml"))  # remarks are on the published runs
    results = submission.load(paths, cards, profile)
    known = {name: None for claim in register.claims for name in claim.paper_size}
    if not known.keys() & results.tables.keys():
        name = next(iter(results.tables))
        raise UserError(
            f"{paths[0]}: no claim is about {name!r}; they are about {', '.join(known)}"
        )
    judgements = judge_all(register.claims, results)
    judged = [each for each in judgements if each.evidence.runs]
    missing = [f"{each.claim.id:4}{each.reason}" for each in judgements if not each.evidence.runs]
    summary = (
        f"{len(judged)} of {len(judgements)} claims can be judged from "
        f"{', '.join(results.tables)}, taken for runs of the size of {profile}."
    )
    parts = [options.wrapped(summary)]
    parts += [claims_text.full(each, register.changes_of(each.claim.id)) for each in judged]
    if missing:
        parts.append("\n".join(["Not judged, for what is missing:", *missing]))
    click.echo("\n\n".join(parts))
