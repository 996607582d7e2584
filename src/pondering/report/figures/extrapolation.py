"""Steps and error inside and beyond the trained range."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from pondering.params.mechanisms import MECHANISMS
from pondering.report.figures import style
from pondering.report.figures.shapes.methods import (
    BEST,
    CHOOSING,
    best_methods,
    lines_by_difficulty,
)
from pondering.report.figures.shapes.training_length import unequal_training
from pondering.results.results import Results
from pondering.results.tables import evaluated, headline, per_seed, splits_of


def draw(results: Results, experiment: str) -> Figure | None:
    """Steps and error by difficulty; the first split is the trained range, the second beyond it."""
    table = results.tables[experiment]
    card = results.cards[experiment]
    inside, rows = headline(table), evaluated(table)
    methods = best_methods(per_seed(inside), CHOOSING)
    if not methods:
        return None
    figure, (upper, lower) = style.new_figure([2.2, 2.2], sharex=True)
    handles: list[Line2D | Patch] = []
    for method in methods:
        lines_by_difficulty(upper, method.of(rows), "ponder_time", **method.look)
        line = lines_by_difficulty(
            lower, method.of(rows), "error", **method.look, label=method.legend
        )
        handles.append(line)
    edge = float(inside["difficulty"].max()) + 0.5
    for axes in (upper, lower):
        axes.axvspan(min(float(inside["difficulty"].min()) - 0.5, edge), edge, color=style.SKY,
                     alpha=0.15, lw=0, zorder=0)  # fmt: skip
    handles.append(Patch(color=style.SKY, alpha=0.3, label="trained range"))
    upper.set(ylabel="ponder steps")
    lower.set(xlabel=card.difficulty[splits_of(table)[0]], ylabel=card.unit, ylim=(0, None))
    style.difficulty_axis(lower, float(rows["difficulty"].min()), float(rows["difficulty"].max()))
    style.bottom_legend(figure, handles, 2)
    return figure


def words(results: Results, experiment: str) -> str:
    """How steps and error change beyond the trained range, method by method."""
    table = results.tables[experiment]
    inside, card = per_seed(headline(table)), results.cards[experiment]
    beyond_it = per_seed(evaluated(table[table["split"] != splits_of(table)[0]]))
    parts = []
    for method in best_methods(inside, CHOOSING):
        near, far = method.of(inside).mean(numeric_only=True), method.of(beyond_it)
        steps, error = style.in_steps(near["ponder_time"]), style.error_text(near["error"], card)
        now = f"{method.legend}: {steps} and error {error} inside"
        if len(far):
            steps = style.in_steps(far["ponder_time"].mean())
            now += f", {steps} and {style.error_text(far['error'].mean(), card)} beyond"
        parts.append(now)
    return f"Means over the trained range and beyond it: {'; '.join(parts)}." if parts else ""


def caption(results: Results, experiment: str) -> str:
    """What is drawn, and whether the mechanisms were trained equally long."""
    return (
        f"Steps (above) and error (below) by nonzero elements, {BEST} in the trained range "
        "(shaded); bands: one standard error. "
        f"{unequal_training(results, (experiment,), tuple(MECHANISMS))}"
    )
