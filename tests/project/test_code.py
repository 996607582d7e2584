"""The address of a program: what an edit of a small package does to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pondering.project.code import Program

OTHER = "if True:\n    def double(x):\n        return 2 * x\nelse:\n    double = None\n"
OTHER += "try:\n    size = 3\nexcept ImportError:\n    size = 4\n"
HALF = "def double(x):\n    return x / 2\n"
ROOT = """
from package.other import double, size
def first():
    from package.other import double as change
    return change(size)
def second():
    from package.half import double as change
    return change(1)
"""


def address(folder: Path, root: str = "first", **files: str) -> str:
    """Of a function of `root.py`, in a package with one file or another in other words."""
    for name, text in ({"root": ROOT, "other": OTHER, "half": HALF} | files).items():
        (folder / f"{name}.py").write_text(text)
    return Program({"package": folder}).address([("package.root", root)])


def test_functions_of_one_file_import_different_things_under_one_name(tmp_path: Path) -> None:
    half = HALF.replace("/ 2", "/ 3")
    assert address(tmp_path, "second") != address(tmp_path, "second", half=half)
    assert address(tmp_path, "first") == address(tmp_path, "first", half=half)


@pytest.mark.parametrize(("old", "new"), [("2 * x", "3 * x"), ("size = 3", "size = 5")])
def test_what_stands_under_if_or_try_is_a_definition(tmp_path: Path, old: str, new: str) -> None:
    assert address(tmp_path) != address(tmp_path, other=OTHER.replace(old, new))


def test_a_root_that_is_not_defined_is_named(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match=r"package\.root\.third"):
        address(tmp_path, "third")
