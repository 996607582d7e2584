"""SIGKILL at any moment: the next run goes on, nothing is lost or left over."""

from __future__ import annotations

import random
import shutil
import signal
import time
from functools import partial
from pathlib import Path

import pytest
from support import faults, stages, tiny

TRAIN = ("train", *stages.QUICK, "--mechanism", "act")
UPDATES = 40
WRITTEN = (
    "data/results/quick/networks/tiny/act/parameters.safetensors",
    "data/results/quick/networks/tiny/act/run.json",
    "data/results/quick/curves/tiny/act.csv",
)
ORIGIN = "data/results/quick/provenance/tiny/act.json"  # differs in its wall time


def write_params(folder: Path, checkpoint_seconds: float) -> None:
    """A short training that saves itself so often."""
    values = tiny.document(training={"updates": UPDATES, "log_points": 4})
    values["compute"]["checkpoint_seconds"] = checkpoint_seconds
    tiny.write(folder, values)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that writes a checkpoint after every update."""
    folder = stages.new_project(tmp_path_factory.mktemp("kills") / "project")
    write_params(folder, 1e-9)
    assert stages.run(folder, "datasets", *stages.QUICK).status == 0
    return folder


@pytest.fixture(scope="module")
def undisturbed(fresh: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What a run writes that saves nothing before its end."""
    folder = tmp_path_factory.mktemp("undisturbed") / "project"
    shutil.copytree(fresh, folder)
    write_params(folder, 1000.0)
    assert stages.run(folder, *TRAIN).status == 0
    return {name: (folder / name).read_bytes() for name in WRITTEN}


@pytest.fixture
def project(fresh: Path, tmp_path: Path) -> Path:
    shutil.copytree(fresh, tmp_path / "project")
    return tmp_path / "project"


def check_whole(project: Path, undisturbed: dict[str, bytes]) -> None:
    """Every file that is there is as an undisturbed run writes it."""
    for name, data in undisturbed.items():
        path = project / name
        assert not path.exists() or path.read_bytes() == data, name


def check_finished(project: Path, undisturbed: dict[str, bytes]) -> None:
    """All the files are there, and nothing beside them."""
    check_whole(project, undisturbed)
    names = {name for name in stages.contents(project) if not name.endswith(".partial")}
    assert {name for name in names if "/tiny/act" in name} == {*WRITTEN, ORIGIN}
    assert [path.name for path in (project / ".checkpoints/quick/tiny").iterdir()] == ["lock"]


def test_killed_at_the_steps_of_writing(project: Path, undisturbed: dict[str, bytes]) -> None:
    """Of checkpoints at random, then of each file that the finished training leaves."""
    moments = random.Random(2016)
    kills, status = 0, -signal.SIGKILL
    while not (project / ORIGIN).exists():
        moment = moments.randint(1, 10 * faults.STEPS)
        status = stages.run(project, *TRAIN, before=partial(faults.die_at, moment)).status
        assert status == -signal.SIGKILL or (project / ORIGIN).exists()
        kills += status == -signal.SIGKILL
        check_whole(project, undisturbed)
    assert kills >= 5
    written = (len(WRITTEN) + 1) * faults.STEPS
    for moment in range(1, written + 1):
        for name in (*WRITTEN, ORIGIN):
            (project / name).unlink(missing_ok=True)  # as DVC does before it runs a stage
        done = stages.run(project, *TRAIN, before=partial(faults.die_at, moment))
        assert done.status == -signal.SIGKILL, moment
        check_whole(project, undisturbed)
    done = stages.run(project, *TRAIN, before=partial(faults.die_at, written + 1))
    said = "quick tiny: all of 4 replicas are trained\n"  # the last kill left all of it
    assert (done.status, done.out, done.err) == (0, said, "")
    check_finished(project, undisturbed)


def test_killed_from_outside(project: Path, undisturbed: dict[str, bytes]) -> None:
    """At random times after a run has got further than the one before it."""
    moments = random.Random(2021)

    def saved() -> tuple[int, ...]:
        found = (project / ".checkpoints").glob("quick/tiny/*/checkpoint.safetensors")
        return tuple(path.stat().st_ino for path in found)

    kills = 0
    while kills < 15:
        before = saved()
        stage = stages.Stage(project, *TRAIN)
        while stage.running and saved() == before:
            time.sleep(0.001)
        time.sleep(moments.uniform(0, 0.01))
        stage.send(signal.SIGKILL)
        status = stage.wait().status
        kills += status == -signal.SIGKILL
        check_whole(project, undisturbed)
        if status == 0:  # the end: all anew
            check_finished(project, undisturbed)
            for top in (".checkpoints", "data/replicas", "data/results"):
                shutil.rmtree(project / top)
    assert stages.run(project, *TRAIN).status == 0
    check_finished(project, undisturbed)
