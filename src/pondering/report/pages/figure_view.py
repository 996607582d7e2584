"""One figure of the pages, with everything that stands beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from markupsafe import Markup

from pondering.params.replica import read_variant
from pondering.report.figures import FigureSpec, alt_text, reads_exits
from pondering.report.pages import names
from pondering.report.pages.svg import inline
from pondering.report.pages.told import Told, told
from pondering.results.results import Results


@dataclass(frozen=True)
class FigureView:
    """One figure with everything that stands beside it; `drawings` by id, two where a wide page and
    a narrow one have their own.
    """

    spec: FigureSpec
    drawings: Mapping[str, Markup]
    alternative: str
    caption: str
    ours: str
    told: tuple[Told, ...]
    stand_ins: tuple[str, ...]
    runs: tuple[str, ...]
    present: tuple[str, ...]
    commands: tuple[str, ...]
    data: tuple[str, ...]


def figure_view(spec: FigureSpec, results: Results, drawings: Mapping[str, str]) -> FigureView:
    """A figure's view; `drawings` are all of the page's."""
    present = [name for name in spec.experiment if name in results.tables]
    runs = [run for name in present for run in trainings(results, name)]
    profile, words = results.profile, spec.words(results)
    alternative = alt_text(spec, results, words)
    wide = spec.across
    ids = [spec.id, *([wide.id] if wide and wide.id in drawings else [])]
    stage = "exits" if reads_exits(spec) else "evaluate"
    commands = [f"dvc repro {stage}@{profile}-{name}" for name in present]
    return FigureView(
        spec=spec,
        drawings={name: inline(drawings[name], name, alternative) for name in ids},
        alternative=alternative,
        caption=spec.caption(results),
        ours=words,
        told=tuple(told(words)),
        stand_ins=tuple(results.stand_ins(spec.experiment)),
        runs=tuple(runs),
        present=tuple(present),
        commands=(*commands, f"dvc repro report@{profile}"),
        data=tuple(f"tables/{name}.csv" for name in present)
        + tuple(f"exits/{name}.csv" for name in present if name in results.exits)
        + tuple(
            f"frozen/{name}-readout.csv"
            for name in present
            if reads_exits(spec) and name in results.readouts
        )
        + tuple(f"curves/{run}.csv" for run in runs if _has_curves(results, run)),
    )


def trainings(results: Results, name: str) -> list[str]:
    """The trainings behind an experiment's table, as "experiment-mechanism"."""
    there = {read_variant(each)[0] for each in results.tables[name]["mechanism"].unique()}
    return [f"{name}-{mechanism}" for mechanism in names.TITLES if mechanism in there]


def _has_curves(results: Results, run: str) -> bool:
    name, mechanism = run.rsplit("-", 1)
    frame = results.curves.get(name)
    there = [] if frame is None else frame["mechanism"].unique()
    return any(read_variant(each)[0] == mechanism for each in there)
