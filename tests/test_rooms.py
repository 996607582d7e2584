"""The rooms of the package, and which room may import which."""

from __future__ import annotations

import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from support.imports import imports_of, packages_of

import pondering

ROOT = Path(pondering.__file__).parent
HEAVY = ("torch", "mlflow", "dvc", "matplotlib", "sklearn", "pandas", "numpy", "pooch")

# Each room and the rooms below it that it may import.
MAY_IMPORT: dict[str, set[str]] = {
    "model": set(),
    "project": set(),
    "params": {"project"},
    "tasks": {"project"},
    "results": {"params", "project"},
    "data": {"params", "project", "tasks"},
    "train": {"model", "params", "project", "tasks"},
    "claims": {"params", "project", "results"},
    "track": {"params", "project", "results"},
    "evaluate": {"data", "model", "params", "project", "results", "tasks", "train"},
    "report": {"claims", "params", "project", "results"},
    "show": {"data", "evaluate", "model", "params", "project", "results", "tasks"},
}
MAY_IMPORT["cli"] = set(MAY_IMPORT)
MOST_FLOORS = 7

# Rooms inside a room: cells and halting mechanisms do not import each other.
APART = {"model.cells": {"model.cells"}, "model.halting": {"model.halting"}}
WITHOUT_TORCH = ("params", "tasks", "results", "data", "claims", "report")
# Packages that only some rooms may import.
ROOMS_OF_PACKAGE = {
    "mlflow": {"track"},
    "pooch": {"data"},
    "requests": {"data"},
    "urllib3": {"data"},
    "matplotlib": {"report"},
    "numba": {"model"},
    "triton": {"model"},
    "ray": {"train"},
}


def name_of(path: Path) -> str:
    """The dotted name of a file below the package: `model.cells.lstm`, `model.cells`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}


def files_imported_by(path: Path) -> set[str]:
    """The files of the package that a file imports, by dotted name."""
    found = set()
    for module, name in imports_of(path):
        whole, folder = (f"{module}.{name}".partition(".")[2], module.partition(".")[2])
        if module.partition(".")[0] == "pondering":
            found.add(whole if whole in FILES else folder)
    return found & set(FILES)


def rooms_of(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in files_imported_by(path)}


def in_room(room: str) -> list[Path]:
    return [path for name, path in FILES.items() if name == room or name.startswith(f"{room}.")]


def in_fresh_process(code: str) -> str:
    """The last line that the code prints in a new process."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_every_file_lies_in_a_room() -> None:
    flat = {path.name for path in ROOT.iterdir() if path.is_file()}
    assert flat == {"__init__.py", "py.typed"}
    assert {path.name for path in ROOT.iterdir() if path.is_dir()} - {"__pycache__"} == set(
        MAY_IMPORT
    )


@pytest.mark.parametrize("room", MAY_IMPORT)
def test_a_room_imports_only_rooms_below_it(room: str) -> None:
    for path in in_room(room):
        assert rooms_of(path) <= MAY_IMPORT[room] | {room}, path.relative_to(ROOT)


def test_rooms_have_few_floors_and_no_circle() -> None:
    floors: dict[str, int] = {}
    for room in TopologicalSorter(MAY_IMPORT).static_order():  # a circle raises CycleError
        floors[room] = 1 + max((floors[below] for below in MAY_IMPORT[room]), default=0)
    assert max(floors.values()) <= MOST_FLOORS


def test_imports_of_files_have_no_circle() -> None:
    graph = {name: files_imported_by(path) for name, path in FILES.items() if name}
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("room", APART)
def test_cells_and_halting_mechanisms_do_not_import_each_other(room: str) -> None:
    for path in in_room(room):
        assert all(name.startswith(tuple(APART[room])) for name in files_imported_by(path)), (
            path.name
        )


@pytest.mark.parametrize("package", ROOMS_OF_PACKAGE)
def test_some_packages_are_imported_in_one_room_alone(package: str) -> None:
    users = {name.partition(".")[0] for name, path in FILES.items() if package in packages_of(path)}
    assert users <= ROOMS_OF_PACKAGE[package]


def test_rooms_of_tables_and_pages_do_not_import_torch() -> None:
    modules = [f"pondering.{name_of(path)}" for room in WITHOUT_TORCH for path in in_room(room)]
    code = (
        "import importlib, sys\n"
        "importers = []\n"
        f"for name in {modules!r}:\n"
        "    importlib.import_module(name)\n"
        "    if not importers and ({'torch', 'mlflow', 'dvc'} & set(sys.modules)):\n"
        "        importers.append(name)\n"
        "print(importers)"
    )
    assert in_fresh_process(code) == "[]"


@pytest.mark.parametrize("name", ["download", "datasets", "report"])
def test_stages_without_networks_do_not_import_torch(name: str) -> None:
    script = ROOT.parents[1] / "pipeline" / f"{name}.py"
    assert rooms_of(script) <= {*WITHOUT_TORCH, "project", "track"}


def test_package_commands_and_tracking_import_heavy_packages_late() -> None:
    code = (
        "import sys, pondering, pondering.track, pondering.cli.ui\n"
        "from pondering.cli.main import main\n"
        "main(['--help'], standalone_mode=False)\n"
        f"print([each for each in {HEAVY!r} if each in sys.modules])"
    )
    assert in_fresh_process(code) == "[]"


def test_every_public_name_resolves() -> None:
    for name in pondering.__all__:
        assert getattr(pondering, name).__name__ == name
    with pytest.raises(AttributeError, match="Netwrok"):
        _ = pondering.Netwrok


@pytest.mark.parametrize("name", ["oracle.py", "oracle_cells.py"])
def test_the_oracle_shares_no_code_with_the_package(name: str) -> None:
    path = Path(__file__).parent / "oracle" / name
    assert packages_of(path) <= {"numpy", "oracle"}
