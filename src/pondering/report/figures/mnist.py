"""Figures of the handwritten digits: accuracy and steps by angle and by class, and a gallery."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from pondering.report.figures import style
from pondering.report.figures.methods import (
    Method,
    accuracy,
    best_methods,
    lines_by_difficulty,
    ponder,
)
from pondering.results.aggregates import evaluated, per_seed
from pondering.results.results import Results

COMPARED = ("plain", "act", "pondernet")
GALLERY_COLUMNS = 6


def figure_range(results: Results) -> Figure | None:
    """Accuracy and steps by range of rotation. Source: the public MNIST notebook."""
    table = results.tables.get("mnist_rotated")
    return accuracy_and_steps(table, "range", "rotated by up to (degrees)")


def figure_angle(results: Results) -> Figure | None:
    """Accuracy and steps at fixed angles, on a finer grid than the public notebook's bounds."""
    table = results.tables.get("mnist_rotated")
    return accuracy_and_steps(table, "angle", "rotated by exactly (degrees)")


def figure_classes(results: Results) -> Figure | None:
    """Accuracy and steps by class on upright digits."""
    return accuracy_and_steps(results.tables.get("mnist"), "test", "class of the digit")


def figure_gallery(results: Results) -> Figure | None:
    """The upright digits that took the most and the fewest steps."""
    return gallery(results.traces.get("mnist"))


def accuracy_and_steps(table: pd.DataFrame | None, split: str, label: str) -> Figure | None:
    """Accuracy above and ponder steps below, for each method at its best setting.

    Args:
        table: evaluation rows of one experiment, or None.
        split: range, angle or test.
        label: name of the difficulty, the label of the shared axis.

    Returns:
        The figure, axes linear: lines are means over seeds, bands one standard error either side;
        classes have no order, so by class these are points and whiskers. None without rows of the
        split.
    """
    rows = None if table is None else evaluated(table, split=split)
    if rows is None or rows.empty or table is None:
        return None
    methods = best_methods(per_seed(choosing_rows(table)), COMPARED)
    if not methods:
        return None
    figure, (upper, lower) = style.new_figure([2.2, 2.0], sharex=True)
    handles = []
    for index, method in enumerate(methods):
        own, look = method.of(rows), method.look
        if split == "test":
            # classes have no order: no line joins them, and the methods stand side by side
            beside = own["difficulty"] + 0.2 * (index - (len(methods) - 1) / 2)
            own, look = own.assign(difficulty=beside), {**look, "ls": ""}
        lines_by_difficulty(upper, own, accuracy, **look)
        handles.append(lines_by_difficulty(lower, own, ponder, **look, label=method.legend))
    upper.set_ylabel("accuracy")
    lower.set(ylabel="ponder steps", xlabel=label)
    ticks = np.sort(rows["difficulty"].unique())
    if len(ticks) <= 10:
        lower.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    elif split == "angle":
        lower.xaxis.set_major_locator(MultipleLocator(45))
    style.bottom_legend(figure, handles, 2)
    return figure


def choosing_rows(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that choose a method's setting: rotations as in training, or all there are."""
    rows = evaluated(table)
    ranges = rows[rows["split"] == "range"]
    if len(ranges):
        return ranges[ranges["difficulty"] == ranges["difficulty"].min()]
    return rows


def gallery(traces: Sequence[dict[str, Any]] | None) -> Figure | None:
    """Digits that took the most steps above those that took the fewest.

    Args:
        traces: all traces of an experiment, or None.

    Returns:
        The figure: over each digit its steps and, where wrong, the prediction and the label. None
        without images.
    """
    chosen = gallery_traces(traces or [])
    if not chosen:
        return None
    kinds = [which for which in ("most", "fewest") if any(t["which"] == which for t in chosen)]
    figure = Figure(figsize=(style.WIDTH, 1.18 * len(kinds) + 0.15), layout="constrained")
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
            title = f"{step['ponder_time']:.3g} steps\n{step['prediction']}"
            title += f", is {step['target']}" if wrong else ""
            axes.set_title(title, loc="center", fontsize=8,
                           color=style.WRONG if wrong else style.INK)  # fmt: skip
        cells[row][0].annotate(which, (-0.12, 0.5), xycoords="axes fraction", rotation=90,
                               ha="right", va="center", fontsize=9)  # fmt: skip
    first = chosen[0]
    method = Method(first["mechanism"], first["mechanism"], float(first["setting"]))
    figure.supxlabel(f"{method.legend}, seed {first['seed']}", fontsize=8)
    return figure


def gallery_traces(traces: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The images shown, of one replica: PonderNet's where there are any, then ACT's.

    The first replica in the file, and of either kind as many images as a row of the figure holds.
    """
    images = [t for t in traces if t["kind"] == "image" and t["steps"]]
    for mechanism in ("pondernet", "act"):
        own = [t for t in images if t["mechanism"] == mechanism]
        if own:
            key = (own[0]["setting"], own[0]["seed"])
            own = [t for t in own if (t["setting"], t["seed"]) == key]
            rows = [[t for t in own if t["which"] == which] for which in ("most", "fewest")]
            return [t for row in rows for t in row[:GALLERY_COLUMNS]]
    return []
