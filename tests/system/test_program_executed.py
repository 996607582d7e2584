"""Every file that a training runs through is listed as part of its program."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fnmatch import fnmatch

import pytest
from support import executed

from pondering.params.read import load_params
from pondering.train import program

CONFIGS = load_params(executed.ROOT / "params.yaml", "quick").experiments

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
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(executed.ROOT / "src")}
    command = [sys.executable, executed.__file__, str(folder)]
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


def test_every_program_of_quick_is_tried(ran: dict[str, list[str]]) -> None:
    """The other experiments have the programs of these, with other values."""
    tried = {frozenset(listed(each)) for each in ran}
    for name, config in CONFIGS.items():
        for mechanism in config.mechanisms:
            assert frozenset(listed(f"{name}-{mechanism}")) in tried, name
