"""The program that trains a replica, in five parts: task, cell, mechanism, network and loop.

A sixth, draws, is of replicas alone whose batches are drawn on the device.

The hash of a part covers the syntax trees of the files listed here. Comments, docstrings,
annotations, errors raised and imports within the package do not enter it, nor do the files' names.
A file that is listed nowhere decides no number of a training, or computes the same numbers in
another way. `model/paths/kernels` and `train/kernels.py` do so on a GPU: a replica's file records
its path, but the hash does not cover it. Task, cell and mechanism are found by their names, so a
new one changes no hash of the others.
"""

from __future__ import annotations

import ast
import csv
import functools
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pondering.project.errors import UserError

PACKAGE = Path(__file__).parents[1]
LISTED = {
    "task": ("tasks/base.py", "tasks/{}.py", "tasks/{}/*.py"),
    "cell": ("model/cells/base.py", "model/cells/{}.py"),
    "mechanism": ("model/halting/contract.py", "model/halting/readout.py", "model/halting/{}.py"),
    "network": (
        "model/network.py", "model/heads.py", "model/stacking.py", "model/initial.py",
        "model/paths/*.py", "model/paths/fast/*.py", "model/paths/compiled/**/*.py",
    ),
    "draws": ("train/draws/words.py", "train/draws/{}.py", "train/draws/stream.py"),
    "loop": (
        "train/trainer.py", "train/batches.py", "train/adam.py", "train/plateau.py",
        "train/build.py", "project/machine.py",  # which numbers count as zero
    ),
}  # fmt: skip
EVALUATION = (
    "evaluate/measure.py", "evaluate/traces.py", "evaluate/rules.py", "evaluate/exits.py",
    "model/halting/sampled.py", "model/halting/exits.py",
)  # fmt: skip
KEYS = {"task": "task.name", "cell": "network.cell"}
SAME = Path(__file__).with_name("same_program.csv")
UNSEEN = ("annotation", "returns", "type_comment", "kind")


def parts(
    task: str, cell: str, mechanism: str, package: Path = PACKAGE, draws: str = "host"
) -> dict[str, str]:
    """The hash of each part of a program.

    A hash that `same_program.csv` lists as new is given as the old one. The edit between the two
    left every number as it was, byte for byte.

    Args:
        task, cell, mechanism: their names in `params.yaml`.
        package: the folder of this package, or of another version of it.
        draws: where batches are drawn; those of the device have a part of their own.

    Raises:
        UserError: there is no file of such a name.
    """
    names = {"task": task, "cell": cell, "mechanism": mechanism, "draws": task}
    used = [part for part in LISTED if part != "draws" or draws == "device"]
    return {part: _first(_hash(package, part, names.get(part, ""))) for part in used}


def files(part: str, name: str = "", package: Path = PACKAGE) -> list[Path]:
    """The files of a part; `name` is that of the task, the cell or the mechanism."""
    return sorted(path for each in LISTED[part] for path in package.glob(each.format(name)))


def evaluation() -> str:
    """The hash of the program that measures a trained network, whose own parts are apart."""
    return _first(_digest([PACKAGE / name for name in EVALUATION]))


@functools.cache
def _hash(package: Path, part: str, name: str) -> str:
    listed = files(part, name, package)
    if name and not any(name in (path.stem, path.parent.name) for path in listed):
        pattern = next(each for each in LISTED[part] if "{}" in each).format(name)
        raise UserError(
            f"params.yaml: {KEYS.get(part, part)}: {name!r} is unknown; a {part} has a file of its "
            f"name, and there is no src/pondering/{pattern}"
        )
    return _digest(listed)


def _digest(paths: Iterable[Path]) -> str:
    """The hash of the syntax trees of files."""
    trees = sorted(_text(_tree(path)) for path in paths)
    return hashlib.sha256("\n".join(trees).encode()).hexdigest()


@functools.cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _text(node: Any) -> str:
    """A syntax tree as text, the same for every version of Python."""
    if isinstance(node, list):
        return f"[{','.join(_text(each) for each in node if not _says_nothing(each))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.Raise):
        return "Raise"
    fields = ((name, value) for name, value in ast.iter_fields(node) if name not in UNSEEN)
    inside = (f"{name}={_text(value)}" for name, value in fields if value not in (None, []))
    return f"{type(node).__name__}({','.join(inside)})"


def _says_nothing(node: Any) -> bool:
    """Whether it is a docstring, or an import within the package."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    module = node.module if isinstance(node, ast.ImportFrom) else None
    return module is not None and module.split(".")[0] == PACKAGE.name


@functools.cache
def _same_program() -> dict[str, str]:
    with SAME.open(encoding="utf-8", newline="") as file:
        return {row["new"]: row["old"] for row in csv.DictReader(file)}


def _first(sha256: str) -> str:
    same = _same_program()
    while sha256 in same:
        sha256 = same[sha256]
    return sha256
