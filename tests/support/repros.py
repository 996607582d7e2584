"""The tiny experiment in a git repository, run by this project's dvc.yaml."""

from __future__ import annotations

import copy
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from support import stages, tiny

COPIED = ("Makefile", ".gitignore", ".dvcignore", ".dvc/config", ".dvc/plots/by_setting.json")
ME = {f"GIT_{who}_{what}": "me" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
ENVIRONMENT = ME | {"GIT_CONFIG_GLOBAL": os.devnull, "PONDERING_TRACKING": "off", "COLUMNS": "200"}


def copy_program(folder: Path) -> None:
    """Copy the package and the stage scripts into a project, where a test may edit them."""
    for name in ("src", "pipeline"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(stages.ROOT / name, folder / name, ignore=ignored)


def environment(folder: Path) -> dict[str, str]:
    """The environment of a process that runs the program in a project's folder."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return os.environ | ENVIRONMENT | {"PATH": path, "PYTHONPATH": str(folder / "src")}


def shell(folder: Path, line: str, status: int = 0) -> str:
    """Run a shell line in a project; returns its output and errors."""
    done = subprocess.run(
        line, shell=True, cwd=folder, env=environment(folder), capture_output=True, text=True
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def commit(folder: Path) -> None:
    """Commit every file of a folder, in a new repository if it has none."""
    shell(folder, "git init --quiet && git add --all && git commit --quiet --message x")


def edit(folder: Path, **quick: Any) -> None:
    """Write the tiny experiment's parameters, with keys of its profiles changed."""
    exact = {name: block | quick.pop(name, {}) for name, block in tiny.EXACT.items()}
    values = tiny.document(**exact, **quick)
    values["download"]["needs"]["reduced"] = []
    values["tiny"]["reduced"] = copy.deepcopy(values["tiny"]["quick"])  # DVC sets no YAML alias
    tiny.write(folder, values)


def new(folder: Path) -> Path:
    """A repository with the tiny experiment committed and no stage run.

    The report has no figure of this experiment, so there is no stage `report`.
    """
    copy_program(folder)
    for name in COPIED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(stages.ROOT / name, folder / name)
    document = YAML(typ="safe").load(stages.ROOT / "dvc.yaml")
    for name in ("datasets_digits", "datasets_text", "report"):
        del document["stages"][name]
    document["stages"]["datasets"]["outs"] = ["data/tasks/${item.profile}/tiny.npz"]
    for name in ("train", "evaluate"):
        document["stages"][name]["matrix"]["experiment"] = ["tiny"]
    exits = document["stages"]["exits"]
    exits["cmd"] = "${python} pipeline/exits.py --profile ${item.profile} tiny"
    code = [path for path in exits["deps"] if not path.startswith("data/")]
    read = ("results/${item.profile}/networks/tiny", "tasks/${item.profile}/tiny.npz")
    exits["deps"] = [*code, *(f"data/{path}" for path in read)]
    YAML().dump(document, folder / "dvc.yaml")
    edit(folder)
    commit(folder)
    return folder
