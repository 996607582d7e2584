"""Writing the static site of a profile, and the page that leads to the profiles."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from pondering.claims.answers import Met, answer_all, answers_json
from pondering.claims.bounds import Outcome
from pondering.claims.claims import Register
from pondering.claims.record import claims_json
from pondering.claims.verdicts import MEANINGS, VERDICTS, Verdict, judge_all
from pondering.params.read import ExperimentConfig
from pondering.project.atomic import json_text, write_json, write_together
from pondering.project.errors import UserError
from pondering.report.figures import FIGURES, FigureSpec, question_figure, save
from pondering.report.figures.current import figure_key, read_seals, seal
from pondering.report.figures.style import paths_of
from pondering.report.pages import names
from pondering.report.pages.demonstration import EXPERIMENT, demonstration
from pondering.report.pages.lessons import UNDECIDED
from pondering.report.pages.markdown import code, escaped
from pondering.report.pages.playable import Playable, playable
from pondering.report.pages.provenance import origins
from pondering.report.pages.searches import searches
from pondering.report.pages.view import Page, page_of
from pondering.results.results import Results

TEMPLATES = Path(__file__).parent / "templates"

SEALS = "drawn.json"
"""Beside the figures: which of them are up to date."""

VERDICT_CLASS: dict[Verdict, str] = {
    "reproduced": "reproduced",
    "partly": "partly",
    "not reproduced": "failed",
    "not learned here": "unlearned",
    "cannot be judged at this scale": "open",
    "not run": "absent",
}
"""What the style sheet and the drawn signs call each verdict."""

MET_CLASS: dict[Met | Outcome, str] = {
    "holds": "reproduced",
    "partly": "partly",
    "undecided": "partly",
    "fails": "failed",
    "not measured": "open",
}
"""The same for a criterion of a claim, and for what would decide a question."""

VERDICT_SIGN: dict[Verdict, str] = {
    "reproduced": "✓",
    "partly": "◐",
    "not reproduced": "✗",
    "not learned here": "○",
    "cannot be judged at this scale": "?",
    "not run": "–",  # noqa: RUF001
}
"""For Markdown; the other pages draw their own signs."""


def build(
    results: Results,
    register: Register,
    folder: Path,
    settings: Mapping[str, ExperimentConfig],
) -> Page:
    """Write a profile's report: index.html, report.md, claims.json, provenance.html, figures/.

    Equal results give equal bytes in all but provenance.html.

    Args:
        results: the tables, curves, traces and cards of one profile.
        register: what claims.yaml says.
        folder: reports/<profile>; its provenance/*.json and search/*.json are read.
        settings: experiment -> parameters, for the settings in words and for what was not run.
            An experiment with results and without parameters is reported from its tables alone.

    Returns:
        What the pages show.

    Raises:
        UserError: a provenance file or the record of a search cannot be read.
    """
    judgements = judge_all(register.claims, results)
    answers = answer_all(register.questions, results)
    asked = [question_figure(each.question, each) for each in answers]
    drawings = _draw([*FIGURES, *asked], results, folder / "figures")
    searched = searches(folder / "search")
    moving = demonstration(results.traces.get(EXPERIMENT, []))
    page = page_of(results, judgements, answers, register, drawings, settings, searched)
    runs = [run for section in page.sections for run in (*section.trainings, section.name)]
    found = origins(folder / "provenance", runs, results.title)
    judged = claims_json(judgements, results) | {"missing": page.absent}
    judged["questions"] = answers_json(answers)
    notes = (folder / "NOTES.md").is_file()
    html = _environment(html=True, title_of=results.title)
    markdown = _environment(html=False, title_of=results.title)
    write_together(
        {
            folder / "index.html": html.get_template("profile.html.j2").render(
                page=page,
                register=register,
                verdicts_of=judged["claims"],
                notes=notes,
                moving=moving,
            ),
            folder / "report.md": markdown.get_template("report.md.j2").render(
                page=page, register=register, notes=notes
            ),
            folder / "claims.json": json_text(judged),
            folder / "provenance.html": html.get_template("provenance.html.j2").render(
                page=page, origins=found
            ),
        }
        | ({folder / "figures" / "demonstration.svg": moving} if moving else {})
    )
    return page


def build_index(folder: Path, encodings: Mapping[str, Mapping[str, Any]] | None = None) -> None:
    """Rewrite reports/index.html, a view over the profiles that have a report, and reports/play/.

    It opens with two published networks that think, and leads to the profile by which most claims
    are judged, of equal ones to the largest. In play/ lie the scripts that it loads when more
    networks are asked for.

    Args:
        folder: reports/, which holds PROFILE/claims.json and PROFILE/models.
        encodings: by task, what its inputs are made of; None: no network thinks.

    Raises:
        UserError: a claims.json cannot be read.
    """
    found = [
        _read_claims(folder / name / "claims.json", name)
        for name in names.PROFILES
        if (folder / name / "claims.json").is_file()
    ]
    first = max(found, key=lambda report: report["judged"], default=None)
    reports = sorted(found, key=lambda report: report is not first)
    titles: dict[str, str] = {}
    for report in reports:
        for claim in report["claims"]:
            titles.setdefault(claim["id"], claim["title"])
    play = playable(folder, encodings or {})
    page = _environment(html=True, title_of=str).get_template("index.html.j2")
    content = page.render(reports=reports, titles=titles, profiles=names.PROFILES, play=play)
    scripts = _scripts(folder / "play", play) if play else {}
    write_together({folder / "index.html": content} | scripts)
    for path in (folder / "play").glob("*.js"):
        if path not in scripts:
            path.unlink()


def _scripts(folder: Path, play: Playable) -> dict[Path, bytes | str]:
    """What the page loads when it is asked for; a game brings its task's own script along."""
    later = {name: text for name, text in play.scripts.items() if name not in play.begun}
    for name in (game["name"] for game in play.games[1:]):
        later[name] = (TEMPLATES / f"playable_{name}.js").read_text("utf-8") + later[name]
    return {folder / f"{name}.js": text for name, text in later.items()}


def _draw(figures: Sequence[FigureSpec], results: Results, folder: Path) -> dict[str, str]:
    """The figures that the results allow; what an earlier report left over goes away.

    A figure is drawn where its program or what it reads has changed, or its files have.
    """
    known, seals = read_seals(folder / SEALS), {}
    drawings = {}
    wide = (each.across for each in figures)
    for spec in (*figures, *filter(None, wide)):
        key, files = figure_key(spec, results), paths_of(folder / spec.id)
        found = key and seal(key, files)
        if not found or known.get(spec.id) != found:
            figure = spec.draw(results)
            if figure is None:
                continue
            save(figure, folder / spec.id)
            found = key and seal(key, files)
        drawings[spec.id] = files[0].read_text(encoding="utf-8")
        if found:
            seals[spec.id] = found
    if seals:
        write_json(folder / SEALS, seals)
    for kind in ("svg", "png"):
        for path in folder.glob(f"*.{kind}"):
            if path.stem not in drawings:
                path.unlink()
    return drawings


def _environment(*, html: bool, title_of: Callable[[str], str]) -> Environment:
    """Templates that escape whatever they print: for HTML, or for Markdown."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=html,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=None if html else escaped,
    )
    environment.filters["code"] = code
    environment.filters["listed"] = names.listed
    environment.filters["whole"] = _whole_numbers
    environment.filters["data_url"] = _data_url
    environment.filters["spread"] = _spread_apart
    environment.filters["title_of"] = title_of
    environment.globals |= {
        "style": _asset("style.css"),
        "script": _asset("text.js") + _asset("figures.js"),
        "play_style": _asset("playable.css"),
        "play_script": _asset("playable_think.js")
        + _asset("playable.js")
        + _asset("playable_parity.js"),
        "verdicts": VERDICTS,
        "meanings": MEANINGS,
        "undecided": UNDECIDED,
        "kinds": VERDICT_CLASS,
        "papers": names.PAPERS,
        "signs": VERDICT_SIGN,
        "met": MET_CLASS,
    }
    return environment


def _whole_numbers(text: str) -> Markup:
    """A text in which no line breaks at the hyphen of 9e-4, or within λp = 0.4."""
    number = r"[τλβρε]p? = \d+(?:\.\d+)?(?:e-\d+)?|\d[\d.]*e-\d+"
    return Markup(re.sub(number, r'<span class="whole">\g<0></span>', str(escape(text))))


def _data_url(svg: str) -> str:
    """A picture as part of the page, with its own style."""
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _spread_apart(text: str) -> Markup:
    """A mean with its error, "9.1 ± 0.2%", the error in a part that a phone leaves out."""
    return Markup(re.sub(r" ± [\d.]+", r'<span class="interval">\g<0></span>', str(escape(text))))


def _asset(name: str) -> Markup:
    """A file of our own, put into the page as it is."""
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def _read_claims(path: Path, profile: str) -> dict[str, Any]:
    try:
        report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        finished = not len(report["unfinished"]) + len(report["missing"])
        verdicts = {claim["id"]: claim["verdict"] for claim in report["claims"]}
        for claim in report["claims"]:
            _ = claim["title"], VERDICT_CLASS[claim["verdict"]]  # the page shows them
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise UserError(f"{path}: not a claims.json of this project ({problem})") from None
    return report | {
        "profile": profile,
        "notes": path.with_name("NOTES.md").is_file(),
        "finished": finished,
        "verdicts": verdicts,
        "judged": sum(each not in UNDECIDED for each in verdicts.values()),
    }
