"""The normal form of a statement: its text without what changes nothing that it does.

Comments, docstrings, annotations, formatting, the statement's own name and the way something is
imported are gone; a constant, an operation or another imported function are not.
"""

from __future__ import annotations

import ast
from typing import NamedTuple

from pondering.project.code.sources import DEFINITION, Place, Sources, imports

QUOTES = ("'", '"', "'''", '"""')  # the first of them that an f-string does not hold


class Normal(NamedTuple):
    """A statement as its hash sees it."""

    text: str  # with `_reference_N_` for the N-th of the references
    references: list[Place]


def normal(statement: ast.stmt, module: str, sources: Sources, left_out: frozenset[str]) -> Normal:
    """The normal form of a statement.

    Args:
        statement: is left as it is.
        module: in which it stands.
        sources: where names are looked up.
        left_out: keys of dictionaries and names of a class's members that do not count.
    """
    copy = ast.parse(ast.unparse(statement)).body[0]
    if isinstance(copy, DEFINITION):
        copy.name = "_"
    form = _Normalizer(sources, module, left_out)
    return Normal(ast.unparse(ast.fix_missing_locations(form.visit(copy))), form.references)


def parts(statement: ast.stmt) -> tuple[list[str], list[str]]:
    """The keys of the dictionaries in a statement, as written, and the members of a class."""
    tables = (node for node in ast.walk(statement) if isinstance(node, ast.Dict))
    keys = [ast.unparse(key) for table in tables for key in table.keys if key]
    body = statement.body if isinstance(statement, ast.ClassDef) else []
    return keys, [_member(each) for each in body]


def _member(statement: ast.stmt) -> str:
    match statement:
        case ast.FunctionDef(name=name) | ast.AnnAssign(target=ast.Name(id=name)):
            return name
        case ast.Assign(targets=[ast.Name(id=name)]):
            return name
    return ""


def _spoken(body: list[ast.stmt]) -> list[ast.stmt]:
    """Statements without docstrings."""
    return [
        each
        for each in body
        if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
    ]


class _Normalizer(ast.NodeTransformer):
    """Walks through one statement; see `normal`."""

    def __init__(self, sources: Sources, module: str, left_out: frozenset[str]) -> None:
        self.sources, self.module, self.left_out = sources, module, left_out
        self.references: list[Place] = []
        self.local: set[str] = set()  # names that the functions around give a value
        self.imports: dict[str, Place] = {}  # what these functions import themselves

    def _name(self, found: Place | str | None) -> str | None:
        """How a name is written that stands for a place, or for something of another package."""
        if not isinstance(found, tuple):
            return found
        self.references.append(found)
        return f"_reference_{len(self.references) - 1}_"

    def _found(self, node: ast.expr) -> Place | str | None:
        """What a name or a chain of attributes stands for, if it is nothing local."""
        if isinstance(node, ast.Name):
            if node.id in self.local:
                return None
            if node.id in self.imports:
                return self.sources.imported(self.imports[node.id])
            found = self.sources.find(self.module, node.id)
            return None if found == node.id else found
        if not isinstance(node, ast.Attribute):
            return None
        base = self._found(node.value)
        if isinstance(base, str):
            return f"{base}.{node.attr}"
        if base is not None and not base[1]:
            return self.sources.find(base[0], node.attr)
        return None

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A name of the module refers to what it stands for."""
        found = self._found(node)
        if isinstance(found, tuple) and not found[1]:  # a whole module is handed on
            module = self.sources.module(found[0])
            self.references += [(found[0], name) for name in module.definitions] if module else []
        return ast.Name(self._name(found) or node.id, node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """`module.name` is the same as the name, however the module was imported."""
        name = self._name(self._found(node))
        return ast.Name(name, node.ctx) if name else self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        """An f-string in quotes that it does not hold, as 3.11 and 3.13 write it, but not 3.12."""
        text = ast.unparse(self.generic_visit(node))[1:]
        own = text[:3] if text[:3] in QUOTES and len(text) > 5 else text[0]
        inside = text[len(own) : -len(own)]
        quotes = next(each for each in QUOTES if each not in inside)
        return ast.Name(f"f{quotes}{inside}{quotes}", ast.Load())

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.AST:
        """The format in an f-string is written as one, and has no quotes."""
        node.value = self.visit(node.value)
        if node.format_spec:
            self.generic_visit(node.format_spec)
        return node

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
        outer, given = (self.local, self.imports), node.args
        arguments = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        stored = (each for each in ast.walk(node) if isinstance(each, ast.Name))
        named = {each.id for each in stored if isinstance(each.ctx, ast.Store)}
        self.local = self.local | named | {each.arg for each in arguments if each}
        self.imports = self.imports | imports(node)
        node.body = _spoken(node.body) or [ast.Pass()]
        node.returns = None
        found = self.generic_visit(node)
        self.local, self.imports = outer
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

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> ast.AST:
        """Names tell what they stand for."""
        return ast.Pass()

    visit_ImportFrom = visit_Import
