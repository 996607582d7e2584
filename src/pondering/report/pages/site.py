"""Writing the static site of a profile, and the page that leads to the profiles."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from pondering.claims.claims import Claim
from pondering.claims.verdicts import VERDICTS, claims_json, judge_all
from pondering.params.read import ExperimentConfig
from pondering.project.atomic import atomic_write, json_text, write_together
from pondering.project.errors import UserError
from pondering.report.figures import FIGURES, save
from pondering.report.pages import names
from pondering.report.pages.markdown import code, escaped
from pondering.report.pages.provenance import origins
from pondering.report.pages.searches import searches
from pondering.report.pages.svg import inline
from pondering.report.pages.view import VERDICT_CLASS, Page, in_order, page_of
from pondering.results.results import Results

TEMPLATES = Path(__file__).parent / "templates"

PAGE_LIMIT = 6_000_000
"""Characters of SVG on one page; figures beyond it are shown as image files."""


def build(
    results: Results,
    claims: Sequence[Claim],
    output_folder: Path,
    settings: Mapping[str, ExperimentConfig] | None = None,
) -> Page:
    """Write a profile's report: index.html, report.md, claims.json, provenance.html, figures/.

    Equal results give equal bytes in all but provenance.html.

    Args:
        results: the tables, curves, traces and cards of one profile.
        claims: what claims.yaml says.
        output_folder: reports/<profile>; its provenance/*.json and search/*.json are read.
        settings: experiment -> parameters, for the settings in words and for what was not run.

    Returns:
        What the pages show.

    Raises:
        UserError: a provenance file or the record of a search cannot be read.
    """
    folder = Path(output_folder)
    judgements = judge_all(claims, results)
    drawings = _draw(results, folder / "figures")
    searched = searches(folder / "search")
    page = page_of(results, judgements, drawings, settings or {}, _inlining(drawings), searched)
    pages = _environment(html=True, title_of=results.title)
    common = {"style": _asset("style.css"), "script": _asset("text.js"), "page": page}
    runs = _runs(results, settings or {})
    found = {"origins": origins(folder / "provenance", runs, results.title)}
    missing = {"missing": [name for name, _ in page.absent]}
    markdown = _environment(html=False, title_of=results.title).get_template("report.md.j2")
    write_together(
        {
            folder / "index.html": pages.get_template("profile.html.j2").render(common),
            folder / "report.md": markdown.render(page=page),
            folder / "claims.json": json_text(claims_json(judgements, results) | missing),
            folder / "provenance.html": pages.get_template("provenance.html.j2").render(
                common | found
            ),
        }
    )
    return page


def build_index(reports_folder: Path) -> str | None:
    """Rewrite reports/index.html, a view over the profiles that have a report.

    It leads to the largest profile that is finished: everything run, to the end of its plan.

    Args:
        reports_folder: holds PROFILE/claims.json.

    Returns:
        The profile it leads to; None where there is no report yet.

    Raises:
        UserError: a claims.json cannot be read.
    """
    folder = Path(reports_folder)
    found = [
        _read_claims(folder / name / "claims.json", name)
        for name in names.PROFILES
        if (folder / name / "claims.json").is_file()
    ]
    finished = [report for report in found if report["finished"]]
    first = next(iter(finished or found), None)
    ordered = sorted(found, key=lambda report: report is not first)
    ids = list(dict.fromkeys(claim["id"] for report in ordered for claim in report["claims"]))
    titles = {c["id"]: c for report in reversed(ordered) for c in report["claims"]}
    page = _environment(html=True, title_of=str).get_template("index.html.j2")
    content = page.render(
        style=_asset("style.css"),
        reports=ordered,
        ids=ids,
        titles=titles,
        kinds=VERDICT_CLASS,
        verdicts=VERDICTS,
        profiles=names.PROFILES,
    )
    atomic_write(folder / "index.html", content)
    return str(first["profile"]) if first else None


def _draw(results: Results, folder: Path) -> dict[str, str]:
    """Draw every figure the results allow; what an earlier report left over goes away."""
    drawings = {}
    for spec in FIGURES:
        evaluated = any(name in results.tables for name in spec.experiment)
        figure = spec.draw(results) if evaluated else None
        if figure is not None:
            svg, _ = save(figure, folder / spec.id)
            drawings[spec.id] = svg.read_text(encoding="utf-8")
    for kind in ("svg", "png"):
        for path in folder.glob(f"*.{kind}"):
            if path.stem not in drawings:
                path.unlink()
    return drawings


def _inlining(drawings: Mapping[str, str]) -> Callable[[str, str, str], Markup | None]:
    """(svg, id, alternative) -> the figure as part of the page, or None where that is too much.

    The smallest figures go in first, until the page is as heavy as a page should be.
    """
    chosen, size = set(), 0
    for name, svg in sorted(drawings.items(), key=lambda item: (len(item[1]), item[0])):
        size += len(svg)
        if size <= PAGE_LIMIT:
            chosen.add(name)

    def inlined(svg: str, name: str, alternative: str) -> Markup | None:
        if name not in chosen:
            return None
        return Markup(inline(svg, name, str(escape(alternative))))

    return inlined


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
    environment.filters["whole"] = _whole_numbers
    environment.filters["title_of"] = title_of
    return environment


def _whole_numbers(text: str) -> Markup:
    """A text in which no line breaks at the hyphen of 9e-4."""
    number = r"\d[\d.]*e-\d+"
    return Markup(re.sub(number, r'<span class="whole">\g<0></span>', str(escape(text))))


def _asset(name: str) -> Markup:
    """A file of our own, put into the page as it is."""
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def _runs(results: Results, settings: Mapping[str, ExperimentConfig]) -> list[str]:
    """The trainings behind each table and its evaluation, in the order of the report."""
    found = []
    for name in in_order(results, settings):
        there = set(results.tables[name]["mechanism"])
        found += [f"{name}-{each}" for each in names.TITLES if each in there]
        found.append(name)
    return found


def _read_claims(path: Path, profile: str) -> dict[str, Any]:
    try:
        report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        finished = not len(report["unfinished"]) + len(report["missing"])
        verdicts = {claim["id"]: claim["verdict"] for claim in report["claims"]}
        for claim in report["claims"]:
            _ = claim["title"], VERDICT_CLASS[claim["verdict"]]  # the page shows them
        judged = sum([report["counts"][verdict] for verdict in VERDICTS][:3])
    except (ValueError, KeyError, TypeError, RecursionError) as problem:
        raise UserError(f"{path}: not a claims.json of this project ({problem})") from None
    return report | {
        "profile": profile,
        "finished": finished,
        "verdicts": verdicts,
        "judged": judged,
    }
