"""`pondering claims`: the verdicts on a profile's results, in the terminal."""

from __future__ import annotations

from pathlib import Path

import click

from pondering.cli import options
from pondering.params.read import load_params
from pondering.project.errors import UserError


@click.command("claims")
@click.argument("ids", nargs=-1)
@options.published
@options.root
def claims_command(ids: tuple[str, ...], profile: str, root: Path) -> None:
    """Judge the papers' claims by the results of a profile, and answer the questions beyond them.

    IDS for all about some of them.

    \b
    pondering claims
    pondering claims G1 Q1
    """
    from pondering.claims.answers import answer, answer_all
    from pondering.claims.claims import load_register
    from pondering.claims.verdicts import judge, judge_all
    from pondering.cli import answers_text, claims_text
    from pondering.results.results import Results

    results = Results.load(root / "reports", load_params(root / "params.yaml", profile).profile)
    register = load_register(root / "claims.yaml")
    width = options.width()
    if wanted := [each.upper() for each in ids]:
        claims = {each.id: each for each in register.claims}
        questions = {each.id: each for each in register.questions}
        for name in wanted:
            if name not in claims and name not in questions:
                known = ", ".join([*claims, *questions])
                raise UserError(f"IDS: {name!r} is unknown; allowed: {known}")
        click.echo(f"Profile {profile}")
        for name in wanted:
            changes = register.changes_of(name)
            if name in claims:
                found = judge(claims[name], results)
                text = claims_text.detail(found, width, changes, register.cause(profile, name))
            else:
                figure = root / "reports" / profile / "figures" / f"question-{name}.svg"
                text = answers_text.detail(
                    answer(questions[name], results),
                    width,
                    register.cause(profile, name),
                    register.literature.get(name, ()),
                    figure if figure.is_file() else None,
                    changes,
                )
            click.echo(f"\n{text}")
    else:
        judgements = judge_all(register.claims, results)
        click.echo(claims_text.overview(judgements, profile, width))
        if register.questions:
            answers = answer_all(register.questions, results)
            click.echo(f"\n{answers_text.overview(answers, profile, width)}")
