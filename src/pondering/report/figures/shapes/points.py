"""Error against mean steps, a point a setting."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from pondering.report.figures import style
from pondering.report.figures.shapes.methods import Method


def error_against_steps(axes: Axes, means: pd.DataFrame) -> None:
    """One point a setting, standard errors both ways."""
    known = means.dropna(subset=["ponder_time"])
    for row in known.itertuples():
        name = "plain" if row.mechanism == "repeat" and row.setting == 1 else str(row.mechanism)
        axes.errorbar(
            row.ponder_time, row.error, xerr=_bar(row.ponder_se), yerr=_bar(row.error_se), ls="",
            **Method(name, name, 1.0).look, ms=6, elinewidth=1, capsize=0, mec=style.INK, mew=0.5,
            alpha=0.9,
        )  # fmt: skip
    axes.margins(x=0.12, y=0.15)


def _bar(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
