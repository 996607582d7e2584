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
    figure = Figure(figsize=(layout.WIDTH, 1.18 * len(chosen) + 0.15), layout="constrained")
    cells = figure.subplots(len(chosen), GALLERY_COLUMNS, squeeze=False)
    for axes in cells.flat:
        axes.set_axis_off()
    for row, (which, images) in zip(cells, chosen.items(), strict=True):
        for axes, image in zip(row, images, strict=False):
            step = image["steps"][0]
            axes.imshow(np.asarray(image["pixels"]), cmap="gray_r", vmin=0, vmax=255,
                        interpolation="nearest")  # fmt: skip
            wrong = step["prediction"] != step["target"]
            title = f"says {step['prediction']}{', is ' + step['target'] if wrong else ''}"
            title += f"\n{step['ponder_time']:.2f} steps"
            axes.set_title(title, loc="center", fontsize=8,
                           color=style.WRONG if wrong else style.INK)  # fmt: skip
        row[0].annotate(which, (-0.12, 0.5), xycoords="axes fraction", rotation=90,
                        ha="right", va="center", fontsize=9)  # fmt: skip
    first, *_ = next(iter(chosen.values()))
    method = Method(first["mechanism"], float(first["setting"]))
    figure.supxlabel(f"{method.legend}, seed {first['seed']}", fontsize=8)
    return figure


def gallery_traces(traces: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The images shown, by whether they took the most or the fewest steps, of one replica.

    PonderNet's where there are any, else ACT's: the first replica in the file.
    """
    images = [t for t in traces if t["kind"] == "image" and t["steps"]]
    for mechanism in ("pondernet", "act"):
        group = [t for t in images if t["mechanism"] == mechanism]
        if group:
            key = (group[0]["setting"], group[0]["seed"])
            found: dict[str, list[dict[str, Any]]] = {}
            for trace in (t for t in group if (t["setting"], t["seed"]) == key):
                found.setdefault(trace["which"], []).append(trace)
            return found
    return {}
