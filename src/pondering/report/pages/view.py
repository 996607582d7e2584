"""What the pages show, gathered from results and verdicts before a template is filled."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pondering.claims.claims import Claim
from pondering.claims.verdicts import Judgement
from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import read_variant, title_of
from pondering.params.schema import ExperimentConfig
from pondering.project.paths import Layout
from pondering.project.progress import duration
from pondering.report.figures import FIGURES, FigureSpec, claim_figure, paper
from pondering.report.pages import names
from pondering.report.pages.summary import (
    SummaryRow,
    summary_rows,
    trained_in_words,
    unequal_training,
)
from pondering.results.results import Card, Results
from pondering.results.statistics import SOLVED_ERROR
from pondering.results.units import number_text

MOST_FIGURES = 4
"""Figures of a section that are not folded away."""


@dataclass(frozen=True)
class FigureView:
    """One figure: its width and height in points, and `claims`, the ids it bears on."""

    spec: FigureSpec
    size: tuple[int, int]
    caption: str
    claims: tuple[str, ...] = ()


@dataclass(frozen=True)
class ClaimView:
    """A claim with its verdict.

    `ours` are (value, label), `section` the experiment under which it stands, `figure` the drawing
    of our claims.
    """

    judgement: Judgement
    ours: tuple[tuple[str, str], ...]
    section: str | None
    figure: FigureView | None


@dataclass(frozen=True)
class Section:
    """One experiment.

    `elsewhere` are claims of other sections that use its networks too, `files` are (name, path from
    the page).
    """

    name: str
    card: Card
    trained: str
    rows: tuple[SummaryRow, ...]
    several_splits: bool
    solved_error: float
    unequal: str
    paper_size: str
    missing: tuple[str, ...]
    figures: tuple[FigureView, ...]
    claims: tuple[ClaimView, ...]
    elsewhere: tuple[Claim, ...]
    origins: Mapping[str, str]
    files: tuple[tuple[str, str], ...]

    @property
    def unfinished(self) -> bool:
        """Whether some of its trainings have not reached the end of their plan."""
        return any("unfinished" in row.note for row in self.rows)


@dataclass(frozen=True)
class Page:
    """A whole report: `story` are sentences, `absent` names of experiments without results."""

    profile: str
    about: str
    story: tuple[str, ...]
    claims: tuple[ClaimView, ...]
    sections: tuple[Section, ...]
    absent: tuple[str, ...]
    stand_ins: tuple[str, ...]


def page_of(
    results: Results,
    judgements: Sequence[Judgement],
    story: Sequence[str],
    sizes: Mapping[str, tuple[int, int]],
    settings: Mapping[str, ExperimentConfig],
    layout: Layout,
) -> Page:
    """Gather a report; experiments come as claims name them, then as the parameters do.

    Args:
        results: the results of one profile.
        judgements: the verdicts on them.
        story: what holds, in sentences.
        sizes: figure id -> width and height in points, of the figures that could be drawn.
        settings: experiment -> parameters.
        layout: where the page will lie, and what it links.
    """
    claims = tuple(_claim(each, results, sizes) for each in judgements)
    named = [view.section for view in claims if view.section]
    known = dict.fromkeys([*named, *settings, *sorted(results.tables)])
    present = [name for name in known if name in results.tables]
    solved = solved_errors([each.claim for each in judgements])
    return Page(
        profile=results.profile,
        about=names.PROFILES[results.profile],
        story=tuple(story),
        claims=claims,
        sections=tuple(
            _section(
                name,
                results,
                settings.get(name),
                _figures(
                    [each for each in FIGURES if _place(each, results) == name], sizes, claims
                ),
                claims,
                solved.get(name, SOLVED_ERROR),
                layout,
            )
            for name in present
        ),
        absent=tuple(name for name in settings if name not in results.tables),
        stand_ins=tuple(results.stand_ins(present)),
    )


def _figures(
    specs: Sequence[FigureSpec],
    sizes: Mapping[str, tuple[int, int]],
    claims: Sequence[ClaimView] = (),
) -> tuple[FigureView, ...]:
    """The figures of a section that could be drawn; a caption stands once."""
    placed = [view.judgement.claim for view in claims if view.section]
    views, explained = [], dict[str, str]()
    for spec in (each for each in specs if each.id in sizes):
        named = tuple(claim.id for claim in placed if spec.id in claim.figures)
        first = explained.setdefault(spec.caption, spec.name)
        caption = spec.caption if first == spec.name else f"Drawn as the figure {first}."
        views.append(FigureView(spec, sizes[spec.id], caption, named))
    return tuple(views)


def _place(of: FigureSpec | Claim, results: Results) -> str | None:
    """The experiment in whose section a figure or a claim stands: its first that has results."""
    return next((each for each in of.experiments if each in results.tables), None)


def _claim(
    judgement: Judgement, results: Results, sizes: Mapping[str, tuple[int, int]]
) -> ClaimView:
    claim = judgement.claim
    core = [
        (number_text(each.value, each.unit), ": ".join(filter(None, (each.part, each.label))))
        for name in claim.core
        for each in judgement.quantities
        if each.name == name
    ]
    failed = {x.label for x in judgement.findings if x.outcome == "fails" and not x.apart}
    core.sort(key=lambda value: value[1] not in failed)  # two are shown: what failed first
    drawn = claim_figure(judgement) if claim.ours else None
    return ClaimView(
        judgement,
        tuple(core[:2]),
        _place(claim, results),
        next(iter(_figures([drawn], sizes)), None) if drawn else None,
    )


def _section(
    name: str,
    results: Results,
    config: ExperimentConfig | None,
    figures: tuple[FigureView, ...],
    claims: tuple[ClaimView, ...],
    solved_error: float,
    layout: Layout,
) -> Section:
    table, card = results.tables[name], results.cards[name]
    there = {read_variant(each)[0] for each in table["mechanism"].unique()}
    named = config.mechanisms if config else ()
    rows = tuple(summary_rows(table, card, solved_error))
    trained = [each for each in MECHANISMS if each in there]
    screens = sorted(layout.screens.glob(f"{name}-*.png"))
    files = [
        ("table", layout.table(name)),
        ("settings", layout.provenance(name)),
        ("networks", layout.networks(name)),
        *((f"curves of {title_of(each)}", layout.curves(name, each)) for each in trained),
        *((f"screen {path.stem}", path) for path in screens),
    ]
    return Section(
        name=name,
        card=card,
        trained=trained_in_words(config) if config else "",
        rows=rows,
        several_splits=len({row.split for row in rows}) > 1,
        solved_error=solved_error,
        unequal=unequal_training(results.curves_of(name), trained),
        paper_size=paper.SIZES.get(name, ""),
        missing=tuple(title_of(each) for each in named if each not in there),
        figures=figures,
        claims=tuple(each for each in claims if each.section == name),
        elsewhere=tuple(
            each.judgement.claim
            for each in claims
            if each.section != name and name in each.judgement.claim.experiments
        ),
        origins=origins(layout, name, trained),
        files=tuple(
            (what, os.path.relpath(path, layout.report)) for what, path in files if path.exists()
        ),
    )


def solved_errors(claims: Sequence[Claim]) -> dict[str, float]:
    """Experiment -> the error below which a network has solved it, where a claim says so."""
    named = (claim.arguments for claim in claims if "solved_below" in claim.arguments)
    return {str(each["experiment"]): float(str(each["solved_below"])) for each in named}


def origins(layout: Layout, experiment: str, mechanisms: Sequence[str]) -> dict[str, str]:
    """Commit, command, device and time of the trainings and of the evaluation.

    Args:
        layout: where the records lie.
        experiment: whose runs.
        mechanisms: those that were trained.

    Returns:
        A mechanism, or "evaluation" -> a line, for the runs that left a record.
    """
    files = {each: layout.provenance(experiment, each) for each in mechanisms}
    files["evaluation"] = layout.provenance(experiment)
    return {run: _line(path) for run, path in files.items() if path.is_file()}


def _line(path: Path) -> str:
    record = json.loads(path.read_text(encoding="utf-8"))
    commit, _, changed = record["commit"].partition("+")
    run = f"commit {commit[:10]}{' with changes' if changed else ''}, {record['command']}"
    return f"{run}, {record['device']}, {duration(record['wall_seconds'])}"
