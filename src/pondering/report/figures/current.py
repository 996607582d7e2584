"""Which figures are drawn already: by a hash of their program and of all that they read."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import matplotlib as mpl

from pondering.project.atomic import sha256_file
from pondering.project.code import Place, Program
from pondering.project.provenance import hash_values
from pondering.report.figures.spec import FigureSpec
from pondering.results.results import Results

PACKAGE = Path(__file__).parents[2]
TOP = PACKAGE.name
COMMON = (
    (f"{TOP}.report.figures.spec", "FigureSpec"),
    (f"{TOP}.report.figures.style", "save"),
)
IN_WORDS = ("words", "caption")  # beside a figure, not in it


def figure_key(spec: FigureSpec, results: Results) -> str | None:
    """A hash that changes wherever the drawing of a figure could change.

    Args:
        spec: the figure.
        results: what it is drawn from.

    Returns:
        The hash of the program that draws it, of matplotlib's version, of its texts and of the
        files of its experiments. None for results that were not read from files.
    """
    there = [name for name in spec.experiment if name in results.tables or name in results.hashes]
    if any(name not in results.hashes for name in there):
        return None
    own = [spec.paper, spec.number, spec.title, spec.experiment, dict(spec.values), spec.most_seeds]
    read = [[name, results.hashes[name]] for name in there]
    program = _address(getattr(spec.family, "__name__"))  # noqa: B009, a module
    return hash_values([program, mpl.__version__, results.profile, own, read])


def seal(key: str, files: tuple[Path, Path]) -> str | None:
    """What is noted of a drawn figure: a hash of its key and of its files; None without them."""
    if not all(file.is_file() for file in files):
        return None
    return hash_values([key, *map(sha256_file, files)])


def read_seals(path: Path) -> dict[str, str]:
    """The seals by figure, as the last report noted them; none where they cannot be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


@functools.cache
def _address(family: str) -> str:
    """The program that draws the figures of a family, without what puts them into words."""
    return _program().address((*COMMON, (family, "draw")), spare=_unseen, members=_drawn)


@functools.cache
def _program() -> Program:
    return Program({TOP: PACKAGE})


def _unseen(place: Place) -> bool:
    return place[0].startswith(f"{TOP}.project")


def _drawn(place: Place, name: str) -> bool:
    return place != COMMON[0] or name not in IN_WORDS
