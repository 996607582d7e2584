"""The address of a program: what an edit of a small package does to it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from pondering.project.code import Program
from pondering.project.code.normal import normal
from pondering.project.code.sources import Sources

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


@pytest.mark.parametrize(
    "text",
    [
        "f'{x}: {y!r}, {z:>{width}}'",
        "f\"{', '.join(x)}\"",
        "f\"{x}{(f' ({y})' if y else '')}\"",
        "f'''{x or 'none'}: \"{y}\"'''",
        "f''",
    ],
)
def test_an_f_string_has_one_form_in_every_python(text: str) -> None:
    """Python 3.12 unparses it with quotes inside it that 3.11 could not read."""
    (statement,) = ast.parse(f"def _(x, y, z, width):\n    return {text}").body
    assert normal(statement, "module", Sources({}), frozenset()).text.endswith(f"return {text}")
