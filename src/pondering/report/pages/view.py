"""What the pages show, gathered from results and verdicts before any template is filled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from pondering.claims.measures.quantities import quantity_text
from pondering.claims.verdicts import VERDICTS, Judgement, Verdict
from pondering.params.mechanisms import MECHANISMS
from pondering.params.read import ExperimentConfig
from pondering.report.figures import FIGURES, FigureSpec, alt_text
from pondering.report.pages import names
from pondering.report.pages.searches import SearchLink
from pondering.report.pages.summary import (
    SummaryRow,
    seeds_in_words,
    settings_in_words,
    summary_rows,
)
from pondering.report.pages.tint import TintedText, tinted_texts
from pondering.results.results import Results

VERDICT_CLASS: dict[Verdict, str] = {
    "reproduced": "reproduced",
    "partly": "partly",
    "not reproduced": "failed",
    "cannot be judged at this scale": "open",
    "not run": "absent",
}
VERDICT_SIGN: dict[Verdict, str] = {
    "reproduced": "✓",
    "partly": "◐",
    "not reproduced": "✗",
    "cannot be judged at this scale": "?",
    "not run": "–",  # noqa: RUF001
}
"""For Markdown; the pages draw their own signs."""


@dataclass(frozen=True)
class FigureView:
    """One figure with everything that stands beside it."""

    spec: FigureSpec
    source: str
    svg: Markup | None
    alternative: str
    caption: str
    ours: str
    stand_ins: tuple[str, ...]
    runs: tuple[str, ...]
    present: tuple[str, ...]
    commands: tuple[str, ...]
    data: tuple[str, ...]


@dataclass(frozen=True)
class Section:
    """One experiment."""

    name: str
    title: str
    question: str
    what: str
    stand_in: bool
    measure: str
    is_share: bool
    settings: tuple[tuple[str, str], ...]
    rows: tuple[SummaryRow, ...]
    mechanisms_missing: tuple[str, ...]
    unfinished: bool
    figures: tuple[FigureView, ...]
    texts: tuple[TintedText, ...]
    splits: bool
    seeds: str
    searches: tuple[SearchLink, ...]


@dataclass(frozen=True)
class ClaimView:
    """One line of the claims table."""

    judgement: Judgement
    kind: str
    sign: str
    shown: tuple[tuple[str, str], ...]
    size: str
    figures: tuple[str, ...]
    figure_names: Mapping[str, str]


@dataclass(frozen=True)
class Page:
    """A whole report."""

    profile: str
    about: str
    claims: tuple[ClaimView, ...]
    counts: tuple[tuple[str, str, str, int], ...]
    sections: tuple[Section, ...]
    across: tuple[FigureView, ...]
    absent: tuple[tuple[str, str], ...]
    undrawn: tuple[str, ...]
    unfinished: tuple[str, ...]
    stand_ins: tuple[str, ...]


def page_of(
    results: Results,
    judgements: Sequence[Judgement],
    drawings: Mapping[str, str],
    settings: Mapping[str, ExperimentConfig],
    inlined: Callable[..., Markup | None],
    searched: Mapping[str, tuple[SearchLink, ...]],
) -> Page:
    """Gather a report.

    Args:
        results: the results of one profile.
        judgements: the verdicts on them.
        drawings: figure id -> SVG document, of the figures that could be drawn.
        settings: experiment -> parameters; those missing fall back on the tables.
        inlined: (svg document, id, alternative) -> Markup, or None to refer to the file.
        searched: experiment -> what was searched beside it.

    Returns:
        All a template needs.
    """
    views = [
        _figure(spec, results, drawings[spec.id], inlined)
        for spec in FIGURES
        if spec.id in drawings
    ]
    present = in_order(results, settings)
    missing = [name for name in settings if name not in results.tables]
    return Page(
        profile=results.profile,
        about=names.PROFILES.get(results.profile, ""),
        claims=tuple(_claim(judgement, results, drawings) for judgement in judgements),
        counts=tuple(
            (v, VERDICT_CLASS[v], VERDICT_SIGN[v], sum(j.verdict == v for j in judgements))
            for v in VERDICTS
        ),
        sections=tuple(
            _section(name, results, settings.get(name), views, searched.get(name, ()))
            for name in present
        ),
        across=tuple(view for view in views if len(view.spec.experiment) > 1),
        absent=tuple((name, results.title(name)) for name in missing),
        undrawn=tuple(
            f"{_source(spec)}. {spec.title}" for spec in FIGURES if spec.id not in drawings
        ),
        unfinished=tuple(name for name in present if _running(results, name)),
        stand_ins=tuple(results.stand_ins(present)),
    )


def in_order(results: Results, settings: Mapping[str, Any]) -> list[str]:
    """The experiments that have a table, in the order of the parameters; others last, by name."""
    known = [name for name in settings if name in results.tables]
    return known + sorted(set(results.tables) - set(known))


def _section(
    name: str,
    results: Results,
    config: ExperimentConfig | None,
    views: Sequence[FigureView],
    searches: tuple[SearchLink, ...],
) -> Section:
    table, card = results.tables[name], results.cards[name]
    named = config.mechanisms if config else names.TITLES
    missing = [m for m in named if not (table["mechanism"] == m).any()]
    rows = tuple(summary_rows(table, name, card))
    texts = tinted_texts(
        results.traces.get(name, []), names.setting_sign, names.TITLES, _caps(config)
    )
    return Section(
        name=name,
        title=card.title,
        question=card.question,
        what=card.what,
        stand_in=card.stand_in,
        measure=card.measure,
        is_share=card.is_share,
        settings=tuple(settings_in_words(table, card, config)),
        rows=rows,
        mechanisms_missing=tuple(names.TITLES[m] for m in missing),
        unfinished=_running(results, name),
        figures=tuple(view for view in views if view.spec.experiment == (name,)),
        texts=tuple(texts),
        splits=len({row.split for row in rows}) > 1,
        seeds=seeds_in_words(rows),
        searches=searches,
    )


def _figure(
    spec: FigureSpec, results: Results, drawing: str, inlined: Callable[..., Markup | None]
) -> FigureView:
    present = [name for name in spec.experiment if name in results.tables]
    runs = []
    for name in present:
        mechanisms = set(results.tables[name]["mechanism"])
        runs += [f"{name}-{m}" for m in names.TITLES if m in mechanisms]
    profile, alternative = results.profile, alt_text(spec, results)
    commands = [f"dvc repro evaluate@{profile}-{name}" for name in present]
    return FigureView(
        spec=spec,
        source=_source(spec),
        svg=inlined(drawing, spec.id, alternative),
        alternative=alternative,
        caption=spec.caption(results),
        ours=spec.words(results),
        stand_ins=tuple(results.stand_ins(spec.experiment)),
        runs=tuple(runs),
        present=tuple(present),
        commands=(*commands, f"dvc repro report@{profile}"),
        data=tuple(f"tables/{name}.csv" for name in present)
        + tuple(f"curves/{run}.csv" for run in runs if _has_curves(results, run)),
    )


def _claim(judgement: Judgement, results: Results, drawings: Mapping[str, str]) -> ClaimView:
    claim = judgement.claim
    by_name = {quantity.name: quantity for quantity in judgement.quantities}
    core = [c.quantity for c in claim.criteria if c.core and c.quantity in by_name]
    sizes = [
        f"{results.title(name)} {low:g} to {high:g}" if low != high else results.title(name)
        for name, (low, high) in judgement.sizes.items()
    ]
    known = {spec.id: spec.number or spec.title for spec in FIGURES}
    return ClaimView(
        judgement,
        VERDICT_CLASS[judgement.verdict],
        VERDICT_SIGN[judgement.verdict],
        tuple((by_name[name].label, quantity_text(by_name[name])) for name in core),
        "; ".join(sizes),
        tuple(name for name in claim.figures if name in drawings),
        known,
    )


def _source(spec: FigureSpec) -> str:
    return f"{spec.paper}, {spec.number}" if spec.number else spec.paper


def _caps(config: ExperimentConfig | None) -> dict[str, int]:
    """Mechanism -> the most steps it may take."""
    if config is None:
        return {}
    capped = [name for name in config.mechanisms if "max_steps" in MECHANISMS[name].shares]
    own = {name: config.mechanism(name).own.get("max_steps") for name in capped}
    return {name: cap or config.halting.max_steps for name, cap in own.items()}


def _running(results: Results, name: str) -> bool:
    return bool((results.tables[name]["status"] == "running").any())


def _has_curves(results: Results, run: str) -> bool:
    name, mechanism = run.rsplit("-", 1)
    frame = results.curves.get(name)
    return frame is not None and bool((frame["mechanism"] == mechanism).any())
