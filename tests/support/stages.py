"""Stage scripts in a project: in this process, or in one of their own, to be stopped or spoilt.

The second is forked, so that it has at once what takes seconds to import. It has its own working
folder, output, signals and exit status, as from a shell.
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
PATIENCE = 300.0  # seconds; for a loaded machine, far from what anything here takes


def temporary() -> Path:
    """A folder that is deleted when this process ends."""
    folder = tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


@dataclass
class Done:
    """How a stage ended."""

    status: int
    out: str
    err: str


class Stage:
    """A stage script at work in a project: `Stage(folder, "train", "--profile", "quick")`.

    `before` is called in its process: it may arrange a fault.
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
        """Whether it has not ended."""
        return self._process.is_alive()

    def send(self, number: signal.Signals) -> None:
        """Send a signal to it; one that has ended and been waited for gets none."""
        assert self._process.pid is not None
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, number)

    def children(self) -> list[int]:
        """The processes that it has started (on Linux)."""
        number = self._process.pid
        return [*map(int, Path(f"/proc/{number}/task/{number}/children").read_text().split())]

    def said(self) -> str:
        """What it has written so far."""
        return "".join(file.read_text() for file in self._files)

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for something to become true while it runs."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert self.running, f"it has ended: {self.said()}"
            assert time.monotonic() < end, "waited in vain"
            time.sleep(0.005)

    def wait(self) -> Done:
        """Wait for its end."""
        self._process.join(PATIENCE)
        assert not self.running, "it does not end"
        status = self._process.exitcode
        assert status is not None
        return Done(status, *(file.read_text() for file in self._files))


def _work(
    project: Path,
    name: str,
    arguments: tuple[str, ...],
    files: list[Path],
    before: Callable[[], object],
) -> None:
    """The forked process: take the place of `python pipeline/NAME.py ...`."""
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
) -> Done:
    """A stage from beginning to end; in a process of its own where `before` arranges a fault."""
    if before is not None:
        return Stage(project, name, *arguments, before=before).wait()
    with (
        contextlib.chdir(project),
        patch.dict(os.environ, PONDERING_TRACKING="off"),
        patch.object(machine, "processes", lambda threads: 1),
    ):
        done = argv.run(f"{name}.py", *arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Done(done.exit_code, done.stdout, done.stderr)


def work(project: Path, *names: str) -> None:
    """Stages one after the other, which have to succeed."""
    for name in names:
        done = run(project, name, *({"datasets": DATASETS}.get(name, QUICK)))
        assert (done.status, done.err) == (0, ""), done


def fresh(folder: Path, values: dict[str, Any]) -> Path:
    """A project with these parameters and its data: what a training needs."""
    tiny.write(folder, values)
    tiny.freeze_all(folder)
    return folder


@cache
def finished_project() -> Path:
    """The tiny project after every stage has run once; not to be changed."""
    folder = temporary()
    tiny.write(folder, tiny.document())
    work(folder, "datasets", "train", "evaluate")
    return folder


def published(project: Path) -> Path:
    """The published results of a project, for which no report has been drawn."""
    from pondering.evaluate.publish import publish

    for name in ("claims.json", "index.html"):
        (project / "data/results/quick" / name).touch()
    return publish(load_params(project / "params.yaml"), project)


def contents(folder: Path) -> dict[str, bytes]:
    """Everything that the stages wrote; checkpoints and data/replicas left out."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for top in ("data", "reports")
        for path in sorted((folder / top).rglob("*"))
        if path.is_file() and path.parent.name != "replicas"
    }


def results(folder: Path) -> dict[str, bytes]:
    """The same but for the records, which say how long it took."""
    return {name: data for name, data in contents(folder).items() if "/provenance/" not in name}
