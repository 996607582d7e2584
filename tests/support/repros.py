"""A tiny project under DVC, and `dvc repro` or `pondering repro` as process groups in it."""

from __future__ import annotations

import copy
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from dvc.exceptions import DvcException
from dvc.repo import Repo
from ruamel.yaml import YAML
from support import stages, tiny

from pondering.cli import keys
from pondering.params.read import Params, load_params

CONFIG = "[core]\n    no_scm = true\n    analytics = false\n    check_update = false\n"
PATIENCE = 4 * stages.PATIENCE  # `make repro` starts some six processes, one after another
COMMANDS = {
    "dvc": [sys.executable, "-m", "dvc", "repro"],
    "make": ["make", "--silent", "repro"],
    "pondering": [sys.executable, "-m", "pondering.cli", "repro"],
    "late": [sys.executable, "-m", "support.late_training"],
}


def new(folder: Path, values: dict[str, Any], mechanisms: list[str]) -> Path:
    """A project with the stages `datasets` and `train` for some mechanisms, none of them run."""
    stages.new_project(folder)
    document = YAML(typ="safe").load(stages.ROOT / "dvc.yaml")
    kept = {name: document["stages"][name] for name in ("datasets", "train")}
    kept["train"]["foreach"] = {
        f"${{profile}}-tiny-{each}": {"experiment": "tiny", "mechanism": each}
        for each in mechanisms
    }
    YAML().dump({"stages": kept}, folder / "dvc.yaml")
    (folder / "data/raw/quick").mkdir(parents=True)
    (folder / ".dvc").mkdir()
    (folder / ".dvc/config").write_text(CONFIG)
    (folder / "Makefile").write_text(f"repro: ; @'{sys.executable}' -m pondering.cli repro\n")
    write(folder, values, mechanisms)
    return folder


def write(folder: Path, values: dict[str, Any], mechanisms: list[str]) -> Params:
    """The parameters of these mechanisms alone, and the keys, which no stage of DVC makes here."""
    values["tiny"]["reduced"] = copy.deepcopy(values["tiny"]["quick"])
    for block in values["tiny"].values():
        for mechanism in set(stages.MECHANISMS) - set(mechanisms):
            block.pop(mechanism, None)
    params = load_params(tiny.write(folder, values))
    keys.write(folder, params)
    return params


def start(project: Path, command: str, log: Path) -> subprocess.Popen[bytes]:
    """One of `COMMANDS` as the first of a process group, what it says in a file."""
    environment = os.environ | {
        "PONDERING_TRACKING": "off",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    with log.open("w") as file:
        return subprocess.Popen(
            COMMANDS[command],
            cwd=project,
            env=environment,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )


def at_work(project: Path) -> dict[int, str]:
    """The processes whose working folder is the project, with their commands."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cwd").readlink() == project:
                command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                found[int(process.name)] = command.strip()
    return found


def kill_all(project: Path) -> None:
    """End whatever a failed test has left in a project."""
    while left := at_work(project):
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)


def delete_cut_off(project: Path) -> None:
    """Delete those of DVC's own files that a kill has cut off, as `make repro` asks for."""
    while True:
        try:
            with Repo(str(project)) as dvc:
                dvc.status()
            return
        except DvcException as error:
            name = ".dvc/tmp/rwlock" if "rwlock" in str(error).lower() else "dvc.lock"
            (project / name).unlink()


def until(condition: Callable[[], object], seconds: float = PATIENCE) -> None:
    """Wait for a condition, fail where it does not come."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def results(project: Path) -> dict[str, bytes]:
    """Everything that the stages wrote but `data/keys` and the wall times."""
    whole = stages.contents(project)
    return {
        name: data
        for name, data in whole.items()
        if "/provenance/" not in name and not name.startswith("data/keys/")
    }
