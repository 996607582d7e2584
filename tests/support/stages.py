"""Runs stage scripts in a project, in this process or in a forked one.

A test stops or breaks a forked stage. Forking saves the seconds that imports take. A forked stage
has its own working folder, output, signals and exit status, as in a shell.
"""

from __future__ import annotations

import atexit
import contextlib
import multiprocessing
import os
import runpy
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any
from unittest.mock import patch

from support import argv, tiny

from pondering.params.read import load_params
from pondering.project import machine
from pondering.tasks import TASKS

ROOT = Path(__file__).parents[2]
PROFILE = ("--profile", "quick")
QUICK = (*PROFILE, "--experiment", "tiny")
DATASETS = (*PROFILE, *TASKS)
MECHANISMS = ("repeat", "act", "pondernet")
PATIENCE = 300.0  # seconds; far more than a stage here takes on a loaded machine


def temporary() -> Path:
    """A folder that is deleted when this process ends."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@dataclass
class Outcome:
    """How a stage ended."""

    status: int
    out: str
    err: str


class Stage:
    """A running stage script: `Stage(folder, "train", "--profile", "quick")`.

    `before` is called in the stage's process, where it may arrange a fault.
    """

    def __init__(
        self, project: Path, name: str, *arguments: str, before: Callable[[], object]
    ) -> None:
        folder = temporary()  # not in the project, whose disk may be full
        self._files = [folder / "out", folder / "err"]
        for file in self._files:
            file.touch()
        job = (project, name, arguments, self._files, before)
        context = multiprocessing.get_context("fork")
        self._process: BaseProcess = context.Process(target=_work, args=job)
        self._process.start()

    @property
    def running(self) -> bool:
        """Whether the stage still runs."""
        return self._process.is_alive()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the stage, unless it has ended."""
        assert self._process.pid is not None
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, number)

    def children(self) -> list[int]:
        """The ids of the stage's child processes (Linux only)."""
        number = self._process.pid
        return [*map(int, Path(f"/proc/{number}/task/{number}/children").read_text().split())]

    def output(self) -> str:
        """The text that the stage has printed so far."""
        return "".join(file.read_text() for file in self._files)

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait until a condition holds while the stage runs."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert self.running, f"the stage ended too early: {self.output()}"
            assert time.monotonic() < end, "the condition never held"
            time.sleep(0.005)

    def wait(self) -> Outcome:
        """Wait until the stage ends."""
        self._process.join(PATIENCE)
        assert not self.running, "the stage does not end"
        status = self._process.exitcode
        assert status is not None
        return Outcome(status, *(file.read_text() for file in self._files))


def _work(
    project: Path,
    name: str,
    arguments: tuple[str, ...],
    files: list[Path],
    before: Callable[[], object],
) -> None:
    """Do in the forked process what `python pipeline/NAME.py ...` does."""
    for stream, file in zip((1, 2), files, strict=True):
        handle = os.open(file, os.O_WRONLY | os.O_APPEND)
        os.dup2(handle, stream)
        os.close(handle)
    sys.stdout, sys.stderr = (os.fdopen(stream, "w", closefd=False) for stream in (1, 2))
    os.chdir(project)
    os.environ["PONDERING_TRACKING"] = "off"
    os.environ.pop("PONDERING_MIRROR", None)
    script = str(argv.PIPELINE / f"{name}.py")
    sys.argv = [script, *arguments]
    before()
    runpy.run_path(script, run_name="__main__")


def run(
    project: Path, name: str, *arguments: str, before: Callable[[], object] | None = None
) -> Outcome:
    """Run a stage to its end, in a forked process if `before` is given."""
    if before is not None:
        return Stage(project, name, *arguments, before=before).wait()
    with (
        contextlib.chdir(project),
        patch.dict(os.environ, PONDERING_TRACKING="off"),
        patch.object(machine, "processes", lambda threads: 1),
    ):
        outcome = argv.run(f"{name}.py", *arguments)
    if outcome.exception is not None and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    return Outcome(outcome.exit_code, outcome.stdout, outcome.stderr)


def work(project: Path, *names: str) -> None:
    """Run stages one after the other; each must succeed and print no error."""
    for name in names:
        outcome = run(project, name, *({"datasets": DATASETS}.get(name, QUICK)))
        assert (outcome.status, outcome.err) == (0, ""), outcome


def fresh(folder: Path, values: dict[str, Any]) -> Path:
    """Write a project with these parameters and its frozen data sets."""
    tiny.write(folder, values)
    tiny.freeze_all(folder)
    return folder


@cache
def finished_project() -> Path:
    """The tiny project after every stage has run once. Tests copy it and never change it."""
    folder = temporary()
    tiny.write(folder, tiny.document())
    work(folder, "datasets", "train", "evaluate")
    return folder


def publish_results(project: Path) -> Path:
    """Publish a project's results without a report; returns their folder."""
    from pondering.evaluate.publish import publish

    for name in ("claims.json", "index.html"):
        (project / "data/results/quick" / name).touch()
    return publish(load_params(project / "params.yaml"))


def contents(folder: Path) -> dict[str, bytes]:
    """The bytes of each file that stages wrote, by path; without checkpoints and data/replicas."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for top in ("data", "reports")
        for path in sorted((folder / top).rglob("*"))
        if path.is_file() and path.parent.name != "replicas"
    }


def results(folder: Path) -> dict[str, bytes]:
    """The contents without the provenance records, which hold wall times."""
    return {name: data for name, data in contents(folder).items() if "/provenance/" not in name}
