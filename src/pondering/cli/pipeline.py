"""The project as DVC knows it: what its stages wait for, are out of date by, and wrote."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dvc.exceptions import DvcException
from dvc.logger import set_loggers_level
from dvc.repo import Repo

from pondering.project import locks
from pondering.project.errors import UserError

SECONDS_BETWEEN_RECORDS = 30.0  # of what has been written; to write dvc.lock anew takes a second


@contextmanager
def opened(root: Path) -> Iterator[Any]:
    """DVC's own object of a project, in which this process leads; DVC logs warnings alone.

    Raises:
        UserError: there is no project, another process leads in it or another DVC is at work, or a
            killed one has left damaged files.
    """
    try:
        with set_loggers_level(logging.WARNING), Repo(str(root)) as repo, locks.leading(root):
            yield repo
    except DvcException as error:
        raise UserError(_in_a_line(str(error).strip())) from error


@contextmanager
def led(root: Path) -> Iterator[Pipeline]:
    """The stages of a project that this process leads, and at the end the record of all they wrote.

    Raises:
        UserError: see `opened`.
    """
    with opened(root) as repo:
        pipeline = Pipeline(repo)
        try:
            yield pipeline
        finally:
            pipeline.record()


class Pipeline:
    """What `dvc repro` does before and after a stage's command, for whoever runs the command.

    Attributes:
        needs: each stage's name, in the order of dvc.yaml, with the stages that it waits for.
    """

    def __init__(self, repo: Any) -> None:
        self._repo, graph = repo, repo.index.graph
        self._stages = {each.addressing: each for each in repo.index.stages if each.cmd}
        self.needs = {
            name: {other.addressing for other in graph.successors(each)} & set(self._stages)
            for name, each in self._stages.items()
        }
        self._unrecorded: list[Any] = []
        self._recorded = time.monotonic()

    def changed(self, name: str) -> bool:
        """Whether DVC would run a stage, those that it waits for being up to date."""
        with self._repo.lock:
            return bool(self._stages[name].status())

    def command(self, name: str) -> str:
        """Make a stage ready to run, as DVC does, and give what a shell would run."""
        stage = self._stages[name]
        with self._repo.lock:
            stage.remove_outs()
            stage.save_deps()
        return stage.cmd if isinstance(stage.cmd, str) else "\n".join(stage.cmd)

    def written(self, name: str) -> None:
        """A stage has ended well: keep what it wrote, and now and then write dvc.lock."""
        stage = self._stages[name]
        with self._repo.lock:
            stage.save()
            stage.commit()
        self._unrecorded.append(stage)
        if time.monotonic() - self._recorded > SECONDS_BETWEEN_RECORDS:
            self.record()

    def record(self) -> None:
        """Write into dvc.lock what the stages that have ended were given and wrote."""
        if self._unrecorded:
            with self._repo.lock, self._repo.scm_context(quiet=True):
                self._unrecorded[0].dvcfile.dump_stages(self._unrecorded, update_pipeline=False)
        self._unrecorded, self._recorded = [], time.monotonic()


def _in_a_line(said: str) -> str:
    """A refusal of DVC's, with what to do about it."""
    if busy := re.search(r"\(PID \d+\): .*", said):
        return (
            f"another run is at work in this folder, {busy[0]}; wait for its end, or stop it. "
            "If that is no dvc, a killed one left .dvc/tmp/rwlock behind; delete it"
        )
    if "RWLock-file" in said:
        return "a killed dvc left .dvc/tmp/rwlock cut off; delete it"
    if "dvc.lock" in said:
        said += " If a killed dvc has cut it off, `git checkout dvc.lock` or delete it"
    return f"dvc: {said}"
