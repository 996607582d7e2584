"""`pondering provenance`: where a published figure comes from, command by command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pondering.cli import options
from pondering.params.read import Params, load_params
from pondering.project.command import completed
from pondering.project.documents import read_yaml
from pondering.project.errors import UserError, instead
from pondering.project.paths import Layout

if TYPE_CHECKING:  # drawing takes seconds to import
    from pondering.report.figures import FigureSpec


def _drawn() -> list[str]:
    """The figures of all profiles, by their files."""
    drawn = Path("reports").glob("*/figures/*.png")
    return sorted({path.stem.removesuffix("-wide") for path in drawn})


@click.command("provenance")
@click.argument("figure", required=False, default="", shell_complete=completed(_drawn))
@options.profile
def provenance_command(figure: str, profile: str | None) -> None:
    """Say where FIGURE comes from: the stages that make it, and what each of them ran on.

    \b
    pondering provenance graves-04
    pondering provenance mnist-angle --profile reduced
    """
    for line in lines(figure, load_params(profile=profile)):
        click.echo(line)


def lines(figure: str, params: Params) -> Iterator[str]:
    """The origin of a figure, to be read.

    Args:
        figure: its name, as graves-04.
        params: of the profile that is asked for.

    Raises:
        UserError: no such figure, or a record that is no JSON object.
    """
    from pondering.claims.claims import load_register
    from pondering.report.figures import FIGURES, question_figure, reads_exits
    from pondering.report.pages.provenance import NAMES, origins

    asked = load_register().questions
    known = {spec.id: spec for spec in (*FIGURES, *map(question_figure, asked))}
    if figure not in known:
        wrong = f"{figure!r} is unknown" if figure else "missing"
        raise UserError(f"FIGURE: {wrong}{instead(figure, known)}")
    spec, layout = known[figure], Layout(Path(), params.profile)
    yield from _heading(spec, layout)
    yield ""
    yield f"Its stages, in order (profile: {params.profile} in params.yaml; `dvc repro STAGE`):"
    experiments = [name for name in spec.experiment if name in params.experiments]
    stages = list(_stages(params, experiments, ruled=reads_exits(spec)))
    width = max(len(name) for name, _ in stages)
    yield from (f"  {name:{width}}  {command}" for name, command in stages)
    runs = [f"{name}-{each}" for name in experiments for each in params.experiment(name).mechanisms]
    runs += experiments  # their evaluations
    for origin in origins(layout.report / "provenance", runs, str)[: len(runs)]:
        yield ""
        yield f"{origin.stage}@{params.profile}-{origin.run}"
        facts = [(name, text) for name, text in origin.facts if name in NAMES.values()]
        yield from (f"  {name:10}  {text}" for name, text in facts)
        if not facts:
            yield "  not run yet"


def _heading(spec: FigureSpec, layout: Layout) -> Iterator[str]:
    yield f"{spec.id}: {spec.source}. {spec.title}"
    drawn = layout.report / "figures" / f"{spec.id}.svg"
    yield str(drawn) if drawn.is_file() else f"{drawn}: not drawn yet"


def _stages(params: Params, experiments: Sequence[str], ruled: bool) -> Iterator[tuple[str, str]]:
    """Name and command of each stage that makes the figure, as dvc.yaml says it.

    Args:
        ruled: whether it reads the tables of exit rules.
    """
    profile, stages = params.profile, read_yaml(Path("dvc.yaml"))["stages"]

    def stage_of(name: str, **item: str) -> tuple[str, str]:
        values = stages[name]
        command = str(values.get("do", values)["cmd"]).strip()
        for key, value in item.items():
            command = command.replace(f"${{item.{key}}}", value).replace(f"${{{key}}}", value)
        return f"{name}@{'-'.join(item.values())}", command

    if params.download.needed(profile):
        yield stage_of("download", profile=profile)
    for name in experiments:
        yield stage_of("datasets", profile=profile, experiment=name)
    for name in experiments:
        for mechanism in params.experiment(name).mechanisms:
            yield stage_of("train", profile=profile, experiment=name, mechanism=mechanism)
    for name in experiments:
        yield stage_of("evaluate", profile=profile, experiment=name)
    for name in experiments if ruled else ():
        yield stage_of("exits", profile=profile, experiment=name)
    yield stage_of("report", profile=profile)
