"""The hash of some definitions and of all that they refer to, directly or not."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pondering.project.code.normal import Normal, normal, parts
from pondering.project.code.sources import Place, Sources

REFERENCE = re.compile(r"\b_reference_(\d+)_\b")


class Program(Sources):
    """Source files whose definitions have addresses; see `Sources`."""

    def __init__(self, folders: dict[str, Path]) -> None:
        super().__init__(folders)
        self.parts: dict[ast.stmt, tuple[list[str], list[str]]] = {}  # made once for all walks
        self.normal: dict[tuple[ast.stmt, frozenset[str]], Normal] = {}

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
        walk.begin(roots)
        return hashlib.sha256("\n".join(walk.finished()).encode()).hexdigest()

    def functions(self, roots: Iterable[Place], **counts: Any) -> set[tuple[str, str]]:
        """What an address consists of: functions and methods, (module, name or Class.name).

        Args:
            roots, counts: the arguments of `address`, all of them.
        """
        walk = _Walk(self, **counts)
        walk.begin(roots)
        for _ in walk.finished():
            pass
        return {(place[0], name) for place in walk.numbers for name in walk.functions(place)}


@dataclass
class _Walk:
    """One pass over what some roots refer to; each definition has a number, in order of sight."""

    program: Program
    spare: Callable[[Place], bool]
    entries: Callable[[Place, str], bool]
    members: Callable[[Place, str], bool]
    numbers: dict[Place, int] = field(default_factory=dict)
    waiting: list[Place] = field(default_factory=list)

    def begin(self, roots: Iterable[Place]) -> None:
        """Take up the definitions to begin with."""
        for module, name in roots:
            place = self.program.find(module, name)
            if isinstance(place, str) or self.program.module(place[0]) is None:
                raise KeyError(f"{module}.{name}")
            self.refer(place)

    def functions(self, place: Place) -> Iterable[str]:
        """The functions and methods that count in a definition."""
        module = self.program.module(place[0])
        for statement in module.definitions.get(place[1], ()) if module else ():
            if isinstance(statement, ast.FunctionDef):
                yield place[1]
            for each in statement.body if isinstance(statement, ast.ClassDef) else ():
                if isinstance(each, ast.FunctionDef) and self.members(place, each.name):
                    yield f"{place[1]}.{each.name}"

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
            for statement in statements:
                yield f"{self.numbers[place]}: {self.text(place, statement)}"

    def text(self, place: Place, statement: ast.stmt) -> str:
        """A statement of a definition, with the numbers of what it refers to."""
        program = self.program
        if statement not in program.parts:
            program.parts[statement] = parts(statement)
        keys, members = program.parts[statement]
        left_out = frozenset(
            [key for key in keys if not self.entries(place, key)]
            + [name for name in members if not self.members(place, name)]
        )
        which = statement, left_out
        if which not in program.normal:
            program.normal[which] = normal(statement, place[0], program, left_out)
        text, references = program.normal[which]
        numbers = [self.refer(each) for each in references]
        return REFERENCE.sub(lambda found: numbers[int(found[1])], text)
