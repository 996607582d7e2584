"""The digits that took the most and the fewest steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pondering.report.figures import layout, style
from pondering.report.figures.methods import Method
from pondering.results.results import Results

GALLERY_COLUMNS = 6

CAPTION = (
    "Test digits of one network: what it says they are, purple where wrong, and its steps. "
    "PonderNet's are the expected steps."
)


def draw(results: Results, experiment: str) -> Figure | None:
    """Digits that took the most steps above those that took the fewest.

    Args:
        results: the results of one profile.
        experiment: whose traces.

    Returns:
        The figure: over each digit the prediction, where wrong with the label, and its steps. None
        without images.
    """
    chosen = gallery_traces(results.traces.get(experiment, []))
    if not chosen:
        return None
    kinds = [which for which in ("most", "fewest") if any(t["which"] == which for t in chosen)]
    figure = Figure(figsize=(layout.WIDTH, 1.18 * len(kinds) + 0.15), layout="constrained")
    cells = figure.subplots(len(kinds), GALLERY_COLUMNS, squeeze=False)
    for row, which in enumerate(kinds):
        images = [t for t in chosen if t["which"] == which]
        for column, axes in enumerate(cells[row]):
            axes.set_axis_off()
            if column >= len(images):
                continue
            step = images[column]["steps"][0]
            axes.imshow(np.asarray(images[column]["pixels"]), cmap="gray_r", vmin=0, vmax=255,
                        interpolation="nearest")  # fmt: skip
            wrong = step["prediction"] != step["target"]
            title = f"says {step['prediction']}{', is ' + step['target'] if wrong else ''}"
            title += f"\n{step['ponder_time']:.2f} steps"
            axes.set_title(title, loc="center", fontsize=8,
                           color=style.WRONG if wrong else style.INK)  # fmt: skip
        cells[row][0].annotate(which, (-0.12, 0.5), xycoords="axes fraction", rotation=90,
                               ha="right", va="center", fontsize=9)  # fmt: skip
    first = chosen[0]
    method = Method(first["mechanism"], float(first["setting"]))
    figure.supxlabel(f"{method.legend}, seed {first['seed']}", fontsize=8)
    return figure


def gallery_traces(traces: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The images shown, of one replica: PonderNet's where there are any, then ACT's.

    The first replica in the file, and of either kind as many images as a row of the figure holds.
    """
    images = [t for t in traces if t["kind"] == "image" and t["steps"]]
    for mechanism in ("pondernet", "act"):
        group = [t for t in images if t["mechanism"] == mechanism]
        if group:
            key = (group[0]["setting"], group[0]["seed"])
            group = [t for t in group if (t["setting"], t["seed"]) == key]
            rows = [[t for t in group if t["which"] == which] for which in ("most", "fewest")]
            return [t for row in rows for t in row[:GALLERY_COLUMNS]]
    return []
