"""`pondering claims`: the verdicts on a profile's results, as a table in the terminal."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Sequence
from pathlib import Path

import click

from pondering.claims.claims import Question, load_register
from pondering.claims.measures.quantities import quantity_text
from pondering.claims.verdicts import VERDICTS, Judgement, Verdict, judge_all
from pondering.cli import options
from pondering.params.read import load_params
from pondering.project.command import stage
from pondering.results.results import Results

COLOURS: dict[Verdict, str] = {
    "reproduced": "green",
    "partly": "yellow",
    "not reproduced": "red",
    "not learned here": "magenta",
    "cannot be judged at this scale": "cyan",
    "not run": "white",
}
SIGNS: dict[Verdict, str] = {
    "reproduced": "+",
    "partly": "~",
    "not reproduced": "x",
    "not learned here": "o",
    "cannot be judged at this scale": "?",
    "not run": "-",
}
SHORT: dict[Verdict, str] = {"cannot be judged at this scale": "cannot be judged"}
"""Verdicts too long for their column; the last line has them in full."""


@click.command("claims")
@click.argument("profile", required=False)
@options.root
def claims_command(profile: str | None, root: Path) -> None:
    """Judge every claim of the papers by the results of PROFILE (default: the active one)."""
    with stage():
        chosen = load_params(root / "params.yaml", profile).profile
        results = Results.load(root / "reports", chosen)
        register = load_register(root / "claims.yaml")
        judgements = judge_all(register.claims, results)
        width = min(shutil.get_terminal_size((100, 24)).columns, 120)
        click.echo(terminal_table(judgements, chosen, width))
        click.echo(questions_text(register.questions, width), nl=False)
        if warning := register.warning():
            click.echo(warning, err=True)


def terminal_table(judgements: Sequence[Judgement], profile: str, width: int) -> str:
    """The verdicts, one block a claim, aligned to `width` columns."""
    first = max(len(f"{SIGNS[verdict]} {SHORT.get(verdict, verdict)}") for verdict in VERDICTS) + 2
    left = 5 + first
    lines = [f"Claims, profile {profile}", ""]
    for judgement in judgements:
        claim, verdict = judgement.claim, judgement.verdict
        source = f"{claim.paper}, {claim.figure}" if claim.figure else claim.paper
        right = [f"{claim.title} ({source})", f"paper: {claim.paper_value}"]
        right += [f"here: {text}" for text in _core(judgement)]
        seeds = f"{judgement.seeds} seeds a setting. " if judgement.seeds else ""
        right.append(f"{seeds}{judgement.reason}")
        if judgement.unfinished:
            right.append(f"judged on unfinished runs: {', '.join(judgement.unfinished)}")
        wrapped = [
            line
            for text in right
            for line in textwrap.wrap(text, max(width - left, 30), subsequent_indent="  ")
        ]
        label = click.style(
            f"{SIGNS[verdict]} {SHORT.get(verdict, verdict)}".ljust(first), fg=COLOURS[verdict]
        )
        lines.append(f"{claim.id:<5}{label}{wrapped[0]}")
        lines += [" " * left + line for line in wrapped[1:]]
        lines.append("")
    counts = [(v, sum(j.verdict == v for j in judgements)) for v in VERDICTS]
    lines.append(", ".join(f"{count} {verdict}" for verdict, count in counts if count))
    return "\n".join(lines)


def questions_text(questions: Sequence[Question], width: int) -> str:
    """The registered questions, which nothing answers yet; empty where there are none."""
    if not questions:
        return ""
    lines = ["", "Registered questions, not answered yet", ""]
    for question in questions:
        lines += textwrap.wrap(
            f"{question.id:<5}{question.question}", width, subsequent_indent=" " * 5
        )
    return "\n".join(lines) + "\n"


def _core(judgement: Judgement) -> list[str]:
    """The quantities that the core criteria are about."""
    names = [criterion.quantity for criterion in judgement.claim.criteria if criterion.core]
    return [
        f"{quantity.label} {quantity_text(quantity)}"
        for quantity in judgement.quantities
        if quantity.name in names
    ]
