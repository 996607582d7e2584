"""The rooms of the house and who may know of whom, read from the source, tried in new processes."""

from __future__ import annotations

import ast
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import pondering

ROOT = Path(pondering.__file__).parent
HEAVY = ("torch", "mlflow", "dvc", "matplotlib", "sklearn", "pandas", "numpy", "pooch")

# Each room and those below it that it may import. A room may also import its own files.
KNOWS: dict[str, set[str]] = {
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
KNOWS["cli"] = set(KNOWS)
MOST_FLOORS = 7

# Rooms inside a room: cells and halting mechanisms never know of each other.
APART = {"model.cells": {"model.cells"}, "model.halting": {"model.halting"}}
WITHOUT_TORCH = ("params", "tasks", "results", "data", "claims", "report")
# Packages that only some rooms may import.
ONLY = {
    "mlflow": {"track"},
    "pooch": {"data"},
    "requests": {"data"},
    "urllib3": {"data"},
    "matplotlib": {"report"},
    "numba": {"model"},
    "triton": {"model"},
    "ray": {"train"},
}
MODEL_USES = {"torch", "numpy", "numba", "scipy", "threadpoolctl", "triton"}


def name_of(path: Path) -> str:
    """The dotted name of a file below the package: `model.cells.lstm`, `model.cells`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {name_of(path): path for path in sorted(ROOT.rglob("*.py"))}


@cache
def imports_of(path: Path) -> frozenset[tuple[str, str]]:
    """(module, name) of everything that a file imports, in functions and for type checks too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, f"{path.name}: a relative import"
            found |= {(node.module, alias.name) for alias in node.names}
    return frozenset(found)


def own(path: Path) -> set[str]:
    """The files of the package that a file imports, by dotted name."""
    found = set()
    for module, name in imports_of(path):
        whole, folder = (f"{module}.{name}".partition(".")[2], module.partition(".")[2])
        if module.partition(".")[0] == "pondering":
            found.add(whole if whole in FILES else folder)
    return found & set(FILES)


def rooms_of(path: Path) -> set[str]:
    return {name.partition(".")[0] for name in own(path)}


def foreign(path: Path) -> set[str]:
    """Packages of others that a file imports."""
    tops = {module.partition(".")[0] for module, _ in imports_of(path)}
    return tops - sys.stdlib_module_names - {"pondering"}


def in_room(room: str) -> list[Path]:
    return [path for name, path in FILES.items() if name == room or name.startswith(f"{room}.")]


def in_fresh_process(code: str) -> str:
    """The last line that some code prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_nothing_lies_outside_a_room() -> None:
    flat = {path.name for path in ROOT.iterdir() if path.is_file()}
    assert flat == {"__init__.py", "py.typed"}
    assert {path.name for path in ROOT.iterdir() if path.is_dir()} - {"__pycache__"} == set(KNOWS)


@pytest.mark.parametrize("room", KNOWS)
def test_a_room_knows_only_rooms_below_it(room: str) -> None:
    for path in in_room(room):
        assert rooms_of(path) <= KNOWS[room] | {room}, path.relative_to(ROOT)


def test_there_are_few_floors_and_no_circle_of_rooms() -> None:
    floors: dict[str, int] = {}
    for room in TopologicalSorter(KNOWS).static_order():  # a circle raises CycleError
        floors[room] = 1 + max((floors[below] for below in KNOWS[room]), default=0)
    assert max(floors.values()) <= MOST_FLOORS


def test_there_is_no_circle_of_files() -> None:
    graph = {name: own(path) for name, path in FILES.items() if name}
    TopologicalSorter(graph).prepare()


@pytest.mark.parametrize("room", APART)
def test_cells_and_halting_mechanisms_never_know_of_each_other(room: str) -> None:
    for path in in_room(room):
        assert all(name.startswith(tuple(APART[room])) for name in own(path)), path.name


def test_the_model_needs_torch_and_numbers_alone() -> None:
    assert set().union(*map(foreign, in_room("model"))) <= MODEL_USES
    for part in ("model.cells", "model.halting"):
        assert set().union(*map(foreign, in_room(part))) == {"torch"}


@pytest.mark.parametrize("package", ONLY)
def test_a_package_is_the_matter_of_one_room(package: str) -> None:
    users = {name.partition(".")[0] for name, path in FILES.items() if package in foreign(path)}
    assert users <= ONLY[package]


def test_the_rooms_of_tables_and_pages_run_without_torch() -> None:
    modules = [f"pondering.{name_of(path)}" for room in WITHOUT_TORCH for path in in_room(room)]
    code = (
        "import importlib, sys\n"
        "guilty = []\n"
        f"for name in {modules!r}:\n"
        "    importlib.import_module(name)\n"
        "    if not guilty and ({'torch', 'mlflow', 'dvc'} & set(sys.modules)):\n"
        "        guilty.append(name)\n"
        "print(guilty)"
    )
    assert in_fresh_process(code) == "[]"


@pytest.mark.parametrize("name", ["download", "datasets", "report"])
def test_stages_that_run_no_network_start_without_torch(name: str) -> None:
    script = ROOT.parents[1] / "pipeline" / f"{name}.py"
    assert rooms_of(script) <= {*WITHOUT_TORCH, "project", "track"}


def test_the_package_its_commands_and_tracking_load_nothing_heavy_before_they_need_it() -> None:
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
    tops = {module.partition(".")[0] for module, _ in imports_of(path)}
    assert tops <= sys.stdlib_module_names | {"numpy", "oracle"}
