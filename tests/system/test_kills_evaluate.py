"""SIGKILL while the evaluation writes its tables: the next run writes the same."""

from __future__ import annotations

import json
import random
import shutil
import signal
import time
from functools import partial
from pathlib import Path

import pytest
from support import faults, stages

EVALUATE = ("evaluate", *stages.QUICK)
FOLDERS = ("data/results/quick/tables/", "data/results/quick/traces/", "reports/quick/metrics/")
ORIGIN = "data/results/quick/provenance/tiny.json"  # differs in its wall time
FILES = 4  # that it writes


def outputs(project: Path) -> dict[str, bytes]:
    """All that lies where the evaluation writes, without what a killed one had half-written."""
    found = stages.contents(project)
    own = (name for name in found if name.startswith(FOLDERS) and not name.endswith(".partial"))
    return {name: found[name] for name in own}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The tiny project before its evaluation."""
    folder = tmp_path / "project"
    shutil.copytree(stages.finished_project(), folder)
    clear(folder)
    return folder


def names(project: Path) -> set[Path]:
    """The files that there are."""
    return {path for folder in FOLDERS for path in (project / folder).rglob("*") if path.is_file()}


def clear(project: Path) -> None:
    """As DVC does before it runs a stage: half-written neighbours of its outputs stay."""
    (project / ORIGIN).unlink(missing_ok=True)
    for path in names(project):
        if not path.name.endswith(".partial"):
            path.unlink()


def check_whole(project: Path) -> None:
    """Every table that is there is as an undisturbed run writes it."""
    undisturbed = outputs(stages.finished_project())
    for name, data in outputs(project).items():
        assert data == undisturbed[name], name


def check_again(project: Path) -> None:
    """The same command ends with the tables of an undisturbed run."""
    done = stages.run(project, *EVALUATE)
    assert (done.status, done.err) == (0, "")
    assert outputs(project) == outputs(stages.finished_project())
    assert json.loads((project / ORIGIN).read_text())["wall_seconds"] > 0


def test_killed_at_the_steps_of_writing(project: Path) -> None:
    moments = random.Random(2016).sample(range(1, FILES * faults.STEPS + 1), 8)
    for moment in moments:
        done = stages.run(project, *EVALUATE, before=partial(faults.die_at, moment))
        assert done.status == -signal.SIGKILL, moment
        check_whole(project)
        check_again(project)
        clear(project)
    last = stages.run(project, *EVALUATE, before=partial(faults.die_at, FILES * faults.STEPS + 1))
    assert last.status == 0, "it writes more files than this test knows of"


def test_killed_from_outside(project: Path) -> None:
    """As soon as it has begun to write, and a little later."""
    moments, kills = random.Random(2021), 0
    while kills < 8:
        before = names(project)
        stage = stages.Stage(project, *EVALUATE)
        while stage.running and names(project) <= before:
            time.sleep(0.0005)
        time.sleep(moments.uniform(0, 0.01))
        stage.send(signal.SIGKILL)
        kills += stage.wait().status == -signal.SIGKILL
        check_whole(project)
        clear(project)
    check_again(project)
