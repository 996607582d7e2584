"""`pondering claims`: the verdicts on a profile's results, in the terminal."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar

import click

from pondering.cli import options
from pondering.params.read import load_params
from pondering.project.command import stage
from pondering.project.errors import UserError, instead

PUBLISHED = "reduced"
Entry = TypeVar("Entry")


@click.command("claims")
@click.argument("ids", nargs=-1)
@click.option(
    "--profile",
    default=PUBLISHED,
    show_default=True,
    help="quick, reduced or paper.",
)
@options.root
def claims_command(ids: tuple[str, ...], profile: str, root: Path) -> None:
    """Judge the papers' claims by the results of a profile; IDS for all about some of them.

    \b
    pondering claims
    pondering claims G1 B2
    """
    with stage():
        from pondering.claims.claims import load_register
        from pondering.claims.verdicts import judge, judge_all
        from pondering.cli import claims_text
        from pondering.results.results import Results

        results = Results.load(root / "reports", load_params(root / "params.yaml", profile).profile)
        register = load_register(root / "claims.yaml")
        width = min(shutil.get_terminal_size((100, 24)).columns, 120)
        if ids:
            known = {each.id: each for each in (*register.claims, *register.questions)}
            chosen = _named(known, ids)
            claims = [each for each in chosen if each in register.claims]
            judged = {claim.id: judge(claim, results) for claim in claims}
            entries = [judged.get(each.id, each) for each in chosen]
            click.echo(f"Profile {profile}")
            for each in entries:
                click.echo(f"\n{claims_text.detail(each, width)}")
        else:
            judgements = judge_all(register.claims, results)
            click.echo(claims_text.overview(judgements, register.questions, profile, width))
        if warning := register.warning():
            click.echo(warning, err=True)


def _named(known: Mapping[str, Entry], ids: Iterable[str]) -> list[Entry]:
    """The claims and questions that are asked for."""
    for name in ids:
        if name.upper() not in known:
            raise UserError(f"IDS: {name!r} is unknown{instead(name.upper(), known)}")
    return [known[name.upper()] for name in ids]
