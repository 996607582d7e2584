"""`pondering exits`: what each exit rule makes of trained networks, in the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pondering.cli import options
from pondering.params.mechanisms import MECHANISMS
from pondering.params.read import load_params
from pondering.params.replica import setting_text
from pondering.project.errors import UserError
from pondering.project.paths import current
from pondering.results.units import number_text

if TYPE_CHECKING:  # loaded where the command runs: help comes at once
    import pandas as pd

STEPS = (2, 3, 4)
NOTHING = "decides nothing"
LEGEND = (
    "Errors are means over seeds. Thresholds were chosen on a validation set, with straight lines "
    "between them. Best fixed n: the n with the lowest error here among those that take no more "
    f"steps. A rule that is above it at all of these steps {NOTHING}. The oracle sees the targets: "
    "it stops at the first step from which the answer stays right. A rule beats it where right "
    "answers are lost again. Expected and argmax look at every step and save no computation."
)


@click.command("exits", short_help="Compare exit rules at equal mean steps.")
@click.argument("experiment")
@options.profile
def exits_command(experiment: str, profile: str | None) -> None:
    """Compare exit rules on the networks of EXPERIMENT at equal mean steps.

    \b
    pondering exits comparison --profile reduced
    """
    from pondering.results.results import Results

    params = load_params(profile=profile)
    params.experiment(experiment)
    layout = current(Path(), params.profile)
    results = Results.of(layout)
    rows, table = results.exits.get(experiment), results.tables.get(experiment)
    if rows is None or table is None:
        raise UserError(
            f"{layout.exits(experiment)}: no rows; with `profile: {params.profile}` run "
            f"`dvc repro exits@{params.profile}`, if `exits` in dvc.yaml lists {experiment}"
        )
    click.echo(f"Profile {params.profile}, {experiment}: error by exit rule at equal mean steps")
    for line in lines(rows, table):
        click.echo(line)
    click.echo("")
    click.echo(options.wrapped(LEGEND))


def lines(rows: pd.DataFrame, table: pd.DataFrame) -> Iterator[str]:
    """A block for each mechanism at its best setting, in lines of at most 80 characters.

    Args:
        rows: the table of exit rules of one experiment.
        table: its evaluation.
    """
    from pondering.results.exits import at_best_settings

    for mechanism, chosen in at_best_settings(rows, table).items():
        entry, seeds = MECHANISMS[mechanism], chosen["seed"].nunique()
        setting = f"{entry.setting} {setting_text(float(chosen['setting'].iloc[0]))}"
        inputs = f"{chosen['examples'].min():,.0f} inputs each"
        yield ""
        yield f"{entry.title}, {setting}, {seeds} seed{'s' if seeds > 1 else ''}, {inputs}"
        yield from _block(chosen)


def _block(rows: pd.DataFrame) -> Iterator[str]:
    """The rules of one mechanism, the two references first."""
    from pondering.results import exits

    known = [exits.best_fixed(rows, steps)[1] for steps in STEPS]
    n, error = exits.best_fixed(rows, float("inf"))
    yield _line("", [f"{steps} steps" for steps in STEPS], "")
    yield _line("best fixed n", map(_percent, known), f"{_percent(error)} at n = {n:g}")
    for rule in exits.with_point(rows):
        steps, error = exits.point(rows, rule)
        worse = rule != exits.ORACLE and error > exits.best_fixed(rows, steps)[1]
        note = f"{_percent(error)} at {steps:.1f} steps" + (f", {NOTHING}" if worse else "")
        yield _line(rule, [""] * len(STEPS), note)
    for rule in exits.with_curve(rows):
        errors = exits.error_at(rows, rule, STEPS)
        reached = [each for each in zip(STEPS, errors, known, strict=True) if each[1] == each[1]]
        loses = [str(steps) for steps, error, best in reached if error > best]
        note = f"loses at {', '.join(loses)}" if loses else ""
        every = loses and len(loses) == len(reached)
        yield _line(rule, map(_percent, errors), NOTHING if every else note)


def _line(name: str, cells: Iterable[str], note: str) -> str:
    return f"  {name:<14}{''.join(f'{each:>9}' for each in cells)}   {note}".rstrip()


def _percent(error: float) -> str:
    """Nothing where there is none."""
    return "-" if math.isnan(error) else number_text(error, "share")
