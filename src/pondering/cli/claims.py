"""`pondering claims`: the verdicts on a profile's results, in the terminal."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.cli import options
from pondering.project.errors import UserError
from pondering.project.paths import current


@click.command("claims", short_help="Judge every claim of the papers.")
@click.argument("ids", nargs=-1)
@click.option("--full", is_flag=True, help="With every criterion, interval, cause and change.")
@options.published
def claims_command(ids: tuple[str, ...], full: bool, profile: str) -> None:
    """Judge the papers' claims, and our own (Q), by the results of a profile.

    IDS name those to explain.

    \b
    pondering claims
    pondering claims G1 Q1
    pondering claims G1 --full
    """
    from pondering.claims.claims import load_register
    from pondering.claims.verdicts import judge, judge_all
    from pondering.cli import claims_text
    from pondering.results.results import Results

    layout = current(Path(), profile)
    results = Results.of(layout)
    register = load_register(Path("claims.yaml"), layout.remarks)
    claims = {each.id: each for each in register.claims}
    wanted = [each.upper() for each in ids]
    if unknown := [name for name in wanted if name not in claims]:
        raise UserError(f"IDS: {unknown[0]!r} is unknown; allowed: {', '.join(claims)}")
    if not wanted:
        click.echo(claims_text.overview(judge_all(register.claims, results), profile))
        return
    found = [judge(claims[name], results) for name in wanted]
    if full:
        texts = [claims_text.full(each, register.changes_of(each.claim.id)) for each in found]
    else:
        texts = [claims_text.detail(each) for each in found]
        more = f"pondering claims {' '.join(wanted)} --full --profile {profile}"
        texts[-1] += f"\nCriteria, intervals and causes: {more}"
    click.echo("\n\n".join(texts))
