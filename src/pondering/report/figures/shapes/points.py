"""Error against mean steps, a point a setting."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from pondering.report.figures import style
from pondering.report.figures.shapes.methods import method_of


def error_against_steps(axes: Axes, means: pd.DataFrame) -> None:
    """One point a setting, standard errors both ways."""
    known = means.dropna(subset=["ponder_time"])
    for row in known.itertuples():
        method = method_of(str(row.mechanism), float(row.setting))
        axes.errorbar(
            row.ponder_time, row.error, xerr=_bar(row.ponder_se), yerr=_bar(row.error_se), ls="",
            **method.look, ms=6, elinewidth=1, capsize=0, mec=style.INK, mew=0.5,
            alpha=0.9,
        )  # fmt: skip
    axes.margins(x=0.12, y=0.15)


def _bar(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
