"""What a figure is: where it comes from, what it reads, how it is drawn and captioned."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pandas as pd
from matplotlib.figure import Figure

from pondering.params.mechanisms import MECHANISMS
from pondering.report.figures import style
from pondering.results.results import Results

SHARES = {"accuracy", "error", "test error", "share with\nerror < 5%"}
"""Labels of axes that run from 0 to 1 in every experiment; errors have theirs in the data card."""


class Family(Protocol):
    """A kind of figure: a module of this folder."""

    CAPTION: str
    """What is plotted, for a reader who sees it."""

    draw: Callable[..., Figure | None]
    """The panels without heading, from the results of one profile and, by name, what tells a figure
    from its kin; None where the data are absent."""


@dataclass(frozen=True)
class FigureSpec:
    """One figure of the report.

    Args:
        id: file name without ending, for example "graves-04".
        paper: "Graves 2016", "Banino 2021", "MNIST" or "Beyond the papers".
        number: the paper's number, for example "Fig. 4"; empty where the paper has none.
        experiment: the experiments it reads.
        title: what it shows, in a few words.
        panels: draws them; see `Family`.
        text: what is plotted.
        values: what it is told besides the results, for example the experiment.
        compared: the mechanisms that it compares; empty where it compares none.
        most_seeds: how many of the seeds it shows at most; 0 for all.
    """

    id: str
    paper: str
    number: str
    experiment: tuple[str, ...]
    title: str
    panels: Callable[..., Figure | None]
    text: str
    values: Mapping[str, Any]
    compared: tuple[str, ...] = ()
    most_seeds: int = 0

    @property
    def source(self) -> str:
        """Paper and figure."""
        return f"{self.paper}, {self.number}" if self.number else self.paper

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
            figure = self.panels(results, **self.values)
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

    def caption(self, results: Results) -> str:
        """What is plotted, and how long each mechanism was trained where that differs."""
        return f"{self.text} {unequal_training(results, self.experiment, self.compared)}".rstrip()

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
        if self.compared:
            counts = counts[counts.index.isin(self.compared, level="mechanism")]
        seeds = style.seed_count(counts.clip(upper=self.most_seeds or None))
        profile = f"Profile {results.profile}, {seeds}"
        return f"{profile}: {'; '.join(known)}" if 1 <= len(known) <= 2 else profile


def _with_times(text: str) -> str:
    """A size as figures write it; data cards write 28x28."""
    return re.sub(r"(?<=\d) ?x ?(?=\d)", style.TIMES, text)


def unequal_training(results: Results, experiments: Sequence[str], compared: Sequence[str]) -> str:
    """How many updates each mechanism was trained for, where they differ.

    Args:
        results: the results of one profile.
        experiments, compared: the experiments and mechanisms of a figure.

    Returns:
        A sentence; empty where all were trained equally long. The longest training of each
        mechanism at any setting counts, for single seeds may have stopped early or diverged.
    """
    parts = []
    for name in (each for each in experiments if each in results.curves):
        updates = longest_trainings(results.curves[name], compared)
        if len(set(updates.values())) > 1:
            told = [f"{MECHANISMS[each].title} {value:,}" for each, value in updates.items()]
            where = f"{name.replace('_', ' ')} " if len(experiments) > 1 else ""
            parts.append(f"{where}{', '.join(told)}")
    return f"Not trained equally long here; updates, at most: {'; '.join(parts)}." if parts else ""


def longest_trainings(curves: pd.DataFrame, mechanisms: Sequence[str]) -> dict[str, int]:
    """The updates of the longest training of each mechanism that has curves."""
    ends = curves.groupby("mechanism")["update"].max()
    return {each: int(ends[each]) for each in mechanisms if each in ends}
