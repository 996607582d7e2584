"""Shards in processes of this machine: the bytes of one process, and what ends them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from support import stages, tiny

from pondering.project import machine
from pondering.train import processes
from pondering.train.shard import Shard

TRAIN = ("train", *stages.QUICK, "--mechanism", "act")
SIZES: dict[str, Any] = tiny.EXACT | {"training": {"batch": 32, "updates": 500}}
ACT = "networks/tiny/act"
WRITTEN = (f"{ACT}/parameters.safetensors", f"{ACT}/run.json", "curves/tiny/act.csv")


def written(project: Path) -> dict[str, bytes]:
    return {name: (project / "data/results/quick" / name).read_bytes() for name in WRITTEN}


def two() -> None:
    """In a stage's process: a machine of two cores."""
    machine.processes = lambda threads: 2


def one() -> None:
    machine.processes = lambda threads: 1


def second_fails() -> None:
    two()
    real = processes.train

    def refuse(shard: Shard, *rest: Any) -> Any:
        if all(each.setting > 0.01 for each in shard.replicas.values()):
            raise MemoryError
        return real(shard, *rest)

    processes.train = refuse


def slow_to_begin() -> None:
    """In processes whose first second passes before they handle any signal themselves."""
    two()
    real = processes.train

    def train(*given: Any) -> Any:
        time.sleep(1)
        return real(*given)

    processes.train = train


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stages.fresh(tmp_path_factory.mktemp("local") / "project", tiny.document(**SIZES))


@pytest.fixture(scope="module")
def undisturbed(fresh: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What one process writes."""
    folder = shutil.copytree(fresh, tmp_path_factory.mktemp("undisturbed") / "project")
    assert stages.run(folder, *TRAIN, before=one).status == 0
    return written(folder)


@pytest.fixture
def project(fresh: Path, tmp_path: Path) -> Path:
    return shutil.copytree(fresh, tmp_path / "project")


def check_finished(project: Path, undisturbed: dict[str, bytes]) -> None:
    assert not list(project.glob(".checkpoints/**/*.safetensors"))
    assert written(project) == undisturbed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_they_end_with_the_stage_and_go_on_to_the_bytes_of_one_process(
    project: Path, undisturbed: dict[str, bytes], number: signal.Signals
) -> None:
    stage = stages.Stage(project, *TRAIN, before=two)
    stage.until(lambda: len(list(project.glob(".checkpoints/**/*.safetensors"))) == 2)
    children = stage.children()
    assert len(children) == 2
    stage.send(number)
    done = stage.wait()
    assert done.status == (-number if number == signal.SIGKILL else 130)
    if number != signal.SIGKILL:
        assert "goes on from" in done.err.splitlines()[-1]
    end = time.monotonic() + 10
    while any(Path(f"/proc/{child}").exists() for child in children):
        assert time.monotonic() < end, "a shard trains on without its stage"
        time.sleep(0.05)
    assert stages.run(project, *TRAIN, before=two).status == 0
    check_finished(project, undisturbed)


def test_one_that_has_only_begun_ends_with_the_stage(project: Path) -> None:
    """SIGINT goes to all of them, as from a terminal."""
    stage = stages.Stage(project, *TRAIN, before=slow_to_begin)
    stage.until(lambda: len(stage.children()) == 2)
    for child in stage.children():
        os.kill(child, signal.SIGINT)
    stage.send(signal.SIGINT)
    done = stage.wait()
    assert done.status == 130
    ended = re.findall(r"^stopped at update (\d+) of 500; ", done.err, re.MULTILINE)
    assert [int(each) < 10 for each in ended] == [True, True], done.err


def test_one_that_fails_ends_the_stage_and_says_why(project: Path) -> None:
    done = stages.run(project, *TRAIN, before=second_fails)
    assert done.status == 1
    assert "error: out of memory" in done.err and "Traceback" not in done.err


def test_a_second_trainer_waits_and_takes_over(
    project: Path, undisturbed: dict[str, bytes]
) -> None:
    first = stages.Stage(project, *TRAIN, before=one)
    first.until(lambda: bool(list(project.glob(".checkpoints/**/*.safetensors"))))
    second = stages.Stage(project, *TRAIN, before=one)
    second.until(lambda: "another trainer is at work on this run; waiting" in second.said())
    assert "going on" not in second.said()
    first.send(signal.SIGKILL)
    first.wait()
    done = second.wait()
    assert done.status == 0 and "going on from update" in done.out
    check_finished(project, undisturbed)
