"""What a figure is: where it comes from, what it shows, how it is drawn and put into words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

import pandas as pd
from matplotlib.figure import Figure

from pondering.report.figures import style
from pondering.results.results import Results

SHARES = {"accuracy", "error", "test error", "share with\nerror < 5%"}
"""Labels of axes that run from 0 to 1 in every experiment; errors have theirs in the data card."""


class Family(Protocol):
    """A kind of figure: a module of this folder with these three functions.

    Each takes the results of one profile and, by name, what tells a figure from its kin.
    """

    draw: Callable[..., Figure | None]
    """The panels without heading; None where the data are absent."""

    words: Callable[..., str]
    """The values shown as a sentence; empty where the data are absent."""

    caption: Callable[..., str]
    """What is plotted, for a reader who sees it."""


@dataclass(frozen=True)
class FigureSpec:
    """One figure of the report.

    Args:
        id: file name without ending, for example "graves-04".
        paper: "Graves 2016", "Banino 2021", "MNIST" or "Beyond the papers".
        number: the paper's number, for example "Fig. 4"; empty where the paper has none.
        experiment: the experiments it reads.
        title: what it shows, in a few words.
        family: draws the panels, tells the values and writes the caption; see `Family`.
        values: what the family is told besides the results, for example the experiment. `wide`
            among them: the figure is also drawn for a wide page, see `across`.
        paper_value: what the paper shows or reports, in one sentence.
        most_seeds: how many of the seeds it shows at most; 0 for all.
        mechanisms: whose seeds it shows; empty for all.
    """

    id: str
    paper: str
    number: str
    experiment: tuple[str, ...]
    title: str
    paper_value: str
    family: Family
    values: Mapping[str, Any]
    most_seeds: int = 0
    mechanisms: tuple[str, ...] = ()

    @property
    def source(self) -> str:
        """Paper and figure."""
        return f"{self.paper}, {self.number}" if self.number else self.paper

    @property
    def across(self) -> FigureSpec | None:
        """The same figure across the whole width of a page, where its family draws that too."""
        if "wide" not in self.values:
            return None
        return replace(self, id=f"{self.id}-wide", values={**self.values, "wide": True})

    def draw(self, results: Results) -> Figure | None:
        """The whole figure with title, profile and, where it applies, the note on stand-in data.

        Args:
            results: the tables, curves, traces and data cards of one profile.

        Returns:
            The figure, its layout settled; None where the results lack what it needs.
        """
        if not any(name in results.tables for name in self.experiment):
            return None
        with style.style():
            figure = self.family.draw(results, **self.values)
            if figure is None:
                return None
            style.mark_empty(figure)
            style.in_percent(figure, SHARES | self._errors(results))
            warning = _with_times("; ".join(results.stand_ins(self.experiment)))
            if warning and not warning.lower().startswith("a stand-in"):
                warning = f"Stand-in: {warning}"
            style.heading(
                figure,
                f"{self.source}. {self.title}",
                self._settings(results),
                warning[:1].upper() + warning[1:],
            )
        return figure

    def words(self, results: Results) -> str:
        """The values shown, as a sentence for those who cannot see a figure that was drawn."""
        return self.family.words(results, **self.values)

    def caption(self, results: Results) -> str:
        """What is plotted, and what a reader of this profile's figure must know besides."""
        return self.family.caption(results, **self.values).rstrip()

    def _errors(self, results: Results) -> set[str]:
        """What an axis of errors is called, where they are shares."""
        cards = [results.cards[name] for name in self.experiment if name in results.cards]
        return {text for card in cards if card.is_share for text in (card.unit, card.in_training)}

    def _settings(self, results: Results) -> str:
        """The profile, its seeds and, where few experiments enter, what their data are."""
        present = [name for name in self.experiment if name in results.cards]
        texts = [results.cards[name].what for name in present if not results.cards[name].stand_in]
        known = [_with_times(text) for text in dict.fromkeys(texts)]
        tables = [results.tables[name] for name in self.experiment if name in results.tables]
        counts = pd.concat(t.groupby(["mechanism", "setting"])["seed"].nunique() for t in tables)
        if self.mechanisms:
            counts = counts[counts.index.isin(self.mechanisms, level="mechanism")]
        seeds = style.seed_count(counts.clip(upper=self.most_seeds or None))
        profile = f"Profile {results.profile}, {seeds}"
        return f"{profile}: {'; '.join(known)}" if 1 <= len(known) <= 2 else profile


def _with_times(text: str) -> str:
    """A size as figures write it; data cards write 28x28."""
    return re.sub(r"(?<=\d) ?x ?(?=\d)", style.TIMES, text)


def alt_text(spec: FigureSpec, results: Results, words: str) -> str:
    """A figure in words, with its main values computed from the data.

    Args:
        spec: the figure.
        results: the results it is drawn from.
        words: what `spec.words` says of them.

    Returns:
        One line of plain text; says so where the data are absent.
    """
    values = words or "No data in this profile."
    stand_ins = results.stand_ins(spec.experiment)
    note = f" Stand-in data: {'; '.join(stand_ins)}." if stand_ins else ""
    return " ".join(f"{spec.source}. {spec.title}. {values}{note}".split())
