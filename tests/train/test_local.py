"""Shards in processes of this machine: the bytes of one process, and what ends them."""

from __future__ import annotations

import os
import re
import shutil
import signal
import time
from pathlib import Path

import pytest
from support import stages, tiny

from pondering.params.read import load_params
from pondering.project import machine
from pondering.train import local
from pondering.train.plan import Plan, plan
from pondering.train.shards import LANES, Shard

TRAIN = ("train", *stages.QUICK, "--mechanism", "act")
SIZES = {"network": {"hidden": 32}, "training": {"batch": 32, "updates": 700}}
WRITTEN = (
    "data/runs/quick/tiny/act/parameters.safetensors",
    "data/runs/quick/tiny/act/run.json",
    "reports/quick/curves/tiny-act.csv",
)


def two() -> None:
    """In a stage's process: a machine of two cores."""
    machine.processes = lambda threads: 2


def one() -> None:
    machine.processes = lambda threads: 1


def second_fails() -> None:
    two()
    real = local._train

    def refuse(plan: Plan, shard: Shard, watch: object) -> object:
        if shard.first:
            raise MemoryError
        return real(plan, shard, watch)  # type: ignore[arg-type]

    local._train = refuse  # type: ignore[assignment]


def slow_to_begin() -> None:
    """In processes whose first second passes before they handle any signal themselves."""
    two()
    real = local._train

    def train(plan: Plan, shard: Shard, watch: object) -> object:
        time.sleep(1)
        return real(plan, shard, watch)  # type: ignore[arg-type]

    local._train = train  # type: ignore[assignment]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = stages.new_project(tmp_path_factory.mktemp("local") / "project")
    tiny.write(folder, tiny.document(**SIZES))
    assert stages.run(folder, "datasets", *stages.QUICK).status == 0
    return folder


@pytest.fixture(scope="module")
def undisturbed(fresh: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What one process writes."""
    folder = shutil.copytree(fresh, tmp_path_factory.mktemp("undisturbed") / "project")
    assert stages.run(folder, *TRAIN, before=one).status == 0
    assert not list(folder.glob(".checkpoints/**/replicas-*"))
    return {name: (folder / name).read_bytes() for name in WRITTEN}


@pytest.fixture
def project(fresh: Path, tmp_path: Path) -> Path:
    return shutil.copytree(fresh, tmp_path / "project")


def check_finished(project: Path, undisturbed: dict[str, bytes]) -> None:
    assert len(list(project.glob(".checkpoints/quick/tiny-act/*/replicas-*/*.safetensors"))) == 2
    assert {name: (project / name).read_bytes() for name in WRITTEN} == undisturbed


def test_two_processes_write_what_one_writes(project: Path, undisturbed: dict[str, bytes]) -> None:
    done = stages.run(project, *TRAIN, before=two)
    assert (done.status, done.err) == (0, "")
    check_finished(project, undisturbed)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_they_end_with_the_stage_and_go_on(
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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_that_has_only_begun_ends_with_the_stage(project: Path, number: signal.Signals) -> None:
    """SIGINT goes to all of them, as from a terminal."""
    stage = stages.Stage(project, *TRAIN, before=slow_to_begin)
    stage.until(lambda: len(stage.children()) == 2)
    if number == signal.SIGINT:
        for child in stage.children():
            os.kill(child, number)
    stage.send(number)
    done = stage.wait()
    assert done.status == 130
    ended = re.findall(r"^stopped at update (\d+) of 700; ", done.err, re.MULTILINE)
    assert [int(each) < 10 for each in ended] == [True, True], done.err


def test_one_that_fails_ends_the_stage_and_says_why(
    project: Path, undisturbed: dict[str, bytes]
) -> None:
    done = stages.run(project, *TRAIN, before=second_fails)
    assert done.status == 1
    assert "error: out of memory" in done.err and "Traceback" not in done.err
    assert stages.run(project, *TRAIN, before=two).status == 0
    check_finished(project, undisturbed)


def planned(folder: Path, **quick: object) -> Plan:
    params = load_params(tiny.write(folder, tiny.document(**quick)))  # type: ignore[arg-type]
    return plan(params, "tiny", "act", folder)


def test_who_trains_in_several_processes(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "processes", lambda threads: 3)
    wide = planned(project, **SIZES)
    assert wide.processes == 3
    assert [each[:2] for each in wide.shards()] == [(0, 2), (2, 4)]
    monkeypatch.setattr("pondering.train.plan.EVERY_STEP", 3)
    ten = load_params(tiny.write(project, tiny.document(**SIZES, seeds=[0, 1, 2, 3, 4])))  # type: ignore[arg-type]
    even = plan(ten, "tiny", "pondernet", project)
    assert [last - first for first, last, _ in even.shards()] == [2] * 5, "four would take longer"
    lanes = LANES[wide.path]
    for block, key in (("network", "hidden"), ("training", "batch")):
        assert planned(project, **SIZES | {block: {key: lanes + 1}}).processes == 1
