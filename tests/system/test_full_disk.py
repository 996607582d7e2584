"""A disk that is full: one line with the remedy, status 1, and no file changed."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support import stages, tiny

QUICK = ("--profile", "quick")
TRAIN = (*stages.QUICK, "--mechanism", "act")
STAGES = {
    "download": (*QUICK, "--data", "words"),
    "datasets": stages.DATASETS,
    "train": TRAIN,
    "evaluate": stages.QUICK,
    "report": QUICK,
}
# What may be new though the stage failed later: whole files, each right by itself.
DONE_FIRST = {
    "download": {"data/raw/quick/words/all.txt"},
    "train": {
        f"data/results/quick/{n}"
        for n in (
            "curves/tiny/act.csv",
            "networks/tiny/act/parameters.safetensors",
            "networks/tiny/act/run.json",
            "provenance/tiny/act.json",
        )
    },
    "report": {f"data/results/quick/{n}" for n in ("claims.json", "index.html", "report.md")},
}
WORDS = b"a b c d e\n"


def changed() -> dict[str, Any]:
    """Parameters under which every stage writes other files than before."""
    values = tiny.document(training={"updates": 40}, evaluation={"examples": 11})
    values["compute"]["checkpoint_seconds"] = 1000
    file = values["download"]["sets"]["words"]["files"]["words/all.txt"]
    file |= {"bytes": len(WORDS), "sha256": hashlib.sha256(WORDS).hexdigest()}
    values["download"] |= {"mirror": "mirror", "needs": {"quick": ["words"]}}
    return values


@pytest.fixture(scope="module")
def before(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """For each stage the project before it: its own old results, all that it reads anew."""
    folder = tmp_path_factory.mktemp("before")
    project = shutil.copytree(stages.finished_project(), folder / "download")
    shutil.copy(stages.ROOT / "claims.yaml", project)
    assert stages.run(project, "report", *QUICK).status == 0
    (project / "mirror/words").mkdir(parents=True)
    (project / "mirror/words/all.txt").write_bytes(WORDS)
    tiny.write(project, changed())
    for name, following in pairwise(STAGES):
        shutil.copytree(folder / name, folder / following)
        arguments = stages.QUICK if name == "train" else STAGES[name]
        assert stages.run(folder / following, name, *arguments).status == 0
    return {name: folder / name for name in STAGES}


def results(project: Path, name: str) -> dict[str, bytes]:
    """What stages wrote, without downloads under way, finished replicas, what a stage does first.

    A replica's file is whole: what a stage that fails has trained stays trained.
    """
    apart = DONE_FIRST.get(name, set())
    return {
        path: data
        for path, data in stages.contents(project).items()
        if path not in apart and not path.startswith(("data/raw/.partial", "data/replicas"))
    }


def refuse_writes(files: int) -> None:
    """In a stage's process: the file system takes some files, then no more."""
    left, fsync = files, os.fsync

    def failing_fsync(handle: int) -> None:
        nonlocal left
        left -= 1
        if left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(handle)

    os.fsync = failing_fsync  # type: ignore[assignment]


@pytest.mark.parametrize("name", STAGES)
def test_a_file_system_that_takes_no_more(
    before: dict[str, Path], tmp_path: Path, name: str
) -> None:
    """After some of a stage's files."""
    project = shutil.copytree(before[name], tmp_path / "project")
    old, files = results(project, name), 0
    while True:
        shutil.rmtree(project / ".checkpoints", ignore_errors=True)
        fault = partial(refuse_writes, files)
        done = stages.run(project, name, *STAGES[name], before=fault)
        if done.status == 0:
            break
        *said, line = done.err.splitlines()
        assert done.status == 1 and line.startswith("error: ")
        assert "no space left on device" in line
        assert all(each.startswith("words/all.txt: ") for each in said)  # the download's progress
        assert results(project, name) == old, files
        assert not [path for path in project.rglob("*.partial") if path.is_file()]
        files = 2 * files + 1
    assert files
