"""Every file that a training executes is listed as part of its program.

`python test_program_executed.py FOLDER` prints the executed files. Numba compiles nothing there, so
the trace has its loops, too. Sizes are the smallest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import torch
from ruamel.yaml import YAML

from pondering.data.frozen import freeze
from pondering.model.paths import skipping
from pondering.params.read import load_params
from pondering.project import machine
from pondering.tasks import make_task
from pondering.train import program
from pondering.train.draws import DRAWS
from pondering.train.draws.stream import DeviceStream
from pondering.train.replica import by_hash
from pondering.train.shard import Shard

ROOT = Path(__file__).parents[2]
SMALL = {
    "parity": {"bits": 4, "train_nonzero": [1, 4], "test_nonzero": {"test": [1, 4]}},
    "logic": {"gates": 2, "length": [1, 2], "test_length": 2},
    "addition": {"digits": 1, "length": [1, 2], "test_length": 2},
    "sort": {"length": [2, 3]},
    "wikipedia": {"sequence": 4},
    "digits": {},
}
PATHS = ("compiled", "fast", "readable")
CONFIGS = load_params(ROOT / "params.yaml", "quick").experiments


@contextmanager
def trace(found: set[str]) -> Iterator[None]:
    """Add the file of every called function of the package to `found`, as a relative path."""
    package = str(ROOT / "src/pondering") + "/"

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        inside = code.co_filename.startswith(package) and code.co_name != "<module>"
        if event == "call" and inside:
            found.add(code.co_filename.removeprefix(package))

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)


def document() -> dict[str, Any]:
    """`params.yaml` with the smallest sizes."""
    values: dict[str, Any] = YAML(typ="safe").load(ROOT / "params.yaml") | {"device": "cpu"}
    for name in CONFIGS:
        common, quick = values[name]["common"], values[name]["quick"]
        task = common["task"] | quick["task"]
        common["task"], quick["task"] = task | SMALL[task["name"]], {}
        quick["network"] = quick.get("network", {}) | {"hidden": 2}
        quick["halting"] = quick.get("halting", {}) | {"max_steps": 3}
        quick["training"] |= {"updates": 2, "batch": 2, "log_points": 2}
        quick["seeds"] = [0, 1]
    return values


def longer_sweeps(shard: Any) -> Iterator[Any]:
    """A sweep for every path: rows halt at once, a replica diverges, a validation is due.

    The device draws if it can. Halted rows are packed as in a large network.
    """
    usual, skipping.WORTH = skipping.WORTH, 0.0
    for path in PATHS:
        sweep = shard.trainer()
        sweep.network.path = path
        sweep.schedule = sweep.schedule._replace(updates=6)
        with torch.no_grad():
            sweep.network.heads.bias[0, ..., -1] = 50.0  # halts at the first step
            sweep.network.heads.bias[1, ..., 0] = torch.nan  # diverges
        if sweep.plateau:
            sweep.plateau.every, sweep.plateau.patience = 1, 0
        if sweep.task.name in DRAWS:
            seeds = [each.seed for each in sweep.replicas]
            sweep.stream = DeviceStream(sweep.task, seeds, sweep.schedule.batch)
        yield sweep
    skipping.WORTH = usual


def main(folder: Path) -> None:
    """Print the files that each training executes.

    Of several trainings with one program, the first is tried.
    """
    with (folder / "params.yaml").open("w") as file:
        YAML().dump(document(), file)
    params, executed = load_params(folder / "params.yaml", "quick"), {}
    programs: dict[frozenset[str], tuple[str, str]] = {}
    for name, config in CONFIGS.items():
        for mechanism in config.mechanisms:
            programs.setdefault(frozenset(listed_files(f"{name}-{mechanism}")), (name, mechanism))
    for name, mechanism in programs.values():
        frozen = folder / f"data/tasks/quick/{name}.npz"
        freeze(make_task(params.experiment(name).task, name, frozen), folder, frozen, 1)
        replicas = by_hash(params, name, mechanism)
        shard, found = Shard(params, name, replicas, torch.device("cpu")), set[str]()
        with trace(found):
            machine.settle(1)
            sweep = shard.trainer()
            sweep.run()
        for each in longer_sweeps(shard):
            with trace(found):
                each.run()
        executed[f"{name}-{mechanism}"] = sorted(found)
    print(json.dumps(executed))


OUTSIDE = {
    "params/*.py": "the hash covers their values",
    "project/paths.py": "where files lie",
    "tasks/__init__.py": "calls the class of a task with its values",
    "train/path.py": "chooses the path, which each replica's file records",
    "train/shard.py": "calls `make_trainer` with the values",
}
"""Executed files that are not listed, and why a change there changes no number."""


@pytest.fixture(scope="module")
def executed_files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The files that each training executes, from a process without compilation."""
    folder = tmp_path_factory.mktemp("executed")
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, __file__, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def listed_files(training: str) -> set[str]:
    """The files of a training's program."""
    experiment, mechanism = training.split("-")
    config = CONFIGS[experiment]
    names = {"task": config.task["name"], "cell": config.network.cell, "mechanism": mechanism}
    names["draws"] = names["task"]
    found = [path for part in program.LISTED for path in program.files(part, names.get(part, ""))]
    return {path.relative_to(program.PACKAGE).as_posix() for path in found}


def test_every_executed_file_is_listed(executed_files: dict[str, list[str]]) -> None:
    missing, used = {}, set()
    for training, files in executed_files.items():
        assert len(files) > 15, "the trace has too few files"
        for name in {*files} - listed_files(training):
            reasons = [each for each in OUTSIDE if fnmatch(name, each)]
            used |= set(reasons)
            if not reasons:
                missing.setdefault(name, []).append(training)
    assert missing == {}
    assert used == set(OUTSIDE), "an exception is not needed"


def test_every_listed_file_is_executed(executed_files: dict[str, list[str]]) -> None:
    executed = {name for files in executed_files.values() for name in files}
    every = {name for training in executed_files for name in listed_files(training)}
    assert {each for each in every - executed if not each.endswith("__init__.py")} <= {
        "model/initial.py",  # for `init: glorot`, which `quick` does not have
        "tasks/digits/files.py",  # reads the frozen digits before the first update
        "tasks/wikipedia/made_text.py",  # makes text before the first update
    }


if __name__ == "__main__":
    assert os.environ["NUMBA_DISABLE_JIT"] == "1"
    main(Path(sys.argv[1]))
