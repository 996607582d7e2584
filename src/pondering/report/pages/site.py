"""Writing the page of a profile, and the page that leads to the profiles."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from pondering.claims.claims import Register
from pondering.claims.record import claims_json
from pondering.claims.verdicts import judge_all
from pondering.claims.words import ANSWERS, MEANINGS, VERDICTS
from pondering.params.schema import ExperimentConfig
from pondering.project.atomic import json_text, write_together
from pondering.project.paths import PUBLISHED, Layout
from pondering.report.figures import FIGURES, claim_figure, draw_all
from pondering.report.pages import names
from pondering.report.pages.playable import Playable, playable
from pondering.report.pages.story import story
from pondering.report.pages.view import MOST_FIGURES, Page, page_of
from pondering.results.results import Results

TEMPLATES = Path(__file__).parent / "templates"


def build(
    results: Results,
    register: Register,
    layout: Layout,
    settings: Mapping[str, ExperimentConfig],
) -> Page:
    """Write a profile's report: index.html, report.md, claims.json, figures/.

    `report.md` is the same view without its folded parts, for hosts that show HTML as source.

    Args:
        results: the tables, curves, traces and cards of one profile.
        register: what claims.yaml says.
        layout: where the report lies, with the records of its runs.
        settings: experiment -> parameters. An experiment with results and without parameters is
            reported from its tables alone.

    Returns:
        What the pages show.
    """
    folder = layout.report
    judgements = judge_all(register.claims, results)
    asked = [claim_figure(each) for each in judgements if each.claim.ours and each.quantities]
    sizes = draw_all([*FIGURES, *asked], results, folder / "figures")
    missing = [name for name in settings if name not in results.tables]
    judged = claims_json(judgements, results) | {"missing": missing}
    judged["story"] = story(results, judged, layout.screens)
    page = page_of(results, judgements, judged["story"], sizes, settings, layout)
    home = os.path.relpath(layout.root / PUBLISHED / "index.html", folder)
    notes = os.path.relpath(layout.notes, folder) if layout.notes.is_file() else ""
    html = _environment(html=True, title_of=results.title)
    markdown = _environment(html=False, title_of=results.title)
    write_together(
        {
            folder / "index.html": html.get_template("profile.html.j2").render(
                page=page, register=register, home=home, notes=notes
            ),
            folder / "report.md": markdown.get_template("report.md.j2").render(page=page),
            folder / "claims.json": json_text(judged),
        }
    )
    return page


def build_index(folder: Path, encodings: Mapping[str, Mapping[str, Any]]) -> None:
    """Rewrite reports/index.html, a view over the profiles that have a report, and reports/play/.

    It opens with two published networks that think. It leads to the profile that judges most
    claims; among equals to the largest. play/ holds the scripts of further networks.

    Args:
        folder: reports/, which holds PROFILE/claims.json and PROFILE/models.
        encodings: by task, what its inputs are made of; of none no network thinks.
    """
    found = [
        _read_claims(folder / name / "claims.json", name)
        for name in names.PROFILES
        if (folder / name / "claims.json").is_file()
    ]
    reports = sorted(found, key=lambda report: -report["judged"])
    titles: dict[str, str] = {}
    for report in reports:
        for claim in report["claims"]:
            titles.setdefault(claim["id"], claim["title"])
    play = playable(folder, encodings)
    page = _environment(html=True, title_of=str).get_template("index.html.j2")
    content = page.render(reports=reports, titles=titles, profiles=names.PROFILES, play=play)
    scripts = _scripts(folder / "play", play) if play else {}
    write_together({folder / "index.html": content} | scripts)
    for path in (folder / "play").glob("*.js"):
        if path not in scripts:
            path.unlink()


def _scripts(folder: Path, play: Playable) -> dict[Path, bytes | str]:
    """The scripts that the page loads on demand; a game's script includes that of its task."""
    later = {name: text for name, text in play.scripts.items() if name not in play.begun}
    for name in (game["name"] for game in play.games[1:]):
        later[name] = (TEMPLATES / f"playable_{name}.js").read_text("utf-8") + later[name]
    return {folder / f"{name}.js": text for name, text in later.items()}


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
    environment.filters["prose"] = _prose
    environment.filters["linked"] = _linked
    environment.filters["spread"] = _interval_apart
    environment.filters["title_of"] = title_of
    environment.globals |= {
        "style": _asset("style.css"),
        "script": _asset("reveal.js"),
        "play_style": _asset("playable.css"),
        "play_script": _asset("playable_think.js")
        + _asset("playable.js")
        + _asset("playable_parity.js"),
        "verdicts": VERDICTS,
        "meanings": MEANINGS,
        "papers": names.PAPERS,
        "signs": names.SIGNS,
        "terms": names.TERMS,
        "table_terms": names.TABLE_TERMS,
        "colours": names.COLOURS,
        "most_figures": MOST_FIGURES,
    }
    return environment


def escaped(value: Any) -> Any:
    """A value as plain Markdown text, for report.md; what is already Markup stays as it is."""
    if isinstance(value, Markup):
        return value
    text = (
        re.sub(r"\s+", " ", str(value))
        .replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
    )
    return re.sub(r"([\\`*_\[\]|#~])", r"\\\1", text)


def _prose(text: str) -> Markup:
    """A text with Markdown's bold; lines do not break inside 9e-4 or λp = 0.4."""
    bold = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", str(escape(text)))
    number = r"[τλβρε]p? = \d+(?:\.\d+)?(?:e-\d+)?|\d[\d.]*e-\d+"
    return Markup(re.sub(number, r'<span class="whole">\g<0></span>', bold))


def _linked(text: Markup, judged: Collection[str]) -> Markup:
    """A text in which the names of these claims lead to their details."""

    def link(found: re.Match[str]) -> str:
        return f'<a href="#judged-{found[0]}">{found[0]}</a>' if found[0] in judged else found[0]

    return Markup(re.sub(r"\b[A-Z]\d+\b", link, text))


def _interval_apart(text: str) -> Markup:
    """A mean with its interval, the interval in a part that a phone leaves out."""
    return Markup(re.sub(r" \(.*\)", r'<span class="interval">\g<0></span>', str(escape(text))))


def _asset(name: str) -> Markup:
    """A file of `templates/`, unescaped."""
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def _read_claims(path: Path, profile: str) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    verdicts = {claim["id"]: claim["verdict"] for claim in report["claims"]}
    return report | {
        "profile": profile,
        "notes": path.with_name("NOTES.md").is_file(),
        "verdicts": verdicts,
        "story": report.get("story", ()),
        "judged": sum(ANSWERS[each] != "undecided" for each in verdicts.values()),
    }
