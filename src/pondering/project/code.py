"""The address of a program: a hash that changes only where what the program does could change.

A definition (a class, a function, a constant of a module) is read as a syntax tree, with all
definitions that it refers to, directly or not. Comments, docstrings, annotations, formatting, the
names of files and functions and the way something is imported leave the hash as it is; a changed
constant, another operation or another imported function change it. Nothing is run or imported.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

Place = tuple[str, str]  # a module and a name in it; the name "" is all of the module
DEFINITION = ast.FunctionDef | ast.ClassDef
REFERENCE = re.compile(r"\b_reference_(\d+)_\b")


class Module:
    """The definitions and imports of one file."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.definitions: dict[str, list[ast.stmt]] = {}
        self.effects: list[ast.stmt] = []  # statements that do something when it is imported
        self.modules: dict[str, str] = {}  # a name here -> the module that it stands for
        self.names: dict[str, Place] = {}  # a name here -> where it was imported from
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            self._note_import(node)
        for statement in tree.body:
            self._note(statement)

    def _note_import(self, node: ast.AST) -> None:
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                self.names[alias.asname or alias.name] = (node.module, alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                top = alias.name.partition(".")[0]
                self.modules[alias.asname or top] = alias.name if alias.asname else top

    def _note(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
                return
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                return
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                self.definitions.setdefault(name, []).append(statement)
            case ast.AnnAssign(target=ast.Name(id=name)):
                self.definitions.setdefault(name, []).append(statement)
            case ast.Assign(targets=targets):
                names = [name for target in targets for name in _stored(target)]
                for name in names:
                    self.definitions.setdefault(name, []).append(statement)
                if not names:
                    self.effects.append(statement)
            case _:
                self.effects.append(statement)


def _stored(tree: ast.AST) -> list[str]:
    """The names that a statement, or all within it, gives a value."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return [node.id for node in nodes if isinstance(node.ctx, ast.Store)]


@dataclass(frozen=True)
class Program:
    """The files of packages and of folders with scripts, as `address` reads them.

    Args:
        folders: name of a package or a folder of scripts -> its folder.
    """

    folders: dict[str, Path]
    _read: dict[str, Module | None] = field(default_factory=dict)
    # Of statements, made once for all walks: keys and members; the normal form.
    parts: dict[Any, tuple[list[str], list[str]]] = field(default_factory=dict)
    normal: dict[Any, tuple[str, list[Place]]] = field(default_factory=dict)

    @cached_property
    def _paths(self) -> dict[str, Path]:
        found = {}
        for top, folder in self.folders.items():
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
        if name in home.names:
            source, original = home.names[name]
            if self.module(f"{source}.{original}"):
                return f"{source}.{original}", ""
            return self.find(source, original)
        if name in home.modules:
            target = home.modules[name]
            return (target, "") if self.module(target) else target
        return (f"{module}.{name}", "") if self.module(f"{module}.{name}") else name

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

    def address(
        self,
        roots: Iterable[Place],
        spare: Callable[[Place], bool] = lambda place: False,
        entries: Callable[[Place, str], bool] = lambda place, key: True,
        members: Callable[[Place, str], bool] = lambda place, name: True,
    ) -> str:
        """The hash of some definitions and of all that they refer to.

        Args:
            roots: where they are.
            spare: says of a definition that it does not count, nor what it refers to.
            entries: says of a dictionary's entry, by its key as written, whether it counts.
            members: says of a class's member, by its name, whether it counts.

        Raises:
            KeyError: a root is not defined.
        """
        walk = _Walk(self, spare, entries, members)
        for module, name in roots:
            place = self.find(module, name)
            if isinstance(place, str) or self.module(place[0]) is None:
                raise KeyError(f"{module}.{name}")
            walk.refer(place)
        return hashlib.sha256("\n".join(walk.finished()).encode()).hexdigest()


@dataclass
class _Walk:
    """One pass over what some roots refer to; each definition has a number, in order of sight."""

    program: Program
    spare: Callable[[Place], bool]
    entries: Callable[[Place, str], bool]
    members: Callable[[Place, str], bool]
    numbers: dict[Place, int] = field(default_factory=dict)
    waiting: list[Place] = field(default_factory=list)

    def refer(self, place: Place) -> str:
        """What stands for a definition in the text of another."""
        if self.spare(place):
            return place[1] or place[0].rpartition(".")[2]
        if place not in self.numbers:
            self.numbers[place] = len(self.numbers)
            self.waiting.append(place)
        return f"_{self.numbers[place]}"

    def finished(self) -> Iterable[str]:
        """The text of every definition, in the order of their numbers."""
        while self.waiting:
            place = self.waiting.pop(0)
            module = self.program.module(place[0])
            assert module is not None
            if place[1]:
                statements = module.definitions[place[1]]
                if module.effects:
                    self.refer((module.name, ""))
            else:  # what importing the module does
                statements = module.effects
            for number, statement in enumerate(statements):
                yield f"{self.numbers[place]}: {self.text(place, number, statement)}"

    def text(self, place: Place, number: int, statement: ast.stmt) -> str:
        """A statement of a definition, with the numbers of what it refers to."""
        parts, known = self.program.parts, self.program.normal
        if (place, number) not in parts:
            parts[place, number] = _keys(statement), _members(statement)
        keys, members = parts[place, number]
        left_out = frozenset(
            [key for key in keys if not self.entries(place, key)]
            + [name for name in members if not self.members(place, name)]
        )
        which = (place, number, left_out)
        if which not in known:
            known[which] = _Normalizer(self.program, place[0], left_out).normal(statement)
        text, references = known[which]
        numbers = [self.refer(each) for each in references]
        return REFERENCE.sub(lambda found: numbers[int(found[1])], text)


def _keys(statement: ast.stmt) -> list[str]:
    """Keys of the dictionaries in a statement, as written."""
    tables = (node for node in ast.walk(statement) if isinstance(node, ast.Dict))
    return [ast.unparse(key) for table in tables for key in table.keys if key]


def _members(statement: ast.stmt) -> list[str]:
    """Names of the members of a class."""
    return [_member(each) for each in statement.body] if isinstance(statement, ast.ClassDef) else []


def _member(statement: ast.stmt) -> str:
    match statement:
        case ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return ""


class _Normalizer(ast.NodeTransformer):
    """A statement as its hash sees it.

    Args:
        program: where names are looked up.
        module: the statement's.
        left_out: keys of dictionaries and names of members that do not count.
    """

    def __init__(self, program: Program, module: str, left_out: frozenset[str]) -> None:
        self.program, self.module, self.left_out = program, module, left_out
        self.references: list[Place] = []
        self.local: set[str] = set()

    def normal(self, statement: ast.stmt) -> tuple[str, list[Place]]:
        """Its text, with `_reference_N_` for each of the places that it refers to."""
        copy = ast.parse(ast.unparse(statement)).body[0]
        if isinstance(copy, DEFINITION):
            copy.name = "_"
        text = ast.unparse(ast.fix_missing_locations(self.visit(copy)))
        return text, self.references

    def _name(self, found: Place | str | None) -> str | None:
        """How a name is written that stands for a place, or for something of another package."""
        if not isinstance(found, tuple):
            return found
        self.references.append(found)
        return f"_reference_{len(self.references) - 1}_"

    def _found(self, node: ast.expr) -> Place | str | None:
        """What a name or a chain of attributes stands for, if it is nothing local."""
        if isinstance(node, ast.Name):
            found = self.program.find(self.module, node.id)
            return None if node.id in self.local or found == node.id else found
        if not isinstance(node, ast.Attribute):
            return None
        base = self._found(node.value)
        if isinstance(base, str):
            return f"{base}.{node.attr}"
        if base is not None and not base[1]:
            return self.program.find(base[0], node.attr)
        return None

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A name of the module refers to what it stands for."""
        found = self._found(node)
        if isinstance(found, tuple) and not found[1]:  # a whole module is handed on
            module = self.program.module(found[0])
            self.references += [(found[0], name) for name in module.definitions] if module else []
        return ast.Name(self._name(found) or node.id, node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """`module.name` is the same as the name, however the module was imported."""
        name = self._name(self._found(node))
        return ast.Name(name, node.ctx) if name else self.generic_visit(node)

    def visit_Dict(self, node: ast.Dict) -> ast.AST:
        """Of a table the entries that count."""
        keys = [ast.unparse(key) if key else "" for key in node.keys]
        kept = [n for n, key in enumerate(keys) if key not in self.left_out]
        node.keys, node.values = [node.keys[n] for n in kept], [node.values[n] for n in kept]
        return self.generic_visit(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        """A class without its docstring, and without members that do not count."""
        body = [each for each in _spoken(node.body) if _member(each) not in self.left_out]
        node.body = body or [ast.Pass()]
        return self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        """A function without docstring, annotations and imports; its own names are local."""
        outer, given = self.local, node.args
        arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        self.local = outer | {each.arg for each in arguments if each} | set(_stored(node))
        node.body = _spoken(node.body) or [ast.Pass()]
        node.returns = None
        found = self.generic_visit(node)
        self.local = outer
        return found

    def visit_arg(self, node: ast.arg) -> ast.AST:
        """An argument's annotation says nothing to the program."""
        return ast.arg(node.arg)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """A field stays a field, and a class variable none, whatever their types."""
        shared = "ClassVar" in ast.unparse(node.annotation)
        node.annotation = ast.Name("ClassVar" if shared else "field", ast.Load())
        node.value = self.visit(node.value) if node.value else None
        return node

    def visit_Import(self, node: ast.Import) -> ast.AST:
        """Names tell what they stand for."""
        return ast.Pass()

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        """Names tell what they stand for."""
        return ast.Pass()


def _spoken(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements without docstrings."""
    return [
        each
        for each in body
        if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
    ]
