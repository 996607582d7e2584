"""Ponder and error by difficulty: Graves 2016, Figs. 6, 10, 14 and 19."""

from __future__ import annotations

from matplotlib.figure import Figure

from pondering.report.figures import layout, scales, style
from pondering.report.figures.learning import PLAIN, subset_note
from pondering.report.figures.methods import lines_by_difficulty
from pondering.results.results import Results
from pondering.results.tables import headline, plain, splits_of

CAPTION = (
    "Steps per input (above) and error (below) by difficulty, a line a time penalty. Lines "
    "are medians over seeds, in bands between their quartiles."
)


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
    figure, (upper, lower) = layout.new_figure([2.2, 2.2], sharex=True)
    handles = []
    for setting in shown:
        group = act[act["setting"] == setting]
        look = styles[setting] | {"label": style.setting_symbol("act", setting)}
        lines_by_difficulty(upper, group, "ponder_time", median=True, **look)
        handles.append(lines_by_difficulty(lower, group, "error", median=True, **look))
    if len(plain(rows)):
        look = {"color": style.INK, "marker": "x", "ls": ":", "label": PLAIN}
        lines_by_difficulty(upper, plain(rows), "ponder_time", median=True, **look)
        handles.append(lines_by_difficulty(lower, plain(rows), "error", median=True, **look))
    upper.set_ylabel("ponder: steps per input")
    label = card.difficulty[splits_of(table)[0]]
    lower.set(xlabel=f"difficulty: {label}", ylabel=card.unit, ylim=(0, None))
    highest = float(act["ponder_time"].max())
    if not highest > scales.SQUEEZED and upper.get_ylim()[0] > 0.5:
        upper.set_ylim(bottom=min(1.0, upper.get_ylim()[0]) - 0.1)
    scales.steps_axis(upper, highest, "y")
    scales.difficulty_axis(lower, rows)
    layout.bottom_legend(figure, handles, 3, subset_note(shown, settings))
    return figure
