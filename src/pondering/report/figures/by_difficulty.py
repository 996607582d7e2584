"""Ponder and error by difficulty: Graves 2016, Figs. 6, 10, 14 and 19."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from pondering.report.figures import style
from pondering.report.figures.learning import PLAIN, subset_note
from pondering.report.figures.shapes.methods import (
    Method,
    best_methods,
    lines_by_difficulty,
)
from pondering.report.figures.shapes.training_length import unequal_training
from pondering.results.results import Results
from pondering.results.tables import headline, per_seed, plain, splits_of


def draw(results: Results, experiment: str) -> Figure | None:
    """Ponder above and error below against difficulty, one line per setting and the plain network.

    Args:
        results: the results of one profile.
        experiment: whose table.

    Returns:
        The figure, axes linear: lines are medians over seeds, which no single lost seed moves,
        bands lie between their quartiles. None without rows.
    """
    table = results.tables[experiment]
    card = results.cards[experiment]
    rows = headline(table)
    act = rows[rows["mechanism"] == "act"]
    settings = [float(each) for each in sorted(act["setting"].unique())]
    if not (settings or len(plain(rows))):
        return None
    styles, shown = style.line_styles(settings), style.spread(settings, style.MOST_LINES)
    figure, (upper, lower) = style.new_figure([2.2, 2.2], sharex=True)
    handles = []
    for setting in shown:
        own = act[act["setting"] == setting]
        look = {"color": styles[setting].colour, "marker": styles[setting].marker}
        look["label"] = style.setting_name("act", setting)
        lines_by_difficulty(upper, own, "ponder_time", median=True, **look)
        handles.append(lines_by_difficulty(lower, own, "error", median=True, **look))
    if len(plain(rows)):
        look = {"color": style.INK, "marker": "x", "ls": ":", "label": PLAIN}
        lines_by_difficulty(upper, plain(rows), "ponder_time", median=True, **look)
        handles.append(lines_by_difficulty(lower, plain(rows), "error", median=True, **look))
    upper.set_ylabel("ponder: steps per input")
    label = card.difficulty[splits_of(table)[0]]
    lower.set(xlabel=f"difficulty: {label}", ylabel=card.unit, ylim=(0, None))
    highest = _most_steps(rows)
    if not highest > style.SQUEEZED and upper.get_ylim()[0] > 0.5:
        upper.set_ylim(bottom=min(1.0, upper.get_ylim()[0]) - 0.1)
    style.steps_axis(upper, highest, "y")
    style.difficulty_axis(lower, float(rows["difficulty"].min()), float(rows["difficulty"].max()))
    style.bottom_legend(figure, handles, 3, subset_note(shown, settings))
    return figure


def words(results: Results, experiment: str) -> str:
    """Medians at the easiest and the hardest inputs, best and highest penalty and plain.

    Where the error climbs is told by the difficulty from which on it has half its last value.
    """
    table = results.tables[experiment]
    rows, card = headline(table), results.cards[experiment]
    methods = best_methods(per_seed(rows), ("plain", "act"))
    highest = rows.loc[rows["mechanism"] == "act", "setting"].max()
    if methods and np.isfinite(highest) and highest != methods[-1].setting:
        methods.append(Method("act", "act", float(highest)))
    parts = []
    for method in methods:
        medians = method.of(rows).groupby("difficulty", as_index=False)
        medians = medians[["error", "ponder_time"]].median()
        first, last = medians.iloc[0], medians.iloc[-1]
        below = medians.loc[medians["error"] <= last["error"] / 2, "difficulty"]
        past = medians.loc[medians["difficulty"] > below.max(), "difficulty"]
        climb = f", at least half of it from {past.min():g} on" if len(past) else ""
        parts.append(
            f"{method.legend}: from {style.in_steps(first['ponder_time'])} and error "
            f"{style.error_text(first['error'], card)} at difficulty {first['difficulty']:g} to "
            f"{style.in_steps(last['ponder_time'])} and error "
            f"{style.error_text(last['error'], card)} at {last['difficulty']:g}{climb}"
        )
    return f"Medians over seeds. {'; '.join(parts)}." if parts else ""


def caption(results: Results, experiment: str) -> str:
    """What is drawn, and whether the mechanisms were trained equally long."""
    many = _most_steps(headline(results.tables[experiment])) > style.SQUEEZED
    axis = ", on an axis that doubles from tick to tick" if many else ""
    return (
        f"Steps per input (above{axis}) and error (below) against difficulty, one line for each "
        "time penalty: the median over seeds, in a band between their quartiles; dotted: the plain "
        f"network, without ACT. {unequal_training(results, (experiment,))}"
    )


def _most_steps(rows: pd.DataFrame) -> float:
    """The most steps that a seed of ACT took at any difficulty."""
    return float(rows.loc[rows["mechanism"] == "act", "ponder_time"].max())
