"""What a figure is: where it comes from, what it shows, how it is drawn and put into words."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from matplotlib.figure import Figure

from pondering.report.figures import style
from pondering.results.results import Results


@dataclass(frozen=True)
class FigureSpec:
    """One figure of the report.

    Args:
        id: file name without ending, for example "graves-04".
        paper: "Graves 2016", "Banino 2021", "MNIST" or "Beyond the papers".
        number: the paper's number, for example "Fig. 4"; empty where the paper has none.
        experiment: the experiments it reads.
        title: what it shows, in a few words.
        body: draws the panels from the results, without heading; None where the data are absent.
        words: the values shown, as a sentence for those who cannot see them.
        paper_value: what the paper shows or reports, in one sentence.
        reads: what is plotted here, as a caption.
        notes: what the caption must add in one profile, from its results; an empty text is left
            out.
    """

    id: str
    paper: str
    number: str
    experiment: tuple[str, ...]
    title: str
    body: Callable[[Results], Figure | None]
    words: Callable[[Results], str]
    paper_value: str
    reads: str
    notes: tuple[Callable[[Results], str], ...] = ()

    def draw(self, results: Results) -> Figure | None:
        """The whole figure with title, profile and, where it applies, the note on stand-in data.

        Args:
            results: the tables, curves, traces and data cards of one profile.

        Returns:
            The figure, its layout settled; None where the results lack what it needs.
        """
        with style.style():
            figure = self.body(results)
            if figure is None:
                return None
            source = f"{self.paper}, {self.number}" if self.number else self.paper
            style.mark_empty(figure)
            warning = "; ".join(results.stand_ins(self.experiment))
            if warning and not warning.lower().startswith("a stand-in"):
                warning = f"Stand-in: {warning}"
            style.heading(
                figure,
                f"{source}. {self.title}",
                self._settings(results),
                warning[:1].upper() + warning[1:],
            )
        return figure

    def caption(self, results: Results) -> str:
        """What is plotted, and what a reader of this profile's figure must know besides.

        Args:
            results: the results the figure is drawn from.
        """
        return " ".join(text for text in (self.reads, *(n(results) for n in self.notes)) if text)

    def _settings(self, results: Results) -> str:
        """The profile, its seeds and, where few experiments enter, what their data are."""
        present = [name for name in self.experiment if name in results.cards]
        texts = [
            str(results.cards[name]["what"])
            for name in present
            if not results.cards[name]["stand_in"]
        ]
        # data cards write "28x28"
        known = [re.sub(r"(?<=\d) ?x ?(?=\d)", style.TIMES, text) for text in dict.fromkeys(texts)]
        counts = [
            results.tables[name]["seed"].nunique()
            for name in self.experiment
            if name in results.tables
        ]
        seeds = f", {max(counts)} seed{'s' if max(counts) > 1 else ''}" if counts else ""
        profile = f"Profile {results.profile}{seeds}"
        return f"{profile}: {'; '.join(known)}" if 1 <= len(known) <= 2 else profile


def alt_text(spec: FigureSpec, results: Results) -> str:
    """A figure in words, with its main values computed from the data.

    Args:
        spec: the figure.
        results: the results it is drawn from.

    Returns:
        One line of plain text; says so where the data are absent.
    """
    source = f"{spec.paper}, {spec.number}" if spec.number else spec.paper
    values = spec.words(results) or "No data in this profile."
    stand_ins = results.stand_ins(spec.experiment)
    note = f" Stand-in data: {'; '.join(stand_ins)}." if stand_ins else ""
    return " ".join(f"{source}. {spec.title}. {values}{note}".split())
