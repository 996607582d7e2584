"""What holds, in one table and a few findings, with the numbers of the day."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from pondering.claims.quantities import in_words
from pondering.project.atomic import atomic_write
from pondering.project.documents import read_yaml
from pondering.report.figures.methods import best_methods
from pondering.report.pages.summary import solved
from pondering.results.results import Results
from pondering.results.tables import evaluated, headline, per_seed, splits_of
from pondering.results.units import Unit, number_text

METHODS = {"plain": "Plain", "act": "ACT", "pondernet": "PonderNet"}
ROWS = {  # experiment -> claim whose verdict is shown, number of the split shown, parts of its size
    "parity": ("G1", 0, 1),
    "logic": ("G4", 0, 1),
    "addition": ("G6", 0, 1),
    "sort": ("G8", 0, 1),
    "wikipedia": ("G9", 0, 0),
    "parity_interpolation": ("B1", 0, 1),
    "parity_extrapolation": ("B2", 1, 1),
}


def what_holds(results: Results, judged: Mapping[str, Any]) -> str:
    """README's section on results, in Markdown: the table, then the findings.

    Args:
        results: of one profile.
        judged: the content of its claims.json.
    """
    lines = "".join(f"{place}. {text}\n" for place, text in enumerate(judged["story"], 1))
    return f"{table(results, judged)}\n{lines}"


def table(results: Results, judged: Mapping[str, Any]) -> str:
    """Every task with each method at the setting of its lowest mean test error, in Markdown."""
    claims = {each["id"]: each for each in judged["claims"]}
    lines = [" | ".join(["Task", *METHODS.values(), "Paper", "Verdict"]), "---|---|---|---|---|---"]
    for experiment, (claim, place, parts) in ROWS.items():
        rows = results.tables.get(experiment)
        if rows is None or claim not in claims or len(splits_of(rows)) <= place:
            continue
        card, split = results.cards[experiment], splits_of(rows)[place]
        seeds = per_seed(evaluated(rows, split=split))
        chosen = {each.name: each for each in best_methods(per_seed(headline(rows)), [*METHODS])}
        unit: Unit = "share" if card.is_share else "bits"
        cells = [
            _cell(chosen[name].of(seeds), name, unit) if name in chosen else "-" for name in METHODS
        ]
        task = [card.title, *re.split("[,;] ", card.what.replace(" elements,", ""))[:parts]]
        task += [card.splits[split]] if split == "train" else []
        found = claims[claim]
        paper = found["paper_value"].partition(". ")[0].rstrip(".")
        lines.append(" | ".join([", ".join(task), *cells, paper, f"{claim} {found['verdict']}"]))
    return "".join(f"{line}\n" for line in lines)


def _cell(networks: pd.DataFrame, name: str, unit: Unit) -> str:
    error = number_text(networks["error"].mean(), unit)
    return error if name == "plain" else f"{error}, {networks['ponder_time'].mean():.2f}"


def story(results: Results, judged: Mapping[str, Any], screens: Path) -> list[str]:
    """The findings of findings.yaml whose verdicts still hold and whose numbers were measured.

    Args:
        results, judged: see `what_holds`.
        screens: the folder of the published screens.
    """
    verdicts = {each["id"]: each["verdict"] for each in judged["claims"]}
    findings = []
    for each in read_yaml(Path(__file__).with_name("findings.yaml")).get(results.profile, []):
        if each["rests_on"].items() <= verdicts.items():
            try:
                text = re.sub(
                    r"{(.+?)}",
                    lambda source: number(source[1], results, judged, screens),
                    each["text"],
                )
            except LookupError:  # not run, or not measured
                continue
            findings.append(text)
    return findings


def number(source: str, results: Results, judged: Mapping[str, Any], screens: Path) -> str:
    """A number that a text names, with its unit.

    Args:
        source: "G1 plain_error" is a claim's quantity as `in_words` has it. "parity act
            0.001,0.01 solved" counts the networks of a mechanism at these settings that solve an
            experiment; "error" and "steps" are means over them. "screen parity-recipe act today"
            counts those of an arm of a screen.
        results, judged, screens: see `story`.

    Raises:
        LookupError: it was not run, or not measured.
    """
    if re.match(r"[A-Z]\d", source):
        claim, _, quantity = source.partition(" ")
        return in_words(quantity, {e["id"]: e["estimates"] for e in judged["claims"]}[claim])
    if source.startswith("screen "):
        screen, mechanism, *arms = source.split(maxsplit=3)[1:]
        return solved(_screened(screens / f"{screen}.csv", mechanism, *arms))
    experiment, mechanism, settings, what = source.split()
    name, _, split = experiment.partition("/")
    table = results.tables[name]
    seeds = per_seed(evaluated(table, split) if split else headline(table))
    chosen = [*map(float, settings.split(","))]
    networks = seeds[(seeds["mechanism"] == mechanism) & seeds["setting"].isin(chosen)]
    if networks.empty:
        raise KeyError(source)
    if what == "solved":
        return solved(networks["error"])
    if what == "steps":
        return number_text(networks["ponder_time"].mean(), "steps")
    return number_text(networks["error"].mean(), "share")


def _screened(path: Path, mechanism: str, arm: str = "") -> pd.Series:
    """The last training error of every network of an arm, or of all arms, of a screen's file."""
    if not path.is_file():
        raise KeyError(path.stem)
    rows = pd.read_csv(path).sort_values("update")
    rows = rows[(rows["mechanism"] == mechanism) & rows["arm"].str.contains(arm, regex=False)]
    return rows.groupby(["arm", "setting", "seed"])["error"].last()


def write_readme(path: Path, profile: str, section: str) -> None:
    """Put a section between the marks that name its profile; a file without them stays as it is.

    Args:
        path: of README.md; it need not exist.
        profile: whose results the section tells.
        section: what `what_holds` returned.
    """
    if not path.is_file():
        return
    text = path.read_text(encoding="utf-8")
    marks = rf"(<!-- results of {profile}[^>]*-->\n)(.*?)(<!-- end of results -->)"
    written = re.sub(marks, lambda found: f"{found[1]}{section}{found[3]}", text, flags=re.DOTALL)
    if written != text:
        atomic_write(path, written)
