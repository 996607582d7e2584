"""Which values and which program decide the numbers of a training: what its key is made of.

A training goes out of date only where its numbers could change: by its task, its cell, its
mechanism, the network, the path, the loop. What other tasks, cells and mechanisms do, how
something is named, drawn, logged or stored, and every comment leave it up to date.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pondering.params.mechanisms import MECHANISMS, SHARED
from pondering.params.replica import Options
from pondering.params.schema import ExperimentConfig
from pondering.project import provenance
from pondering.project.code import Place, Program

PACKAGE = Path(__file__).parents[1]
TOP = PACKAGE.name
LOOP = (
    (f"{TOP}.train.trainer", "Trainer"),
    (f"{TOP}.train.build", "make_trainer"),
    (f"{TOP}.project.machine", "tune"),  # which numbers count as zero
)

# Rooms that store, name, check and show: nothing there decides a number of a training.
ASIDE = ("project", "params", "results", "claims", "report", "track", "show", "cli")

TASKS = (f"{TOP}.tasks", "TASKS")
CELLS = (f"{TOP}.model.cells", "CELLS")
KERNELS = (f"{TOP}.model.paths.fast.kernels", "KERNELS")
# Members of a task, or of what it is made from, that name or show it or that only evaluation sees.
SHOWN = (
    "title", "question", "counts", "unit", "worst_error", "split_name", "difficulty_label",
    "summary", "stand_in", "origin", "describe", "parse", "own_input", "evaluation_sets",
    "prepared", "traced", "pixels", "entropy",
)  # fmt: skip

# Of the halting block, only for the mechanisms that share them.
ARGUMENTS = {name for entry in MECHANISMS.values() for name in entry.shares}
OF_THE_UNIT = ("halt_bias", "reads", "halting_rate")  # for mechanisms whose halting unit learns
OVERRIDES = ("learning_rate", "updates", "seeds")  # of a block, for the experiment's

DOOR = f"{TOP}.model.paths"
# Of every mechanism a path is asked whether it has the way for it; most of them say no.
ASKED = tuple((f"{DOOR}.fast.{way}", "supports") for way in ("sequence", "every_step"))
GLOROT = (f"{TOP}.model.initial", "glorot")
EVERY_WAY = ("sequence", "every_step", "without_gradient")


@functools.cache
def program() -> Program:
    """This package as it lies on the disk."""
    return Program({TOP: PACKAGE})


def training_key(config: ExperimentConfig, mechanism: str, code: Program | None = None) -> str:
    """The hash of all code and values that decide the numbers of a training, of all its replicas.

    Args:
        config: the experiment.
        mechanism: a name in `MECHANISMS`.
        code: the package to read; None for this one.
    """
    return provenance.hash_values(replica_keys(config, mechanism, "", code))


def replica_keys(
    config: ExperimentConfig, mechanism: str, data_hash: str, code: Program | None = None
) -> tuple[str, ...]:
    """The key of each replica, in the order of `config.replicas`.

    Args:
        data_hash: of the data that the task reads.
        code: see `training_key`.
    """
    code = code or program()
    common = program_of(config, mechanism, code), data_hash
    replicas = config.replicas(mechanism)
    read = {
        each: values(_in_block(config, mechanism, each), mechanism, code, each)
        for each in {replica.options for replica in replicas}
    }
    return tuple(
        provenance.hash_values((mechanism, each.setting, each.seed, read[each.options], common))
        for each in replicas
    )


def _in_block(config: ExperimentConfig, mechanism: str, options: Options) -> ExperimentConfig:
    """An experiment whose block of a mechanism has what options say of it.

    `values` alone would take an `epsilon` of PonderNet's for that of the halting block, which
    PonderNet does not read.
    """
    block = config.mechanism(mechanism)
    own = {name: dict(options).get(name, each) for name, each in block.own.items()}
    changed = {mechanism: block.model_copy(update={"own": own})}
    return config.model_copy(update={"mechanisms": config.mechanisms | changed})


def values(
    config: ExperimentConfig, mechanism: str, code: Program | None = None, options: Options = ()
) -> dict[str, dict[str, Any]]:
    """The values that replicas of a training read, where they differ from their defaults.

    So a new field that has a default changes no key, nor does a value that the mechanism does not
    take or overrides, nor a `test_...` of the task, which is for evaluation. (A default that is
    changed later would change none either: it has to stay.) Setting and seed are of each replica.

    Args:
        code: see `training_key`.
        options: of the replicas, in place of the values of the block.
    """
    training = config.training.model_dump(mode="json", exclude_defaults=True)
    own = {"updates": config.updates(mechanism), "learning_rate": config.learning_rate(mechanism)}
    halting, left = config.halting.model_dump(mode="json", exclude_defaults=True), dict(options)
    halting |= {name: left.pop(name) for name in tuple(left) if name in halting}
    unread = ARGUMENTS if MECHANISMS[mechanism].learns else {*ARGUMENTS, *OF_THE_UNIT}
    kept = {name: each for name, each in (training | own).items() if name not in unread}
    return {
        "task": {n: each for n, each in task_values(config, code).items() if n[:5] != "test_"},
        "network": config.network.model_dump(mode="json", exclude_defaults=True),
        "halting": {name: each for name, each in halting.items() if name not in unread},
        "mechanism": _arguments(config, mechanism, left),
        "training": kept,
    }


def agrees(recorded: Any, config: ExperimentConfig, mechanism: str) -> bool:
    """Whether a mechanism trains with the values that a record has.

    Values that it does not read may differ, and what the record does not know yet has its default.

    Args:
        recorded: the `config` of a record.
        config: the experiment.
    """
    try:
        blocks = {"mechanisms": {mechanism: recorded[mechanism]}, "evaluation": config.evaluation}
        rest = {name: block for name, block in recorded.items() if name != mechanism}
        then = ExperimentConfig.model_validate(rest | blocks)
    except (ValueError, LookupError, TypeError, AttributeError):
        return False
    same = values(then, mechanism) == values(config, mechanism)
    return same and then.replicas(mechanism) == config.replicas(mechanism)


def _arguments(
    config: ExperimentConfig, mechanism: str, options: Mapping[str, Any]
) -> dict[str, Any]:
    """What a mechanism takes besides its setting, and which of its arguments that is."""
    entry, block = MECHANISMS[mechanism], config.mechanism(mechanism)
    given = config.halting.model_dump(mode="json", exclude_defaults=True)
    shared = {name: given[name] for name in entry.shares if name in given}
    rest = {name: getattr(block, name) for name in SHARED if name not in OVERRIDES}
    chosen = rest | dict(block.own) | dict(options)
    own = {name: each for name, each in chosen.items() if each is not None}
    kept = {
        name: each
        for name, each in own.items()
        if name in entry.shares or each != entry.block[name][1]  # its default, unless it overrides
    }
    return {"swept": entry.setting, **shared, **kept}


def task_values(config: ExperimentConfig, code: Program | None = None) -> dict[str, Any]:
    """The values of the task, where they differ from the defaults of its class."""
    code = code or program()
    place = code.table(TASKS).get(repr(config.task["name"]))
    defaults = code.defaults(place) if place else {}
    return {
        name: value
        for name, value in config.task.items()
        if name not in defaults or json.dumps(value) != json.dumps(defaults[name])
    }


def program_of(config: ExperimentConfig, mechanism: str, code: Program) -> str:
    """The address of the program that trains an experiment with a mechanism."""
    return code.address(**_parts(config, mechanism, code))


def functions_of(config: ExperimentConfig, mechanism: str, code: Program) -> set[tuple[str, str]]:
    """The functions of that program, (module, name or Class.name)."""
    return code.functions(**_parts(config, mechanism, code))


def _parts(config: ExperimentConfig, mechanism: str, code: Program) -> dict[str, Any]:
    """Where the program begins, and what of it does not count; see `Program.address`."""
    used = Used(config, (mechanism,), code)
    closed = {(DOOR, way) for way in EVERY_WAY if way not in MECHANISMS[mechanism].ways}
    glorot = config.network.init == "glorot"
    if not glorot:
        closed.add(GLOROT)

    def counts(place: Place, name: str) -> bool:
        if in_rooms(place, ("tasks",)):
            return name not in SHOWN
        unused = ("at_inference", "exits") if glorot else ("at_inference", "exits", "matrices")
        return name not in unused or not in_rooms(place, ("model",))

    def aside(place: Place) -> bool:
        stored = in_rooms(place, ASIDE) and place not in LOOP
        return place in closed or stored or used.spares(place)

    roots = (*LOOP, *ASKED, *used.classes)
    return {"roots": roots, "spare": aside, "entries": used.has_entry, "members": counts}


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
