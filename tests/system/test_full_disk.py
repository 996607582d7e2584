"""A full disk: one error line, status 1, and no file changed."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from functools import partial
from pathlib import Path

import pytest
from support import stages, tiny

QUICK = ("--profile", "quick")
STAGES = {
    "download": (*QUICK, "--data", "words"),
    "train": (*stages.QUICK, "--mechanism", "act"),
    "evaluate": stages.QUICK,
}
WORDS = b"a b c d e\n"


@pytest.fixture(scope="module")
def edited_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished project whose parameters were edited, so that every stage writes other files."""
    project = shutil.copytree(stages.finished_project(), tmp_path_factory.mktemp("full") / "p")
    (project / "mirror/words").mkdir(parents=True)
    (project / "mirror/words/all.txt").write_bytes(WORDS)
    values = tiny.document(training={"updates": 40}, evaluation={"examples": 11})
    values["compute"]["checkpoint_seconds"] = 1000
    file = values["download"]["sets"]["words"]["files"]["words/all.txt"]
    file |= {"bytes": len(WORDS), "sha256": hashlib.sha256(WORDS).hexdigest()}
    values["download"] |= {"mirror": "mirror", "needs": {"quick": ["words"]}}
    tiny.write(project, values)
    assert stages.run(project, "datasets", *stages.DATASETS).status == 0
    return project


def results(project: Path) -> dict[str, bytes]:
    """The files of stages, except files that may be written one by one."""
    whole = ("data/raw/", "data/replicas", "data/results/quick/provenance")
    return {
        path: data
        for path, data in stages.contents(project).items()
        if not path.startswith(whole) and "tiny/act" not in path
    }


def refuse_writes(files: int) -> None:
    """Let a stage's process write some files and no more."""
    left, fsync = files, os.fsync

    def failing_fsync(handle: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(handle)

    os.fsync = failing_fsync  # type: ignore[assignment]


@pytest.mark.parametrize("name", STAGES)
def test_a_full_disk_changes_no_result(edited_project: Path, tmp_path: Path, name: str) -> None:
    """The disk is full after 0, 1, 3, ... files of a stage."""
    project = shutil.copytree(edited_project, tmp_path / "project")
    if name == "evaluate":
        assert stages.run(project, "train", *stages.QUICK).status == 0
    old, files = results(project), 0
    while True:
        shutil.rmtree(project / ".checkpoints", ignore_errors=True)
        fault = partial(refuse_writes, files)
        done = stages.run(project, name, *STAGES[name], before=fault)
        if done.status == 0:
            break
        *_, line = done.err.splitlines()
        assert done.status == 1 and line.startswith("error: ")
        assert "no space left on device" in line and "Traceback" not in done.err
        assert results(project) == old, files
        assert not [path for path in project.rglob("*.partial") if path.is_file()]
        files = 2 * files + 1
    assert files
