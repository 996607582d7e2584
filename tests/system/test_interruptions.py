"""Training stopped or started twice: the next run ends where an undisturbed one does."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support import stages, tiny

TRAIN = ("train", "--profile", "quick", "--experiment", "tiny", "--mechanism", "act")
UPDATES = 500
WRITTEN = (
    "data/results/quick/networks/tiny/act/parameters.safetensors",
    "data/results/quick/networks/tiny/act/run.json",
    "data/results/quick/curves/tiny/act.csv",
)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose training takes a second or so and writes checkpoints all the time."""
    folder = stages.new_project(tmp_path_factory.mktemp("project"))
    values = tiny.document(training={"updates": UPDATES, "log_points": 50})
    values["compute"]["checkpoint_seconds"] = 0.02
    tiny.write(folder, values)
    assert stages.run(folder, "datasets", *TRAIN[1:5]).status == 0
    return folder


@pytest.fixture(scope="module")
def undisturbed(fresh: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What an undisturbed run writes."""
    folder = tmp_path_factory.mktemp("undisturbed") / "project"
    shutil.copytree(fresh, folder)
    assert stages.run(folder, *TRAIN).status == 0
    return {name: (folder / name).read_bytes() for name in WRITTEN}


@pytest.fixture
def project(fresh: Path, tmp_path: Path) -> Path:
    shutil.copytree(fresh, tmp_path / "project")
    return tmp_path / "project"


def has_checkpoint(project: Path) -> bool:
    return any((project / ".checkpoints").glob("quick/tiny/*/checkpoint.safetensors"))


def nothing_written(project: Path) -> bool:
    return not any((project / name).exists() for name in WRITTEN)


def check_ends_as(undisturbed: dict[str, bytes], project: Path) -> None:
    for name, data in undisturbed.items():
        assert (project / name).read_bytes() == data, name


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_stops_at_once_and_the_same_command_goes_on(
    project: Path, undisturbed: dict[str, bytes], number: signal.Signals
) -> None:
    stage = stages.Stage(project, *TRAIN)
    stage.until(lambda: has_checkpoint(project))
    asked = time.monotonic()
    stage.send(number)
    done = stage.wait()
    assert time.monotonic() - asked < 2.0
    assert done.status == 130
    found = re.fullmatch(
        r"stopped at update (\d+) of 500; the same command goes on from there\n", done.err
    )
    assert found and 0 < int(found[1]) < UPDATES
    assert nothing_written(project)
    again = stages.run(project, *TRAIN)
    assert (again.status, again.err) == (0, "")
    assert again.out.startswith(f"quick tiny act: going on from update {found[1]}\n")
    check_ends_as(undisturbed, project)


def test_a_second_trainer_waits_and_takes_over(
    project: Path, undisturbed: dict[str, bytes]
) -> None:
    """The first is an orphan and gets killed; the second is told to stop while a third waits."""
    first = stages.Stage(project, *TRAIN)
    first.until(lambda: has_checkpoint(project))
    second = stages.Stage(project, *TRAIN)
    second.until(lambda: "another trainer is at work on this run; waiting" in second.said())
    assert "going on" not in second.said()
    first.send(signal.SIGKILL)
    first.wait()
    done = second.wait()
    assert done.status == 0
    assert "going on from update" in done.out
    check_ends_as(undisturbed, project)


def test_a_waiting_trainer_can_be_told_to_stop(project: Path) -> None:
    first = stages.Stage(project, *TRAIN)
    first.until(lambda: has_checkpoint(project))
    first.send(signal.SIGSTOP)  # or it may come to its end before the other is told
    second = stages.Stage(project, *TRAIN)
    second.until(lambda: "waiting for it" in second.said())
    second.send(signal.SIGINT)
    done = second.wait()
    first.send(signal.SIGINT)
    first.send(signal.SIGCONT)
    assert first.wait().status == 130
    assert done.status == 130
    assert done.err == "stopped; the same command starts this stage again\n"


def test_other_parameters_never_meet_an_old_checkpoint(
    project: Path, undisturbed: dict[str, bytes]
) -> None:
    """Changed and changed back: each setting has its own unfinished work."""
    stage = stages.Stage(project, *TRAIN)
    stage.until(lambda: has_checkpoint(project))
    stage.send(signal.SIGINT)
    assert stage.wait().status == 130
    params = (project / "params.yaml").read_text()
    assert "learning_rate: 0.01" in params
    changed = params.replace("learning_rate: 0.01", "learning_rate: 0.02", 1)
    (project / "params.yaml").write_text(changed.replace("updates: 500", "updates: 20", 1))
    other = stages.run(project, *TRAIN)
    assert other.status == 0
    assert "going on" not in other.out
    (project / "params.yaml").write_text(params)
    back = stages.run(project, *TRAIN)
    assert "going on from update" in back.out
    check_ends_as(undisturbed, project)


def test_ctrl_c_among_the_imports_is_a_line_too(project: Path) -> None:
    """In a process of its own that loads torch, as DVC starts it."""
    command = [sys.executable, "pipeline/train.py", *TRAIN[1:]]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, cwd=project, text=True, **pipes) as trainer:
        maps = Path(f"/proc/{trainer.pid}/maps")
        while trainer.poll() is None and "libtorch" not in maps.read_text():
            time.sleep(0.002)
        trainer.send_signal(signal.SIGINT)
        _, said = trainer.communicate(timeout=stages.PATIENCE)
    assert trainer.returncode == 130, said
    assert said == "stopped; the same command starts this stage again\n"
    assert nothing_written(project)
