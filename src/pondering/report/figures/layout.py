"""Parity with the nonzero elements leading or scattered, which the papers' texts leave open."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pondering.params.mechanisms import MECHANISMS
from pondering.report.figures import style
from pondering.report.figures.shapes.curves import errors_by_update, mean_line
from pondering.report.figures.shapes.methods import (
    BEST,
    CHOOSING,
    best_methods,
    lines_by_difficulty,
)
from pondering.report.figures.shapes.training_length import unequal_training
from pondering.results.results import Results
from pondering.results.tables import headline, per_seed


def draw(results: Results, layouts: Mapping[str, str]) -> Figure | None:
    """Parity with the nonzero elements leading or scattered: learning curves and difficulty.

    Each method at its best setting for each layout.

    Args:
        results: the results of one profile.
        layouts: experiment -> its layout.

    Returns:
        The figure; None unless both layouts have rows.
    """
    if any(name not in results.tables for name in layouts):
        return None
    figure = Figure(figsize=(style.WIDTH, 4.6), layout="constrained")
    panels = figure.subplots(2, len(layouts), sharey="row")
    handles: dict[str, Line2D] = {}
    for (name, layout), (upper, lower) in zip(layouts.items(), panels.T, strict=True):
        rows, card = headline(results.tables[name]), results.cards[name]
        curves = results.curves.get(name)
        for method in best_methods(per_seed(rows), CHOOSING):
            if curves is not None and len(method.of(curves)):
                wide = errors_by_update(method.of(curves), card.worst_error)
                upper.plot(*mean_line(wide), color=method.look["color"], lw=1.7)
            lines_by_difficulty(lower, method.of(rows), "error", **method.look)
            label = style.MECHANISM_NAME[method.name]
            handles[label] = Line2D([], [], **method.look, label=label)
        upper.set(title=layout, xlabel="updates")
        style.large_counts(upper, 4)
        lower.set(xlabel=next(iter(card.difficulty.values())))
        style.difficulty_axis(
            lower, float(rows["difficulty"].min()), float(rows["difficulty"].max())
        )
    # both rows share their vertical axes, so these are set once all is drawn
    panels[0, 0].set(ylabel=card.in_training, ylim=(0, None))
    panels[1, 0].set(ylabel=card.unit, ylim=(0, None))
    style.bottom_legend(figure, list(handles.values()), 3)
    return figure


def words(results: Results, layouts: Mapping[str, str]) -> str:
    """The error of each method at its best setting, for both layouts."""
    if any(name not in results.tables for name in layouts):
        return ""
    parts = []
    for name, layout in layouts.items():
        seeds = per_seed(headline(results.tables[name]))
        for method in best_methods(seeds, CHOOSING):
            error = method.of(seeds)["error"].mean()
            told = style.error_text(error, results.cards[name])
            parts.append(f"{layout}, {method.legend}: {told}")
    return f"Mean error: {'; '.join(parts)}." if parts else ""


def caption(results: Results, layouts: Mapping[str, str]) -> str:
    """What is drawn, and how far the two experiments can be compared."""
    names = tuple(layouts)
    parts = [
        f"Error in training (above) and by difficulty (below), {BEST}; bands: one standard error.",
        unequal_sizes(results, names),
        unequal_training(results, names, tuple(MECHANISMS), across=True),
    ]
    return " ".join(part for part in parts if part)


def unequal_sizes(results: Results, experiments: Sequence[str]) -> str:
    """That a figure compares experiments of different size, with what their data cards say."""
    texts = [results.cards[name].what for name in experiments if name in results.cards]
    sizes = [found.group() for text in texts if (found := re.search(r"\d+ [a-z]+", text))]
    if len(set(sizes)) < 2:
        return ""
    return f"{' against '.join(sizes)}: not a controlled comparison."
