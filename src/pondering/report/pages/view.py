"""What the pages show, gathered from results and verdicts before any template is filled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pondering.claims.answers import Answer
from pondering.claims.claims import Literature, PaperSize, Register
from pondering.claims.measures.quantities import quantity_text
from pondering.claims.questions import experiments_of as asked_of
from pondering.claims.verdicts import VERDICTS, Judgement, Verdict
from pondering.params.mechanisms import MECHANISMS
from pondering.params.read import ExperimentConfig
from pondering.params.replica import read_variant
from pondering.report.figures import FIGURES, question_figure
from pondering.report.pages import names
from pondering.report.pages.beyond import Beyond, beyond_of
from pondering.report.pages.figure_view import FigureView, figure_view, trainings
from pondering.report.pages.lessons import (
    Lesson,
    experiments_of,
    lessons,
    solved_errors,
    solved_in_words,
)
from pondering.report.pages.searches import SearchLink
from pondering.report.pages.seen import SeenInputs, seen_inputs
from pondering.report.pages.summary import (
    SummaryRow,
    crossing_in_words,
    published_in_words,
    seeds_in_words,
    settings_in_words,
    summary_rows,
)
from pondering.report.pages.tint import TintedText, tinted_texts
from pondering.results.results import Card, Results
from pondering.results.statistics import SOLVED_ERROR
from pondering.results.tables import best_setting, headline, per_seed

ALL_WAYS = "beyond-exits"
"""The figure of every mechanism and rule."""


@dataclass(frozen=True)
class Section:
    """One experiment."""

    name: str
    card: Card
    settings: tuple[tuple[str, str], ...]
    rows: tuple[SummaryRow, ...]
    trainings: tuple[str, ...]
    mechanisms_missing: tuple[str, ...]
    unfinished: bool
    figures: tuple[FigureView, ...]
    texts: tuple[TintedText, ...]
    several_splits: bool
    expectation: bool
    seeds: str
    seen: SeenInputs
    searches: tuple[SearchLink, ...]
    published: tuple[tuple[str, str], ...]
    crossing: str
    solved_error: float
    lessons: tuple[Lesson, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True)
class ClaimView:
    """One line of the claims table; `figures` are (id, name on the page)."""

    judgement: Judgement
    cause: str
    shown: tuple[tuple[str, str], ...]
    size: str
    figures: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class QuestionView:
    """A question with its answer; `figures` are (id, name on the page), the first its own."""

    answer: Answer
    cause: str
    literature: tuple[Literature, ...]
    figures: tuple[tuple[str, str], ...]
    drawn: bool


@dataclass(frozen=True)
class Page:
    """A whole report; `absent` and `unfinished` are names of experiments."""

    profile: str
    about: str
    claims: tuple[ClaimView, ...]
    counts: Mapping[Verdict, int]
    sections: tuple[Section, ...]
    across: tuple[FigureView, ...]
    beyond: Beyond
    all_ways: FigureView | None
    questions: tuple[QuestionView, ...]
    question_figures: tuple[FigureView, ...]
    across_lessons: tuple[Lesson, ...]
    absent: tuple[str, ...]
    undrawn: tuple[str, ...]
    unfinished: tuple[str, ...]
    stand_ins: tuple[str, ...]
    terms: Mapping[str, str]


def page_of(
    results: Results,
    judgements: Sequence[Judgement],
    answers: Sequence[Answer],
    register: Register,
    drawings: Mapping[str, str],
    settings: Mapping[str, ExperimentConfig],
    searched: Mapping[str, tuple[SearchLink, ...]],
) -> Page:
    """Gather a report.

    Args:
        results: the results of one profile.
        judgements: the verdicts on them.
        answers: to the questions beyond the papers.
        register: what is said of the questions beside their answers.
        drawings: figure id -> SVG document, of the figures that could be drawn.
        settings: experiment -> parameters; those missing fall back on the tables.
        searched: experiment -> what was searched beside it.

    Returns:
        All a template needs.
    """
    views = [figure_view(spec, results, drawings) for spec in FIGURES if spec.id in drawings]
    asked = [question_figure(each.question, each) for each in answers]
    present = _in_order(results, settings)
    answered = [each.question.id for each in answers if each.evidence]
    inside = [view for view in views if view.spec.id != ALL_WAYS]
    solved = solved_errors([judgement.claim for judgement in judgements])
    return Page(
        profile=results.profile,
        about=names.PROFILES.get(results.profile, ""),
        claims=tuple(_claim(judgement, register, results, drawings) for judgement in judgements),
        counts={verdict: sum(j.verdict == verdict for j in judgements) for verdict in VERDICTS},
        sections=tuple(
            _section(
                name,
                results,
                settings.get(name),
                inside,
                searched.get(name, ()),
                [each for each in judgements if name in experiments_of(each.claim)],
                [each for each in answered if name in asked_of(each)],
                solved.get(name, SOLVED_ERROR),
            )
            for name in present
        ),
        across=tuple(view for view in inside if len(view.spec.experiment) > 1),
        across_lessons=lessons(
            [each for each in judgements if len(experiments_of(each.claim) & {*present}) > 1]
        ),
        beyond=beyond_of(results, present, answers, settings),
        all_ways=next((view for view in views if view.spec.id == ALL_WAYS), None),
        questions=tuple(_question(each, register, results.profile, drawings) for each in answers),
        question_figures=tuple(
            figure_view(spec, results, drawings) for spec in asked if spec.id in drawings
        ),
        absent=tuple(name for name in settings if name not in results.tables),
        undrawn=tuple(
            f"{spec.source}. {spec.title}" for spec in FIGURES if spec.id not in drawings
        ),
        unfinished=tuple(name for name in present if _running(results, name)),
        stand_ins=tuple(
            dict.fromkeys(each.partition("; ")[0] for each in results.stand_ins(present))
        ),
        terms=names.TERMS | {"Solved": solved_in_words(solved, results.title)},
    )


def _question(
    answer: Answer, register: Register, profile: str, drawings: Mapping[str, str]
) -> QuestionView:
    """A question with its own figure, where that is drawn, and those that ask the same."""
    own = question_figure(answer.question, answer)
    same = [each for each in FIGURES if each.values.get("question") == answer.question.id]
    named = [(own.id, "What decides it, drawn"), *((each.id, each.title) for each in same)]
    figures = tuple(each for each in named if each[0] in drawings)
    name = answer.question.id
    cause = register.cause(profile, name) if answer.state == "answered" else ""
    others = register.literature.get(name, ())
    return QuestionView(answer, cause, others, figures, own.id in drawings)


def _in_order(results: Results, settings: Mapping[str, Any]) -> list[str]:
    """The experiments that have a table, in the order of the parameters; others last, by name."""
    known = [name for name in settings if name in results.tables]
    return known + sorted(set(results.tables) - set(known))


def _section(
    name: str,
    results: Results,
    config: ExperimentConfig | None,
    views: Sequence[FigureView],
    searches: tuple[SearchLink, ...],
    judgements: Sequence[Judgement],
    questions: Sequence[str],
    solved_error: float,
) -> Section:
    table, card = results.tables[name], results.cards[name]
    named = config.mechanisms if config else names.TITLES
    there = {read_variant(each)[0] for each in table["mechanism"].unique()}
    missing = [each for each in named if each not in there]
    rows = tuple(summary_rows(table, card, solved_error))
    means = per_seed(headline(table))
    best = {each: best_setting(means, each) for each in named if each not in missing}
    return Section(
        name=name,
        card=card,
        settings=tuple(settings_in_words(table, card, config)),
        rows=rows,
        trainings=tuple(trainings(results, name)),
        mechanisms_missing=tuple(names.TITLES[m] for m in missing),
        unfinished=_running(results, name),
        figures=tuple(view for view in views if view.spec.experiment == (name,)),
        texts=tuple(tinted_texts(results.traces.get(name, []), _caps(config))),
        several_splits=len({row.split for row in rows}) > 1,
        expectation=bool((table["prediction"] == "expected").any()),
        seeds=seeds_in_words(rows),
        seen=seen_inputs(table, card, {each: at for each, at in best.items() if at is not None}),
        searches=searches,
        published=tuple(
            published_in_words(results.published.get(name, {}), table, card, solved_error)
        ),
        crossing=crossing_in_words(table, results.traces.get(name, []), config),
        solved_error=solved_error,
        lessons=lessons(judgements),
        questions=tuple(questions),
    )


def _claim(
    judgement: Judgement, register: Register, results: Results, drawings: Mapping[str, str]
) -> ClaimView:
    claim = judgement.claim
    by_name = {quantity.name: quantity for quantity in judgement.quantities}
    core = [c.quantity for c in claim.criteria if c.core and c.quantity in by_name]
    sizes = [
        results.title(name) + _size(low, high, results.cards[name], claim.paper_size.get(name))
        for name, (low, high) in judgement.sizes.items()
    ]
    known = {spec.id: spec.number or spec.title for spec in FIGURES}
    return ClaimView(
        judgement,
        register.cause(results.profile, claim.id),
        tuple((by_name[name].label, quantity_text(by_name[name])) for name in core),
        "; ".join(sizes),
        tuple((name, known[name]) for name in claim.figures if name in drawings),
    )


def _size(low: float, high: float, card: Card, paper: PaperSize | None) -> str:
    """The difficulties that were tested, and how far the paper goes where that is farther."""
    if low == high:
        return ""
    hardest = (paper.difficulty if paper else None) or high
    beside = f"; the paper to {hardest:g}" if hardest > high else ""
    counted = " or ".join(dict.fromkeys(card.difficulty.values()))
    return f" ({counted}: {low:g} to {high:g}{beside})"


def _caps(config: ExperimentConfig | None) -> dict[str, int]:
    """Mechanism -> the most steps it may take."""
    if config is None:
        return {}
    capped = [name for name in config.mechanisms if "max_steps" in MECHANISMS[name].shares]
    own = {name: config.mechanism(name).own.get("max_steps") for name in capped}
    return {name: cap or config.halting.max_steps for name, cap in own.items()}


def _running(results: Results, name: str) -> bool:
    return bool((results.tables[name]["status"] == "running").any())
