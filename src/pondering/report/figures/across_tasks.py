"""Every mechanism on some tasks: error against ponder."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from pondering.params.mechanisms import MECHANISMS
from pondering.report.figures import style
from pondering.report.figures.shapes.methods import CHOOSING, ORDER, Method, best_methods
from pondering.report.figures.shapes.points import error_against_steps, variant_markers
from pondering.report.figures.shapes.training_length import unequal_training, updates_in_short
from pondering.results.results import Results
from pondering.results.tables import headline, per_seed, per_setting, splits_of


def draw(results: Results, experiments: Sequence[str], about: str | None = None) -> Figure | None:
    """A panel an experiment: every mechanism's error against its ponder.

    Args:
        about: the mechanism that the figure is about; experiments without it have no panel.
    """
    present = _present(results, experiments, about)
    if not present:
        return None
    columns = 2 if len(present) > 1 else 1
    rows = -(-len(present) // columns)
    height = 2.15 * rows if columns == 2 else 4.2  # beside a panel of all mechanisms, their names
    figure = Figure(figsize=(style.WIDTH, height), layout="constrained")
    cells = figure.subplots(rows, columns, squeeze=False).ravel()
    markers = variant_markers(results.tables[name] for name in present)
    for axes, name in zip(cells, present, strict=False):
        table, card = results.tables[name], results.cards[name]
        error_against_steps(axes, per_setting(per_seed(headline(table))), markers)
        _expectations(axes, table)
        if card.is_share and len(present) == 1:
            style.share_with_zero_axis(axes)
        elif card.is_share:
            style.from_zero(axes)
        axes.set(xlabel="mean steps per input", ylabel=card.unit)
        spent = updates_in_short(results, name)
        axes.set_title(f"{card.title}\n" if spent else card.title)
        # to the left there is more room: on the right begins the next panel's label
        axes.annotate(spent, (1, 1), (0, 4), xycoords="axes fraction", fontsize=7.5, ha="right",
                      color=style.GREY, textcoords="offset points")  # fmt: skip
    for axes in cells[len(present) :]:
        axes.set_axis_off()
    rows = pd.concat([results.tables[each] for each in present])
    there = set(map(str, rows["mechanism"]))
    if ((rows["mechanism"] == "repeat") & (rows["setting"] == 1)).any():
        there.add("plain")
    handles = [
        Line2D([], [], **Method(name, name, 1.0).look, ls="", label=style.MECHANISM_NAME[name])
        for name in ORDER
        if name in there
    ]
    averaged = {str(n) for e in present for n in _expected(results.tables[e])["mechanism"]}
    for name in (each for each in ORDER if each in averaged):
        look, label = Method(name, name, 1.0).look, f"{style.MECHANISM_NAME[name]}, expectation"
        handles.append(Line2D([], [], **look, ls="", mfc="none", label=label))
    for name, marker in markers.items():
        method = Method(name, name, 1.0)
        look = method.look | {"marker": marker}
        handles.append(Line2D([], [], **look, ls="", label=method.title))
    style.bottom_legend(figure, handles, 2)
    return figure


def words(results: Results, experiments: Sequence[str], about: str | None = None) -> str:
    """Error and steps of ACT, PonderNet and the like at their best settings, by task."""
    parts, present = [], _present(results, experiments, about)
    for name in present:
        seeds, card = per_seed(headline(results.tables[name])), results.cards[name]
        wanted = [each for each in CHOOSING if each != "plain"]
        wanted += variant_markers([seeds])
        for method in best_methods(seeds, wanted):
            own = method.of(seeds)
            error = style.error_text(own["error"].mean(), card)
            unit = "" if card.is_share else f" {card.unit}"
            steps = style.in_steps(own["ponder_time"].mean())
            where = f"{card.title}, " if len(present) > 1 else ""
            parts.append(f"{where}{method.legend}: {error}{unit} with {steps}")
    return f"Mean error: {'; '.join(parts)}." if parts else ""


def caption(results: Results, experiments: Sequence[str], about: str | None = None) -> str:
    """What is drawn, and whether the mechanisms were trained equally long."""
    present = _present(results, experiments, about)
    shares = all(results.cards[each].is_share for each in present)
    scale = ", above 0.1% on a logarithmic scale" if shares and len(present) == 1 else ""
    text = "; bits per character, on an axis that does not start at zero, for the text"
    return (
        f"Final error against mean steps per input{scale}, one point a setting, standard errors "
        f"both ways{'' if shares else text}. PonderNet's "
        "halting is sampled; hollow circles are its expectation. "
        f"{unequal_training(results, present, tuple(MECHANISMS))}"
    )


def _present(results: Results, experiments: Sequence[str], about: str | None) -> list[str]:
    """The experiments with results, of the mechanism that the figure is about if there is one."""
    tables = {name: results.tables[name] for name in experiments if name in results.tables}
    return [n for n, each in tables.items() if about is None or about in set(each["mechanism"])]


def _expected(table: pd.DataFrame) -> pd.DataFrame:
    """The rows, without options, where outputs are averaged under the halting distribution."""
    rows = table[(table["split"] == splits_of(table)[0]) & (table["prediction"] == "expected")]
    return rows[rows["mechanism"].isin(MECHANISMS)]


def _expectations(axes: Axes, table: pd.DataFrame) -> None:
    """Hollow markers at the expectation of what is else evaluated by sampled halting."""
    means = per_setting(per_seed(_expected(table)))
    for mechanism, own in means.groupby("mechanism"):
        look = Method(str(mechanism), str(mechanism), 1.0).look
        axes.plot(own["ponder_time"], own["error"], **look, ls="", ms=8, mfc="none")
