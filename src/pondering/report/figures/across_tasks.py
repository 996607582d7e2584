"""Every mechanism on some tasks: error against ponder."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator

from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import read_variant
from pondering.report.figures import layout, scales, style
from pondering.report.figures.methods import ORDER, error_against_steps
from pondering.results.results import Results
from pondering.results.tables import headline, per_seed, per_setting, plain, splits_of

CAPTION = (
    "Final error against mean steps, a point a setting, with standard errors both ways. "
    "Hollow circles are the expectation under PonderNet's halting distribution."
)

VARIANT_MARKERS = ("*", "h", "p", "d", "<", ">")
"""Of mechanisms with options; mostly there is none."""


def draw(results: Results, experiments: Sequence[str], about: str | None = None) -> Figure | None:
    """A panel an experiment: every mechanism's error against its ponder.

    Args:
        results: the results of one profile.
        experiments: a panel each.
        about: the mechanism that the figure is about; experiments without it have no panel.

    Returns:
        The figure; None without a panel.
    """
    tables = {name: results.tables[name] for name in experiments if name in results.tables}
    tables = {n: each for n, each in tables.items() if about in (None, *each["mechanism"])}
    if not tables:
        return None
    columns = 2 if len(tables) > 1 else 1
    rows = -(-len(tables) // columns)
    height = 2.15 * rows if columns == 2 else 4.2  # beside a panel of all mechanisms, their names
    figure = Figure(figsize=(layout.WIDTH, height), layout="constrained")
    cells = figure.subplots(rows, columns, squeeze=False).ravel()
    every = pd.concat(tables.values())
    variants = sorted(name for name in every["mechanism"].unique() if read_variant(name)[1])
    markers = dict(zip(variants, cycle(VARIANT_MARKERS), strict=False))
    averaged: set[str] = set()
    for axes, (name, table) in zip(cells, tables.items(), strict=False):
        card = results.cards[name]
        error_against_steps(axes, per_setting(per_seed(headline(table))), markers)
        expected = _expected(table)
        for mechanism, mean in per_setting(per_seed(expected)).groupby("mechanism"):
            axes.plot(mean["ponder_time"], mean["error"], **style.look_of(str(mechanism)), ls="",
                      ms=8, mfc="none")  # fmt: skip
        averaged |= {*expected["mechanism"]}
        if card.is_share and len(tables) == 1:
            axes.set_yscale("symlog", linthresh=1e-3)
            axes.yaxis.set_major_locator(FixedLocator([0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1]))
            axes.set_ylim(bottom=0)
        elif card.is_share:
            scales.from_zero(axes)
        axes.set(xlabel="mean steps per input", ylabel=card.unit, title=card.title)
    for axes in cells[len(tables) :]:
        axes.set_axis_off()
    there = {*every["mechanism"], *(["plain"] if len(plain(every)) else [])}
    looks = [(style.name_of(name), style.look_of(name)) for name in ORDER if name in there]
    looks += [
        (f"{style.name_of(name)}, expectation", style.look_of(name) | {"mfc": "none"})
        for name in ORDER
        if name in averaged
    ]
    looks += [
        (style.name_of(name), style.look_of(name) | {"marker": marker})
        for name, marker in markers.items()
    ]
    handles = [Line2D([], [], **look, ls="", label=name) for name, look in looks]
    layout.bottom_legend(figure, handles, 2)
    return figure


def _expected(table: pd.DataFrame) -> pd.DataFrame:
    """The rows, without options, where outputs are averaged under the halting distribution."""
    rows = table[(table["split"] == splits_of(table)[0]) & (table["prediction"] == "expected")]
    return rows[rows["mechanism"].isin(MECHANISMS)]
