"""Training stopped, killed or started twice: the next run ends where an undisturbed one does."""

from __future__ import annotations

import random
import re
import shutil
import signal
import time
from functools import partial
from pathlib import Path

import pytest
from support import faults, stages, tiny

TRAIN = ("train", *stages.QUICK, "--mechanism", "act")
EVALUATE = ("evaluate", *stages.QUICK)
UPDATES = 500
WRITTEN = (
    "data/results/quick/networks/tiny/act/parameters.safetensors",
    "data/results/quick/networks/tiny/act/run.json",
    "data/results/quick/curves/tiny/act.csv",
)
ORIGIN = "data/results/quick/provenance/tiny/act.json"  # differs in its wall time


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose training takes a second or so and writes checkpoints all the time."""
    values = tiny.document(training={"updates": UPDATES, "log_points": 50})
    values["compute"]["checkpoint_seconds"] = 0.02
    return stages.fresh(tmp_path_factory.mktemp("fresh") / "project", values)


@pytest.fixture(scope="module")
def undisturbed(fresh: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What an undisturbed run writes."""
    folder = shutil.copytree(fresh, tmp_path_factory.mktemp("undisturbed") / "project")
    assert stages.run(folder, *TRAIN).status == 0
    return {name: (folder / name).read_bytes() for name in WRITTEN}


@pytest.fixture
def project(fresh: Path, tmp_path: Path) -> Path:
    return shutil.copytree(fresh, tmp_path / "project")


def saved(project: Path) -> list[int]:
    """The checkpoint that there is."""
    found = (project / ".checkpoints").glob("quick/tiny/*/checkpoint.safetensors")
    return [path.stat().st_ino for path in found]


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
    assert not saved(project)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_and_the_same_command_goes_on(
    project: Path, undisturbed: dict[str, bytes], number: signal.Signals
) -> None:
    stage = stages.Stage(project, *TRAIN)
    stage.until(lambda: bool(saved(project)))
    stage.send(number)
    done = stage.wait()
    assert done.status == 130
    found = re.fullmatch(
        rf"stopped at update (\d+) of {UPDATES}; the same command goes on from there\n", done.err
    )
    assert found and 0 < int(found[1]) < UPDATES
    assert not any((project / name).exists() for name in WRITTEN)
    again = stages.run(project, *TRAIN)
    assert (again.status, again.err) == (0, "")
    assert again.out.startswith(f"quick tiny act: going on from update {found[1]}\n")
    check_finished(project, undisturbed)


def test_a_second_trainer_waits_and_takes_over(
    project: Path, undisturbed: dict[str, bytes]
) -> None:
    first = stages.Stage(project, *TRAIN)
    first.until(lambda: bool(saved(project)))
    second = stages.Stage(project, *TRAIN)
    second.until(lambda: "another trainer is at work on this run; waiting" in second.said())
    assert "going on" not in second.said()
    first.send(signal.SIGKILL)
    first.wait()
    done = second.wait()
    assert done.status == 0 and "going on from update" in done.out
    check_finished(project, undisturbed)


def test_killed_from_outside(project: Path, undisturbed: dict[str, bytes]) -> None:
    """At random times after a run has got further than the one before it."""
    moments, kills = random.Random(2021), 0
    while kills < 5:
        before = saved(project)
        stage = stages.Stage(project, *TRAIN)
        while stage.running and saved(project) == before:
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


def test_killed_at_the_steps_of_writing_what_a_training_leaves(
    project: Path, undisturbed: dict[str, bytes]
) -> None:
    assert stages.run(project, *TRAIN).status == 0
    written = (len(WRITTEN) + 1) * faults.STEPS
    for moment in (*random.Random(2016).sample(range(1, written + 1), 6), written + 1):
        for name in (*WRITTEN, ORIGIN):
            (project / name).unlink(missing_ok=True)  # as DVC does before it runs a stage
        done = stages.run(project, *TRAIN, before=partial(faults.die_at, moment))
        check_whole(project, undisturbed)
        assert done.status == (-signal.SIGKILL if moment <= written else 0), moment
    check_finished(project, undisturbed)


def test_killed_at_the_steps_of_writing_what_an_evaluation_leaves(tmp_path: Path) -> None:
    project = shutil.copytree(stages.finished_project(), tmp_path / "project")

    def tables() -> dict[str, bytes]:
        names = ("quick/tables/", "quick/traces/", "quick/metrics/")
        return {
            path: data
            for path, data in stages.contents(project).items()
            if any(each in path for each in names) and not path.endswith(".partial")
        }

    undisturbed, written = tables(), 4 * faults.STEPS
    for moment in (*random.Random(2016).sample(range(1, written + 1), 4), written + 1):
        for name in (*tables(), "data/results/quick/provenance/tiny.json"):
            (project / name).unlink(missing_ok=True)
        done = stages.run(project, *EVALUATE, before=partial(faults.die_at, moment))
        assert done.status == (-signal.SIGKILL if moment <= written else 0), moment
        assert tables().items() <= undisturbed.items()
    assert tables() == undisturbed
