"""Panels of a figure, its legend, and texts and points side by side."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

WIDTH = 5.0
"""Inches: 360 points, so that text keeps its printed size on a telephone 360 pixels wide."""


def new_figure(heights: Sequence[float], **subplots: Any) -> tuple[Figure, list[Axes]]:
    """A figure of panels stacked from top to bottom.

    Args:
        heights: the panels' heights in inches.
        subplots: passed on to `Figure.subplots`, for example sharex=True.

    Returns:
        The figure and its axes from the top.
    """
    # the legend and the lowest axis label take the same height however many panels there are
    figure = Figure(figsize=(WIDTH, float(sum(heights)) + 0.3), layout="constrained")
    ratios = {"height_ratios": list(heights)}
    axes = figure.subplots(len(heights), 1, squeeze=False, gridspec_kw=ratios, **subplots)
    return figure, list(axes[:, 0])


def bottom_legend(figure: Figure, handles: Sequence[Any], columns: int, title: str = "") -> None:
    """A legend under all panels of a figure, where it covers no data."""
    figure.legend(
        handles=list(handles), loc="outside lower center", ncols=columns, title=title or None,
        title_fontsize=8.0, handlelength=1.8, columnspacing=1.2, handletextpad=0.5,
    )  # fmt: skip


def row_above(
    axes: Axes, label: str, places: Sequence[float], texts: Sequence[str], size: float = 7.5
) -> list[Any]:
    """Short texts over the panel, each above its place, named at the left; returns them."""
    above: dict[str, Any] = {"textcoords": "offset points", "va": "bottom", "fontsize": size}
    axes.annotate(label, (0, 1), (-4, 2), xycoords="axes fraction", ha="right", **above)
    return [
        axes.annotate(text, (place, 1), (0, 2), xycoords=("data", "axes fraction"), ha="center",
                      **above)
        for place, text in zip(places, texts, strict=True)
    ]  # fmt: skip


def beside(place: float, values: Collection[Any], width: float) -> np.ndarray:
    """Places side by side for some points, `width` from the first to the last around `place`."""
    steps = np.linspace(-0.5, 0.5, len(values)) if len(values) > 1 else np.zeros(len(values))
    return place + width * steps
