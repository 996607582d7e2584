"""What the environment keeps secret stays there: no file and no message of the pipeline has it."""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path

import pytest
from support import stages, tiny, tracked_stage

QUICK = ("--profile", "quick")
SECRETS = {
    "AWS_SECRET_ACCESS_KEY": "wJalrPlantedKeyOne",
    "PONDERING_MIRROR": "https://nobody:PlantedPasswordTwo@127.0.0.1:9/files?token=PlantedThree",
}
PLANTED = b"Planted"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The finished tiny project with claims and an empty database; one training is to be done."""
    folder = tmp_path / "project"
    shutil.copytree(stages.finished_project(), folder)
    shutil.rmtree(folder / ".checkpoints")
    shutil.copy(stages.ROOT / "claims.yaml", folder)
    shutil.copy(tracked_stage.empty_database(), folder)
    return folder


def plant(secrets: dict[str, str]) -> None:
    """An environment with secrets, and tracking on."""
    os.environ.update(secrets | {"PONDERING_TRACKING": "on"})


def check(project: Path, said: str) -> None:
    """No file's name or content and nothing that was said has a secret."""
    assert PLANTED.decode() not in said
    files = [path for path in project.rglob("*") if path.is_file()]
    assert any("mlflow.db" in path.name for path in files)
    for path in files:
        assert PLANTED not in os.fsencode(path) and PLANTED not in path.read_bytes(), path


def test_the_pipeline_with_tracking(project: Path) -> None:
    said = ""
    act = ("train", *stages.QUICK, "--mechanism", "act")
    work = [("datasets", *stages.QUICK), act, ("evaluate", *stages.QUICK), ("report", *QUICK)]
    for name, *arguments in work:
        done = stages.run(project, name, *arguments, before=partial(plant, SECRETS))
        assert done.status == 0, done.err
        said += done.out + done.err
    check(project, said)


def test_a_mirror_that_cannot_be_reached(project: Path) -> None:
    values = tiny.document()
    values["download"]["needs"] = {"quick": ["words"]}
    values["download"]["sets"]["words"]["urls"] = []
    tiny.write(project, values)
    done = stages.run(project, "download", *QUICK, before=partial(plant, SECRETS))
    assert done.status == 2 and "https://127.0.0.1:9/files/words/all.txt" in done.err
    check(project, done.out + done.err)
