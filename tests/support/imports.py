"""What a Python file imports, also in its functions and for type checks."""

from __future__ import annotations

import ast
import sys
from functools import cache
from pathlib import Path


@cache
def imports_of(path: Path) -> frozenset[tuple[str, str]]:
    """(module, name) of every import of a file."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, f"{path.name}: a relative import"
            found |= {(node.module, alias.name) for alias in node.names}
    return frozenset(found)


def packages_of(path: Path) -> set[str]:
    """The packages that a file imports, without those of Python's own library."""
    return {module.partition(".")[0] for module, _ in imports_of(path)} - sys.stdlib_module_names
