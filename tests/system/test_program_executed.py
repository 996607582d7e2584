"""Every file that a training runs through is listed as part of its program.

`python test_program_executed.py FOLDER` prints the files. Numba compiles nothing there, so that its
loops are seen as well; sizes are the smallest.
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
def noted(found: set[str]) -> Iterator[None]:
    """Note the file of every function of the package that is called, from the package's folder."""
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


def longer(shard: Any) -> Iterator[Any]:
    """By every path, rows that halt at once, a replica that diverges, a validation that is due.

    The device draws where it can. Rows that have halted are left out as in a large network.
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
    """Print, by training, the files that two updates and longer trainings run through.

    Of trainings with the same program, which differ in values, the first is tried.
    """
    with (folder / "params.yaml").open("w") as file:
        YAML().dump(document(), file)
    params, told = load_params(folder / "params.yaml", "quick"), {}
    programs: dict[frozenset[str], tuple[str, str]] = {}
    for name, config in CONFIGS.items():
        for mechanism in config.mechanisms:
            programs.setdefault(frozenset(listed(f"{name}-{mechanism}")), (name, mechanism))
    for name, mechanism in programs.values():
        frozen = folder / f"data/tasks/quick/{name}.npz"
        freeze(make_task(params.experiment(name).task, name, frozen), folder, frozen, 1)
        replicas = by_hash(params, name, mechanism)
        shard, found = Shard(params, name, folder, replicas, torch.device("cpu")), set[str]()
        with noted(found):
            machine.settle(1)
            sweep = shard.trainer()
            sweep.run(lambda _: None, lambda: False)
        for each in longer(shard):
            with noted(found):
                each.run(lambda _: None, lambda: False)
        told[f"{name}-{mechanism}"] = sorted(found)
    print(json.dumps(told))


OUTSIDE = {
    "params/*.py": "what comes of them is in the hash, as values",
    "project/paths.py": "where files lie",
    "tasks/__init__.py": "calls the class of a task with its values",
    "train/shard.py": "calls `make_trainer` with the values",
}
"""Run through, and not listed: why a change there reaches no number."""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """By training, the files that updates by every path run through; numba compiles nothing."""
    folder = tmp_path_factory.mktemp("executed")
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, __file__, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def listed(training: str) -> set[str]:
    """The files of a training's program."""
    experiment, mechanism = training.split("-")
    config = CONFIGS[experiment]
    names = {"task": config.task["name"], "cell": config.network.cell, "mechanism": mechanism}
    names["draws"] = names["task"]
    found = [path for part in program.LISTED for path in program.files(part, names.get(part, ""))]
    return {path.relative_to(program.PACKAGE).as_posix() for path in found}


def test_what_a_training_runs_through_is_listed(ran: dict[str, list[str]]) -> None:
    missing, used = {}, set()
    for training, files in ran.items():
        assert len(files) > 15, "the profiler has seen little"
        for name in {*files} - listed(training):
            reasons = [each for each in OUTSIDE if fnmatch(name, each)]
            used |= set(reasons)
            if not reasons:
                missing.setdefault(name, []).append(training)
    assert missing == {}
    assert used == set(OUTSIDE), "an exception that is none"


def test_what_is_listed_is_run_through(ran: dict[str, list[str]]) -> None:
    seen = {name for files in ran.values() for name in files}
    every = {name for training in ran for name in listed(training)}
    assert {each for each in every - seen if not each.endswith("__init__.py")} <= {
        "model/initial.py",  # for `init: glorot`, which `quick` does not have
        "model/paths/compiled/warm.py",  # compiles the loops
        "tasks/digits/files.py",  # reads the frozen digits before the first update
        "tasks/wikipedia/made_text.py",  # makes text before the first update
    }


if __name__ == "__main__":
    assert os.environ["NUMBA_DISABLE_JIT"] == "1"
    main(Path(sys.argv[1]))
