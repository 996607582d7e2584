"""Error against mean steps, a point a setting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import cycle

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from pondering.params.replica import read_variant
from pondering.report.figures import style
from pondering.report.figures.shapes.methods import method_of

VARIANT_MARKERS = ("*", "h", "p", "d", "<", ">")


def variant_markers(tables: Iterable[pd.DataFrame]) -> dict[str, str]:
    """A marker for each mechanism with options, by its name in the tables; mostly there is none."""
    there = {str(name) for table in tables for name in table["mechanism"].unique()}
    variants = sorted(name for name in there if read_variant(name)[1])
    return dict(zip(variants, cycle(VARIANT_MARKERS), strict=False))


def error_against_steps(
    axes: Axes, means: pd.DataFrame, markers: Mapping[str, str] | None = None
) -> None:
    """One point a setting, standard errors both ways; fixed repeats larger, under the others.

    Args:
        axes: where to draw.
        means: what `per_setting` gives.
        markers: of mechanisms with options, which have the colour of the mechanism.
    """
    known = means.dropna(subset=["ponder_time"])
    for row in known.itertuples():
        look = method_of(str(row.mechanism), float(row.setting)).look
        if markers and row.mechanism in markers:
            look["marker"] = markers[str(row.mechanism)]
        axes.errorbar(
            row.ponder_time, row.error, xerr=_bar(row.ponder_se), yerr=_bar(row.error_se), ls="",
            **look, ms=9 if row.mechanism == "repeat" else 5.5, elinewidth=1, capsize=0,
            mec=style.INK, mew=0.5, alpha=0.9, zorder=2 if row.mechanism == "repeat" else 3,
        )  # fmt: skip
    axes.margins(x=0.12, y=0.15)


def _bar(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
