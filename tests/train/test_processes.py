"""Shards in several processes write the bytes of one process and end with the stage."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from math import nan
from pathlib import Path
from typing import Any

import pytest
from support import stages, tiny

from pondering.params.read import load_params
from pondering.project import machine
from pondering.train import processes
from pondering.train.news import News
from pondering.train.shard import Shard

TRAIN = ("train", *stages.QUICK, "--mechanism", "act")
SIZES: dict[str, Any] = tiny.EXACT | {"training": {"batch": 32, "updates": 500}}
ACT = "networks/tiny/act"
WRITTEN = (f"{ACT}/parameters.safetensors", f"{ACT}/run.json", "curves/tiny/act.csv")


def read_results(project: Path) -> dict[str, bytes]:
    return {name: (project / "data/results/quick" / name).read_bytes() for name in WRITTEN}


def two_cores() -> None:
    """Let a stage's process find two cores."""
    machine.processes = lambda threads: 2


def one_core() -> None:
    machine.processes = lambda threads: 1


def second_fails() -> None:
    two_cores()
    real = processes.train

    def refuse(shard: Shard, *rest: Any) -> Any:
        if all(each.setting > 0.01 for each in shard.replicas.values()):
            raise MemoryError
        return real(shard, *rest)

    processes.train = refuse


def slow_start() -> None:
    """Let shards handle no signal in their first second."""
    two_cores()
    real = processes.train

    def train(*arguments: Any) -> Any:
        time.sleep(1)
        return real(*arguments)

    processes.train = train


def test_the_time_left_is_judged_by_what_comes_after_the_first_block(
    fresh: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Start-up and compilation say nothing of the pace, nor does what an earlier run has done."""
    one = tiny.shard(load_params(fresh / "params.yaml"))  # of 500 updates
    news = News([one, one], lambda rows: None)
    bar, clock = news.bar, [0.0]
    bar._time, bar.start_t, bar.last_print_t = lambda: clock[0], 0.0, 0.0
    told = [(0, 0, 1), (1, 1, 200), (0, 40, 10), (1, 41, 210), (0, 60, 20), (0, 80, 30)]
    for shard, clock[0], update in told:
        rows = [{"loss": loss, "error": 0.0, "ponder_time": 1.25} for loss in (0.25, 0.75, nan)]
        news.tell(shard, update, [row | {"update": update} for row in rows])
    lines = [line for line in capsys.readouterr().out.splitlines() if "left" in line]
    # 760, by 20 in 40 seconds
    assert lines == [
        "quick tiny: 240 of 1000 updates, 25:20 left, loss=0.5, error=0, ponder_time=1.25"
    ]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return stages.fresh(tmp_path_factory.mktemp("local") / "project", tiny.document(**SIZES))


@pytest.fixture(scope="module")
def one_process(fresh: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The results of one process."""
    folder = shutil.copytree(fresh, tmp_path_factory.mktemp("undisturbed") / "project")
    assert stages.run(folder, *TRAIN, before=one_core).status == 0
    return read_results(folder)


@pytest.fixture
def project(fresh: Path, tmp_path: Path) -> Path:
    return shutil.copytree(fresh, tmp_path / "project")


def assert_same_results(project: Path, one_process: dict[str, bytes]) -> None:
    assert not list(project.glob(".checkpoints/**/*.safetensors"))
    assert read_results(project) == one_process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_shards_end_with_the_stage_and_continue_to_the_bytes_of_one_process(
    project: Path, one_process: dict[str, bytes], number: signal.Signals
) -> None:
    stage = stages.Stage(project, *TRAIN, before=two_cores)
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
    assert len(list(project.glob("data/replicas/*"))) < 4, "both shards trained to their end"
    assert stages.run(project, *TRAIN, before=two_cores).status == 0
    assert_same_results(project, one_process)


def test_a_shard_that_has_just_started_ends_with_the_stage(project: Path) -> None:
    """All processes get SIGINT, as from a terminal."""
    stage = stages.Stage(project, *TRAIN, before=slow_start)
    stage.until(lambda: len(stage.children()) == 2)
    for child in stage.children():
        os.kill(child, signal.SIGINT)
    stage.send(signal.SIGINT)
    done = stage.wait()
    assert done.status == 130
    ended = re.findall(r"^stopped at update (\d+) of 500; ", done.err, re.MULTILINE)
    assert [int(each) < 10 for each in ended] == [True, True], done.err


def test_a_failing_shard_ends_the_stage_with_one_line(project: Path) -> None:
    done = stages.run(project, *TRAIN, before=second_fails)
    assert done.status == 1
    assert "error: out of memory" in done.err and "Traceback" not in done.err


def test_a_second_trainer_waits_and_takes_over(
    project: Path, one_process: dict[str, bytes]
) -> None:
    first = stages.Stage(project, *TRAIN, before=one_core)
    first.until(lambda: bool(list(project.glob(".checkpoints/**/*.safetensors"))))
    second = stages.Stage(project, *TRAIN, before=one_core)
    second.until(lambda: "another trainer is at work on this run; waiting" in second.output())
    assert "going on" not in second.output()
    first.send(signal.SIGKILL)
    first.wait()
    done = second.wait()
    assert done.status == 0 and "going on from update" in done.out
    assert_same_results(project, one_process)
