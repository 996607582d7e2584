"""Source files as syntax trees: what each of them defines and imports, and where a name leads."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

Place = tuple[str, str]  # a module and a name in it; the name "" is all of the module
DEFINITION = ast.FunctionDef | ast.ClassDef
SCOPES = (  # what has names of its own
    ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp,
)  # fmt: skip


class Module:
    """The definitions and imports of one file.

    Args:
        name: of the module, with dots.
        path: of its file.
    """

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        tree = ast.parse(path.read_text(encoding="utf-8"))
        self.imports = imports(tree)
        self.definitions: dict[str, list[ast.stmt]] = {}
        self.effects: list[ast.stmt] = []  # statements that do something when it is imported
        for statement in tree.body:
            self._note(statement)

    def _note(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
                return
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                return
        names = _bound(statement)
        for name in names:
            self.definitions.setdefault(name, []).append(statement)
        only_defines = isinstance(statement, DEFINITION | ast.Assign | ast.AnnAssign)
        if not (names and only_defines):  # such as `if` or `try`, with names in it or without
            self.effects.append(statement)


class Sources:
    """The files of packages and of folders with scripts.

    Args:
        folders: name of a package or a folder of scripts -> its folder.
    """

    def __init__(self, folders: dict[str, Path]) -> None:
        self._folders = folders
        self._read: dict[str, Module | None] = {}

    @cached_property
    def _paths(self) -> dict[str, Path]:
        """The files, by the name of their module."""
        found = {}
        for top, folder in self._folders.items():
            for path in folder.rglob("*.py"):
                parts = path.relative_to(folder).with_suffix("").parts
                found[".".join((top, *parts)).removesuffix(".__init__")] = path
        return found

    def module(self, name: str) -> Module | None:
        """A module of these folders; None for any other."""
        if name not in self._read:
            path = self._paths.get(name)
            self._read[name] = Module(name, path) if path else None
        return self._read[name]

    def find(self, module: str, name: str) -> Place | str:
        """Where a name that a module knows is defined; the whole name of what is not in here."""
        home = self.module(module)
        if home is None:
            return f"{module}.{name}"
        if name in home.definitions:
            return module, name
        if name in home.imports:
            return self.imported(home.imports[name])
        return (f"{module}.{name}", "") if self.module(f"{module}.{name}") else name

    def imported(self, place: Place) -> Place | str:
        """Where what is imported from a place is defined; else its whole name, as `find`."""
        module, name = place
        if not name:
            return place if self.module(module) else module
        inner = f"{module}.{name}"
        return (inner, "") if self.module(inner) else self.find(module, name)

    def table(self, place: Place) -> dict[str, Place]:
        """A dictionary that a module defines: key as written -> where its value is."""
        module = self.module(place[0])
        assert module is not None
        found = {}
        for node in ast.walk(module.definitions[place[1]][-1]):
            if isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    at = self.find(place[0], ast.unparse(value))
                    if key and isinstance(at, tuple):
                        found[ast.unparse(key)] = at
        return found

    def defaults(self, place: Place) -> dict[str, Any]:
        """The fields of a class that have plain defaults, as written: name -> default."""
        module = self.module(place[0])
        assert module is not None
        found = {}
        for node in ast.walk(module.definitions[place[1]][-1]):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                with contextlib.suppress(ValueError):  # such as `field(...)`
                    found[node.target.id] = ast.literal_eval(node.value)
        return found


def imports(scope: ast.AST) -> dict[str, Place]:
    """What a module or a function imports, functions within it left out: a name -> its place."""
    found = {}
    for node in _within(scope):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = node.module, alias.name
        elif isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                found[alias.asname or top] = alias.name if alias.asname else top, ""
    return found


def _bound(statement: ast.stmt) -> list[str]:
    """The names that a statement of a module gives a value there."""
    if isinstance(statement, DEFINITION):
        return [statement.name]
    if isinstance(statement, ast.AugAssign):  # of a name that has one: an effect
        return []
    found = []
    for node in _within(statement):
        if isinstance(node, DEFINITION):
            found.append(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.append(node.id)
    return list(dict.fromkeys(found))


def _within(scope: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one, without what lies in functions and comprehensions among them."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, SCOPES):
            yield from _within(node)
