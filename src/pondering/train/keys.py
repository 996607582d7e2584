"""Which program decides the numbers of a training: what its key is made of.

A training goes out of date only where its numbers could change: by its task, its cell, its
mechanism, the network, the path, the loop. What other tasks, cells and mechanisms do, how
something is named, drawn, logged or stored, and every comment leave it up to date.
"""

from __future__ import annotations

import functools
from pathlib import Path

from pondering.params.mechanisms import MECHANISMS
from pondering.params.schema import ExperimentConfig
from pondering.project import provenance
from pondering.project.code import Place, Program

PACKAGE = Path(__file__).parents[1]
TOP = PACKAGE.name
LOOP = (
    (f"{TOP}.train.sweep", "Sweep"),
    (f"{TOP}.train.build", "make_network"),
    (f"{TOP}.project.machine", "tune"),  # which numbers count as zero
)
PLAN = (f"{TOP}.train.plan", "Plan")
PLANNED = {"sweep", "replicas"}  # of the plan what builds a training; `_plateau` where it validates

# Rooms that store, name, check and show: nothing there decides a number of a training.
ASIDE = ("project", "params", "results", "claims", "report", "track", "show", "cli")

TASKS = (f"{TOP}.tasks", "TASKS")
CELLS = (f"{TOP}.model.cells", "CELLS")
KERNELS = (f"{TOP}.model.paths.fast.kernels", "KERNELS")
# Members of a task, or of what it is made from, that name or show it or that only evaluation sees.
SHOWN = (
    "title", "question", "counts", "unit", "worst_error", "split_name", "difficulty_label",
    "summary", "stand_in", "origin", "describe", "parse", "evaluation_sets", "prepared", "traced",
    "pixels",
)  # fmt: skip

DOOR = f"{TOP}.model.paths"
EVERY_WAY = ("sequence", "every_step", "without_gradient")


@functools.cache
def program() -> Program:
    """This package as it lies on the disk."""
    return Program({TOP: PACKAGE})


def training_key(config: ExperimentConfig, mechanism: str, code: Program | None = None) -> str:
    """The hash of all code and values that decide the numbers of a training.

    Args:
        config: the experiment.
        mechanism: a name in `MECHANISMS`.
        code: the package to read; None for this one.
    """
    entry, replicas = MECHANISMS[mechanism], config.replicas(mechanism)
    pairs = [(each.setting, each.seed) for each in replicas]
    used = config.updates(mechanism), config.learning_rate(mechanism), pairs
    built = entry.setting, entry.shares, sorted(entry.own)  # its class is part of the program
    address = program_of(config, mechanism, code or program())
    return provenance.hash_values((config.of_mechanism(mechanism), used, built, address))


def program_of(config: ExperimentConfig, mechanism: str, code: Program) -> str:
    """The address of the program that trains an experiment with a mechanism."""
    used = Used(config, (mechanism,), code)
    closed = {(DOOR, way) for way in EVERY_WAY if way not in MECHANISMS[mechanism].ways}
    planned = PLANNED if config.training.validation is None else PLANNED | {"_plateau"}

    def counts(place: Place, name: str) -> bool:
        if place == PLAN:
            return name in planned
        if in_rooms(place, ("tasks",)):
            return name not in SHOWN
        return name != "at_inference" or not in_rooms(place, ("model",))

    def aside(place: Place) -> bool:
        stored = in_rooms(place, ASIDE) and place not in LOOP
        return place in closed or stored or used.spares(place)

    return code.address(
        (*LOOP, PLAN, *used.classes),
        spare=aside,
        entries=used.has_entry,
        members=counts,
    )


def in_rooms(place: Place, rooms: tuple[str, ...]) -> bool:
    """Whether a definition lies in one of these rooms."""
    parts = place[0].split(".")
    return parts[0] == TOP and len(parts) > 1 and parts[1] in rooms


class Used:
    """Which task, cell and mechanisms a program uses of all that there are.

    Args:
        config: the experiment, which names task and cell.
        mechanisms: names in `MECHANISMS`.
        code: the package.
    """

    def __init__(
        self, config: ExperimentConfig, mechanisms: tuple[str, ...], code: Program
    ) -> None:
        tasks, cells = code.table(TASKS), code.table(CELLS)
        known = {name: _class_of(name, code) for name in MECHANISMS}
        self._code = code
        self._keys = {TASKS: repr(config.task["name"]), CELLS: repr(config.network.cell)}
        found = [tasks.get(self._keys[TASKS]), cells.get(self._keys[CELLS])]
        self.classes = [each for each in found if each] + [known[name] for name in mechanisms]
        self.all_classes = {*tasks.values(), *cells.values(), *known.values()}

    def spares(self, place: Place) -> bool:
        """Whether a definition is a task, a cell or a mechanism that is not used."""
        return place in self.all_classes and place not in self.classes

    def has_entry(self, place: Place, key: str) -> bool:
        """Whether an entry of a table of tasks, cells or kernels is used."""
        if place == KERNELS:
            return self._code.find(place[0], key) in self.classes
        return key == self._keys.get(place, key)


def _class_of(mechanism: str, code: Program) -> Place:
    module, _, name = MECHANISMS[mechanism].path.partition(":")
    found = code.find(module, name)
    return found if isinstance(found, tuple) else (module, name)
