"""Methods side by side: each at its best setting, with the seeds that say how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from pondering.params.mechanisms import MECHANISMS, is_plain
from pondering.report.figures import layout, style
from pondering.results.results import Card
from pondering.results.tables import best_setting, plain

ORDER = ("plain", *MECHANISMS)
COMPARED = ("plain", "act", "pondernet")
"""What Banino 2021 compares."""
TRAINED_FOR_IT = ("repeat", "act", "pondernet")
"""The mechanisms that such a comparison must have trained; a plain network is a repeat."""


@dataclass(frozen=True)
class Method:
    """One method of a comparison: a mechanism, with options or without, at one setting."""

    mechanism: str
    setting: float

    @property
    def name(self) -> str:
        """Its mechanism; a fixed repeat of one step is "plain", the plain network."""
        return "plain" if is_plain(self.mechanism, self.setting) else self.mechanism

    @property
    def label(self) -> str:
        """Name and setting on two lines, for an axis."""
        if self.name == "plain":
            return "plain\nnetwork"
        return f"{self.title}\n{self.symbol}"

    @property
    def title(self) -> str:
        """Its name: ACT, or of a variant ACT, halt_bias -3."""
        return style.name_of(self.name)

    @property
    def symbol(self) -> str:
        """The setting with its symbol, as lambda_p = 0.2."""
        return style.setting_symbol(self.mechanism, self.setting)

    @property
    def legend(self) -> str:
        """Name and setting on one line, for a legend."""
        return self.title if self.name == "plain" else f"{self.title}, {self.symbol}"

    @property
    def look(self) -> dict[str, Any]:
        """Colour and marker of the method, for a variant those of its mechanism."""
        return style.look_of(self.name)

    def of(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows of this method in any table."""
        return rows[(rows["mechanism"] == self.mechanism) & (rows["setting"] == self.setting)]


def counted(rows: pd.DataFrame, card: Card) -> pd.DataFrame:
    """Rows with the errors that enter means: of diverged ones 1 where it is a share, else NaN."""
    return rows.assign(error=rows["error"].where(card.is_share | (rows["status"] != "diverged")))


def best_methods(seeds: pd.DataFrame, names: Sequence[str]) -> list[Method]:
    """The methods present, each at the setting with the lowest mean error over seeds.

    Args:
        seeds: what `per_seed` gives, of the split that chooses.
        names: the methods wanted, "plain" or mechanisms; a repeat has more than one step.

    Returns:
        The methods that have rows, in the order of `names`.
    """
    found, pondering = [], seeds.drop(plain(seeds).index)
    there = {"plain", *pondering["mechanism"]}
    for name in (each for each in names if each in there):
        if name == "plain":
            method = Method("repeat", 1.0)
            if len(method.of(seeds)):
                found.append(method)
        elif (setting := best_setting(pondering, name)) is not None:
            found.append(Method(name, setting))
    return found


def boxes(
    axes: Axes, groups: Sequence[np.ndarray], places: Sequence[float], colour: str,
    vertical: bool = True,
) -> None:  # fmt: skip
    """Boxes of quartiles with every value as a point beside its neighbours."""
    line = {"color": style.INK, "linewidth": 1.1}
    axes.boxplot(
        [*groups], positions=[*places], widths=0.6, showfliers=False, manage_ticks=False,
        orientation="vertical" if vertical else "horizontal", patch_artist=True,
        boxprops={"facecolor": colour, "alpha": 0.35, "edgecolor": colour},
        medianprops={"color": style.INK, "linewidth": 1.8}, whiskerprops=line, capprops=line,
    )  # fmt: skip
    for place, values in zip(places, groups, strict=True):
        beside = layout.beside(place, values, 0.4)
        x, y = (beside, values) if vertical else (values, beside)
        crowded = len(groups) > 12
        axes.scatter(x, y, s=3 if crowded else 10, color=style.INK, lw=0, zorder=3,
                     alpha=0.4 if crowded else 0.65)  # fmt: skip


def lines_by_difficulty(
    axes: Axes,
    rows: pd.DataFrame,
    value: str,
    median: bool = False,
    **look: Any,
) -> Line2D:
    """Mean over seeds against difficulty, a band of one standard error either side.

    Without a line (ls="") the standard errors are bars.

    Args:
        axes: where to draw.
        rows: evaluation rows of one method and split.
        value: the column.
        median: the median over seeds in a band between their quartiles, in place of the mean.
        look: colour, marker, line style, label.

    Returns:
        The line, for a legend.
    """
    grouped = rows.groupby("difficulty")[value]
    middle, error = grouped.mean(), grouped.sem()
    low, high = middle - error, middle + error
    if median:
        middle, low, high = grouped.median(), grouped.quantile(0.25), grouped.quantile(0.75)
    x = middle.index.to_numpy(dtype=float)
    size = 4.5 if len(x) <= 24 else 0
    (line,) = axes.plot(x, middle.to_numpy(), **{"markersize": size, **look})
    if look.get("ls") == "":
        axes.errorbar(x, middle.to_numpy(), error.to_numpy(), fmt="none", ecolor=look["color"])
    else:
        axes.fill_between(x, low.to_numpy(), high.to_numpy(),
                          color=look["color"], alpha=0.1, linewidth=0)  # fmt: skip
    return line


def error_against_steps(axes: Axes, means: pd.DataFrame, markers: Mapping[str, str]) -> None:
    """One point a setting, standard errors both ways; fixed repeats larger, under the others.

    Args:
        axes: where to draw.
        means: what `per_setting` gives.
        markers: of mechanisms with options, which have the colour of the mechanism.
    """
    known = means.dropna(subset=["ponder_time"])
    for row in known.itertuples():
        look = Method(str(row.mechanism), float(row.setting)).look
        if row.mechanism in markers:
            look["marker"] = markers[str(row.mechanism)]
        bars = [value if np.isfinite(value) else None for value in (row.ponder_se, row.error_se)]
        axes.errorbar(
            row.ponder_time, row.error, xerr=bars[0], yerr=bars[1], ls="",
            **look, ms=9 if row.mechanism == "repeat" else 5.5, elinewidth=1, capsize=0,
            mec=style.INK, mew=0.5, alpha=0.9, zorder=2 if row.mechanism == "repeat" else 3,
        )  # fmt: skip
    axes.margins(x=0.12, y=0.15)
