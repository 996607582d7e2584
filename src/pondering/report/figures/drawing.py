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

from matplotlib.figure import Figure

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
        folder: gets ID.svg of each.

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
    """Write a figure's file. Returns width and height in points, None without data."""
    figure = spec.draw(_held[0])
    if figure is None:
        return None
    save(figure, folder / f"{spec.id}.svg")
    width, height = figure.get_size_inches()
    return round(72 * width), round(72 * height)


def save(figure: Figure, path: Path) -> None:
    """Write a figure as SVG, with its text as text; equal figures give equal bytes.

    Raises:
        OSError: the folder cannot be written.
    """
    content = io.BytesIO()
    with style():
        figure.savefig(content, format="svg", dpi=180, metadata={"Date": None})
    atomic_write(path, content.getvalue())
