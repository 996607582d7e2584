"""What a figure is: where it comes from, what it reads, how it is drawn and captioned."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from pondering.report.figures import style
from pondering.results.results import Results

SHARES = {"accuracy", "error", "test error", "share with\nerror < 5%"}
"""Labels of axes that run from 0 to 1 in every experiment; errors have theirs in the data card."""


class Family(Protocol):
    """A kind of figure: a module of this folder."""

    CAPTION: str
    """What is plotted, for a reader who sees it."""

    draw: Callable[..., Figure | None]
    """Draws the panels, without heading, from the results of one profile and the arguments of one
    figure. Returns None where the data are absent."""


@dataclass(frozen=True)
class FigureSpec:
    """One figure of the report.

    Args:
        id: file name without ending, for example "graves-04".
        paper: "Graves 2016", "Banino 2021", "MNIST" or "Beyond the papers".
        number: the paper's number, for example "Fig. 4"; empty where the paper has none.
        experiments: those that it reads; in the section of the first with results it stands.
        title: what it shows, in a few words.
        panels: draws them; see `Family`.
        caption: what is plotted, in two sentences.
        values: the arguments of `panels` besides the results, for example the experiment.
        compared: the mechanisms that it compares; empty where it compares none.
        most_seeds: how many of the seeds it shows at most; 0 for all.
    """

    id: str
    paper: str
    number: str
    experiments: tuple[str, ...]
    title: str
    panels: Callable[..., Figure | None]
    caption: str
    values: Mapping[str, Any]
    compared: tuple[str, ...] = ()
    most_seeds: int = 0

    @property
    def name(self) -> str:
        """The name in texts: "Fig. 4", or the title where no paper has the figure."""
        return self.number or self.title

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
        if not any(name in results.tables for name in self.experiments):
            return None
        with style.style():
            figure = self.panels(results, **self.values)
            if figure is None:
                return None
            _mark_empty(figure)
            _in_percent(figure, SHARES | self._errors(results))
            warning = _with_times("; ".join(results.stand_ins(self.experiments)))
            if warning and not warning.lower().startswith("a stand-in"):
                warning = f"Stand-in: {warning}"
            _heading(
                figure,
                f"{self.source}. {self.title}",
                self._settings(results),
                warning[:1].upper() + warning[1:],
            )
        return figure

    def _errors(self, results: Results) -> set[str]:
        """The labels of axes of errors that are shares."""
        cards = [results.cards[name] for name in self.experiments if name in results.cards]
        return {text for card in cards if card.is_share for text in (card.unit, card.in_training)}

    def _settings(self, results: Results) -> str:
        """The profile and its seeds; the data too, where one or two experiments enter."""
        present = [name for name in self.experiments if name in results.cards]
        texts = [results.cards[name].what for name in present if not results.cards[name].stand_in]
        known = [_with_times(text) for text in dict.fromkeys(texts)]
        tables = [results.tables[name] for name in self.experiments if name in results.tables]
        counts = pd.concat(t.groupby(["mechanism", "setting"])["seed"].nunique() for t in tables)
        if self.compared:
            counts = counts[counts.index.isin(self.compared, level="mechanism")]
        seeds = _seed_count(counts.clip(upper=self.most_seeds or None))
        profile = f"Profile {results.profile}, {seeds}"
        return f"{profile}: {'; '.join(known)}" if 1 <= len(known) <= 2 else profile


def _with_times(text: str) -> str:
    """A size as figures write it; data cards write 28x28."""
    return re.sub(r"(?<=\d) ?x ?(?=\d)", style.TIMES, text)


def _seed_count(seeds: pd.Series) -> str:
    """The number of seeds, or its range."""
    low, high = int(seeds.min()), int(seeds.max())
    return f"{low} seed{'s' if high > 1 else ''}" if low == high else f"{low} to {high} seeds"


def _in_percent(figure: Figure, shares: Collection[str]) -> None:
    """Write percent at the ticks of every axis whose label names a share.

    Args:
        figure: its panels drawn.
        shares: the labels of axes that run from 0 to 1.
    """
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if axis.get_label().get_text() in shares:
                axis.set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share:g}%"))


def _heading(figure: Figure, title: str, settings: str, warning: str) -> None:
    """Write title, settings and, in a warning colour, a stand-in note above all panels.

    The figure grows by the height of the text, so the panels keep theirs.
    """
    lines = [(line, "bold", style.INK, 10.0) for line in textwrap.wrap(title, 55)]
    warned = textwrap.wrap(warning, 68, max_lines=3, placeholder=" …")
    lines += [(line, "bold", style.WARNING, 8.0) for line in warned]
    said = textwrap.wrap(settings, 80, max_lines=3, placeholder=" …")
    lines += [(line, "normal", style.SOFT, 8.0) for line in said]
    tall = sum(size * 1.35 for *_, size in lines) / 72 + 0.1
    height = figure.get_figheight() + tall
    figure.set_figheight(height)
    top = height - 0.05
    for text, weight, colour, size in lines:
        figure.text(0.015, top / height, text, fontweight=weight, color=colour, fontsize=size,
                    ha="left", va="top", in_layout=False)  # fmt: skip
        top -= size * 1.35 / 72
    engine = figure.get_layout_engine()
    assert engine is not None
    engine.set(rect=(0.01, 0.01, 0.98, (height - tall) / height - 0.01))  # type: ignore[call-arg]
    engine.execute(figure)
    figure.set_layout_engine(None)  # settled: saving need not draw twice
    for axes in figure.axes:
        # the solver's last digits vary from call to call, and would show in the names inside an SVG
        left, bottom, width, height = axes.get_position(original=True).bounds
        axes.set_position((round(left, 5), round(bottom, 5), round(width, 5), round(height, 5)))


def _mark_empty(figure: Figure) -> None:
    """Write "no data" in every panel that has none."""
    for axes in figure.axes:
        if axes.axison and not axes.has_data():
            axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", va="center",
                      color=style.GREY)  # fmt: skip
