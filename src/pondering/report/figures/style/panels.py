"""A whole figure: its panels, heading and legend, and how it is saved with stable bytes."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure, FigureBase
from PIL import Image

from pondering.project.atomic import atomic_write
from pondering.report.figures.style.look import GREY, INK, SOFT, WARNING, WIDTH, style


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


def heading(figure: Figure, title: str, settings: str, warning: str = "") -> None:
    """Write title, settings and, in a warning colour, a stand-in note above all panels.

    The figure grows by the height of the text, so the panels keep theirs.
    """
    room = figure.get_figwidth() / WIDTH
    lines = [(line, "bold", INK, 10.0) for line in textwrap.wrap(title, int(55 * room))]
    lines += [(line, "bold", WARNING, 8.0) for line in _clipped(warning, int(68 * room))]
    lines += [(line, "normal", SOFT, 8.0) for line in _clipped(settings, int(80 * room))]
    tall = sum(size * 1.35 for *_, size in lines) / 72 + 0.1
    height = figure.get_figheight() + tall
    figure.set_figheight(height)
    top = height - 0.05
    for text, weight, colour, size in lines:
        figure.text(0.015, top / height, text, fontweight=weight, color=colour, fontsize=size,
                    ha="left", va="top", in_layout=False)  # fmt: skip
        top -= size * 1.35 / 72
    engine = figure.get_layout_engine()
    assert engine is not None
    engine.set(rect=(0.01, 0.01, 0.98, (height - tall) / height - 0.01))  # type: ignore[call-arg]
    engine.execute(figure)
    figure.set_layout_engine(None)  # settled: saving need not draw twice
    for axes in figure.axes:
        # the solver's last digits vary from call to call, and would show in the names inside an SVG
        left, bottom, width, height = axes.get_position(original=True).bounds
        axes.set_position((round(left, 5), round(bottom, 5), round(width, 5), round(height, 5)))


def _clipped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, max_lines=3, placeholder=" …") if text else []


def bottom_legend(
    figure: FigureBase, handles: Sequence[Any], columns: int, title: str = ""
) -> None:
    """A legend under all panels of a figure or a part of one, where it covers no data."""
    figure.legend(
        handles=list(handles), loc="outside lower center", ncols=columns, title=title or None,
        title_fontsize=8.0, handlelength=1.8, columnspacing=1.2, handletextpad=0.5,
    )  # fmt: skip


def mark_empty(figure: Figure) -> None:
    """Say so in every panel that has nothing to show, rather than leave bare axes."""
    for axes in figure.axes:
        if axes.axison and not axes.has_data():
            axes.text(0.5, 0.5, "no data", transform=axes.transAxes, ha="center", va="center",
                      color=GREY)  # fmt: skip


def save(figure: Figure, path_stem: str | Path) -> tuple[Path, Path]:
    """Write a figure as SVG, with its text as text, and as PNG; equal figures give equal bytes.

    Args:
        figure: what a figure function returned.
        path_stem: the path without its ending.

    Returns:
        The paths of the SVG and of the PNG.

    Raises:
        OSError: the folder cannot be written.
    """
    svg, png = paths_of(path_stem)
    write(figure, svg)
    write(figure, png)
    return svg, png


def write(figure: Figure, path: Path) -> None:
    """Write one file of a figure, SVG or PNG by the ending of its name; see `save`."""
    kind, content = path.suffix[1:], io.BytesIO()
    metadata: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
    with style():
        figure.savefig(content, format=kind, dpi=180, metadata=metadata)
    atomic_write(path, _in_few_colours(content) if kind == "png" else content.getvalue())


def _in_few_colours(picture: io.BytesIO) -> bytes:
    """A PNG in 256 colours, a third of its size.

    Maximum coverage keeps a colour that few pixels have, as of a thin line, which a cut at the
    median mixes with its neighbours; k-means then takes the tints out of its greys.
    """
    content, true = io.BytesIO(), Image.open(picture).convert("RGB")
    few = true.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
    few.save(content, "png", optimize=True)
    return content.getvalue()


def paths_of(path_stem: str | Path) -> tuple[Path, Path]:
    """The paths of a figure's SVG and PNG."""
    stem = Path(path_stem)
    return stem.with_name(f"{stem.name}.svg"), stem.with_name(f"{stem.name}.png")
