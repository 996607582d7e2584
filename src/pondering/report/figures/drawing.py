"""Figures as files: all of a report at once, on every core."""

from __future__ import annotations

import io
import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure
from PIL import Image

from pondering.project.atomic import atomic_write
from pondering.report.figures.spec import FigureSpec
from pondering.report.figures.style import style
from pondering.results.results import Results

_held: list[Results] = []
"""The results that a drawing process reads; each process gets them once."""


def draw_all(
    figures: Sequence[FigureSpec], results: Results, folder: Path
) -> dict[str, tuple[int, int]]:
    """Draw the figures that the results allow; equal results give equal bytes.

    Args:
        figures: what to draw.
        results: of one profile.
        folder: gets ID.svg and ID.png of each.

    Returns:
        By id width and height, in points, of each figure that was drawn.

    Raises:
        OSError: the folder cannot be written.
    """
    with ProcessPoolExecutor(
        min(len(figures), os.cpu_count() or 1) or 1, initializer=_hold, initargs=(results,)
    ) as pool:
        drawn = list(pool.map(partial(_draw, folder=folder), figures))
    return {spec.id: size for spec, size in zip(figures, drawn, strict=True) if size}


def _hold(results: Results) -> None:
    """Prepare a drawing process. It exits with its parent, even when the parent is killed."""
    _held[:] = [results]
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
    os._exit(1)


def _draw(spec: FigureSpec, folder: Path) -> tuple[int, int] | None:
    """Write a figure's files. Returns width and height in points, None without data."""
    figure = spec.draw(_held[0])
    if figure is None:
        return None
    save(figure, folder / spec.id)
    width, height = figure.get_size_inches()
    return round(72 * width), round(72 * height)


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
    stem = Path(path_stem)
    svg, png = (stem.with_name(f"{stem.name}.{kind}") for kind in ("svg", "png"))
    atomic_write(svg, _rendered(figure, "svg", {"Date": None}).getvalue())
    atomic_write(png, _in_few_colours(_rendered(figure, "png", {"Software": None})))
    return svg, png


def _rendered(figure: Figure, kind: str, metadata: dict[str, Any]) -> io.BytesIO:
    content = io.BytesIO()
    with style():
        figure.savefig(content, format=kind, dpi=180, metadata=metadata)
    return content


def _in_few_colours(picture: io.BytesIO) -> bytes:
    """A PNG in 256 colours, a third of its size.

    Maximum coverage keeps the colours of thin lines, which few pixels have. A median cut would mix
    them with their neighbours. K-means then removes tints from the greys.
    """
    content, true = io.BytesIO(), Image.open(picture).convert("RGB")
    few = true.quantize(256, Image.Quantize.MAXCOVERAGE, kmeans=1, dither=Image.Dither.NONE)
    few.save(content, "png", optimize=True)
    return content.getvalue()
