"""Ten lines of results for the README: every task with each method at its best setting."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from pondering.claims.verdicts import Judgement
from pondering.project.atomic import atomic_write
from pondering.report.figures import style
from pondering.report.figures.shapes.methods import Method, best_methods, trained_alike
from pondering.report.pages.lessons import UNDECIDED, experiments_of
from pondering.report.pages.summary import SPLITS_ON_FIGURES_ALONE
from pondering.report.pages.view import Page
from pondering.results.results import Card, Results
from pondering.results.statistics import solve_rate
from pondering.results.tables import evaluated, headline, per_seed, splits_of

METHODS = {
    "plain": "Plain network",
    "act": "ACT",
    "pondernet": "PonderNet",
    "repeat": "Fixed repeat",
}

IN_THE_PAPER = {
    "parity": "almost 40% plain, below 5% with ACT",
    "logic": "about 20% plain, virtually none with ACT; ten gates, five vectors",
    "addition": "solved with ACT; 5 digits, 5 numbers",
    "sort": "about 12% plain, 6% with ACT; 2 to 15 numbers",
    "wikipedia": "about the same with and without ACT",
    "parity_interpolation": "ACT 4%, PonderNet 3%; 64 elements",
    "parity_extrapolation": "beyond: ACT 48%, PonderNet 7%; 96 elements",
    "mnist": "about 99% right (a public notebook)",
    "mnist_rotated": "fewer steps beyond 22.5 degrees",
}
"""Experiment -> what was published. Sources: Graves 2016, Banino 2021, and for MNIST a notebook."""


def overview(results: Results, page: Page) -> str:
    """A table in Markdown: the mean test error of each method, its steps, and the verdicts.

    Args:
        results: the results of one profile.
        page: what the profile's pages show of them.

    Returns:
        A row for each split of a task that a claim is about; links start at the repository's root.
    """
    judgements = [view.judgement for view in page.claims]
    lines = [["Task", *METHODS.values(), "In the paper", "Claims"], ["---"] * (len(METHODS) + 3)]
    for section in page.sections:
        table, card = results.tables[section.name], section.card
        mine = [each for each in judgements if section.name in experiments_of(each.claim)]
        link = f"[{card.title}](reports/{page.profile}/report.md#{_anchor(card.title)})"
        told = [IN_THE_PAPER.get(section.name, ""), _verdicts(mine)]
        methods = best_methods(per_seed(headline(table)), [*METHODS])
        curves = results.curves.get(section.name)
        chosen = {each.name: each for each in trained_alike(methods, curves)}
        splits = [each for each in splits_of(table) if each not in SPLITS_ON_FIGURES_ALONE]
        for split in splits if mine else []:
            seeds = per_seed(evaluated(table, split=split))
            cells = [_cell(chosen.get(each), seeds, card, section.solved_error) for each in METHODS]
            first = split == splits[0]
            task = f"{link}, {card.what}" if first else f"the same on {card.splits[split]}"
            lines.append([task, *cells, *(told if first else ["", ""])])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def write_readme(path: Path, profile: str, table: str) -> None:
    """Put the table between the marks that name its profile; a file without them stays as it is.

    Args:
        path: of README.md; it need not exist.
        profile: whose results the table tells.
        table: what `overview` returned.
    """
    if not path.is_file():
        return
    text = path.read_text(encoding="utf-8")
    marks = rf"(<!-- results of {profile}[^>]*-->\n)(.*?)(<!-- end of results -->)"
    written = re.sub(marks, lambda found: f"{found[1]}{table}{found[3]}", text, flags=re.DOTALL)
    if written != text:
        atomic_write(path, written)


def _cell(method: Method | None, seeds: pd.DataFrame, card: Card, solved_error: float) -> str:
    """Mean error, steps of those that take several, and how many seeds solved the task."""
    if method is None:
        return ""
    own = method.of(seeds)
    percent = 100 * own["error"].mean()
    if card.is_share:
        parts = [f"{percent:.2g}%" if percent < 10 else f"{percent:.0f}%"]
    else:
        parts = [f"{own['error'].mean():.2f} {card.unit.split()[0]}"]
    if method.name != "plain":
        parts.append(style.in_steps(round(own["ponder_time"].mean(), 1)))
    if card.is_share:
        rate = solve_rate(own["error"], solved_error)
        parts.append(f"{round(rate.estimate * rate.count)} of {rate.count}")
    return ", ".join(parts)


def _verdicts(judgements: Sequence[Judgement]) -> str:
    """The claims about an experiment: those with a verdict, and those that are still open."""
    decided = [each for each in judgements if each.verdict not in UNDECIDED]
    still = [each.claim.id for each in judgements if each.verdict in UNDECIDED]
    told = [f"{each.claim.id} {each.verdict}" for each in decided]
    return "; ".join([*told, *([f"{', '.join(still)} open"] if still else [])])


def _anchor(title: str) -> str:
    """What a git host calls a heading."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
