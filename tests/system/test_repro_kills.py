"""`make repro` and `dvc repro`, stopped or killed at any moment: the next run goes on."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support import late_training, repros, stages, tiny

KILLS = int(os.environ.get("PONDERING_KILLS", "3"))  # of each command, at random moments
UPDATES = 1000
SECONDS = 4.0  # two are promised; this machine may be busy


def values(updates: int, checkpoint_seconds: float) -> dict[str, Any]:
    found = tiny.document(training={"updates": updates, "log_points": 1})
    found["compute"]["checkpoint_seconds"] = checkpoint_seconds
    return found


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """What the stages write when nobody ends them."""
    folder = tmp_path_factory.mktemp("alone") / "project"
    repros.new(folder, values(UPDATES, 1000.0), ["act"])
    for name, *arguments in (("datasets",), ("train", "--mechanism", "act")):
        assert stages.run(folder, name, *stages.QUICK, *arguments).status == 0
    return repros.results(folder)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    folder = repros.new(tmp_path / "project", values(UPDATES, 0.05), ["act"])
    yield folder
    repros.kill_all(folder)


def started(
    project: Path, command: str, log: Path, begun: Callable[[], object]
) -> subprocess.Popen[bytes]:
    """A command that has begun what it is to be disturbed in."""
    run = repros.start(project, command, log)
    repros.until(lambda: begun() or run.poll() is not None)
    assert run.poll() is None, log.read_text()
    return run


def checkpoints(project: Path) -> list[Path]:
    return list(project.glob(".checkpoints/quick/*/*/checkpoint.safetensors"))


def test_ctrl_c_ends_all_at_once_and_a_line_says_how_to_go_on(
    project: Path, tmp_path: Path
) -> None:
    """SIGINT goes to the whole process group, as from a terminal."""
    shutil.rmtree(project)
    repros.new(project, values(10**6, 0.05), ["repeat", "act"])  # they take for ever
    log, processes = tmp_path / "log", min(2, len(os.sched_getaffinity(0)))
    run = started(project, "make", log, lambda: len(checkpoints(project)) == processes)
    asked = time.monotonic()
    os.killpg(run.pid, signal.SIGINT)
    status = run.wait(repros.PATIENCE)
    repros.until(lambda: not repros.at_work(project), SECONDS)
    assert time.monotonic() - asked < SECONDS
    said = log.read_text()
    assert "Traceback" not in said
    *_, line, last = said.splitlines()
    assert line == "stopped; `make repro` goes on from there"
    assert last.startswith("make") and last.endswith("Error 130")
    assert status == -signal.SIGINT  # make's own


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stage_that_has_only_begun_ends_too(
    project: Path, tmp_path: Path, number: signal.Signals
) -> None:
    """A signal that comes before the stage can handle any is not lost."""
    shutil.rmtree(project)
    repros.new(project, values(10**6, 0.05), ["act"])
    log = tmp_path / "log"
    run = started(project, "late", log, lambda: (project / late_training.BEGUN).exists())
    os.killpg(run.pid, number)
    assert run.wait(late_training.SECONDS + SECONDS) == 128 + number
    repros.until(lambda: not repros.at_work(project), SECONDS)
    said = log.read_text()
    assert "Traceback" not in said and not checkpoints(project)
    assert said.endswith("stopped; `make repro` goes on from there\n")


def test_what_it_started_ends_with_it(
    project: Path, tmp_path: Path, undisturbed: dict[str, bytes]
) -> None:
    """The training stands still meanwhile, or it would be over too soon."""
    log = tmp_path / "log"

    def goes_on() -> bool:
        return "tiny act: going on from update " in log.read_text()

    for number, begun in (
        (signal.SIGTERM, lambda: checkpoints(project)),
        (signal.SIGKILL, goes_on),
    ):
        run = started(project, "pondering", log, begun)
        trainer = forked(project)
        os.kill(trainer, signal.SIGSTOP)
        os.kill(run.pid, number)
        if number == signal.SIGKILL:
            run.wait(repros.PATIENCE)
        assert trainer in repros.at_work(project)
        os.kill(trainer, signal.SIGCONT)
        status = run.wait(repros.PATIENCE)
        assert status == (128 + number if number == signal.SIGTERM else -number)
        repros.until(lambda: not repros.at_work(project))
        assert not (project / "data/runs/quick/tiny/act").exists(), "it was trained to its end"
        said = log.read_text()
        assert "Traceback" not in said
        assert f"of {UPDATES:,}; the same command goes on from there" in said
    last = repros.start(project, "pondering", log)
    assert last.wait(repros.PATIENCE) == 0, log.read_text()
    assert goes_on()
    assert repros.results(project) == undisturbed


def forked(project: Path) -> int:
    """The one stage at work: a process of the server's, which is itself at work in the project."""
    servers = {pid for pid, said in repros.at_work(project).items() if "forkserver" in said}
    parents = {
        pid: int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        for pid in servers
    }
    (found,) = [pid for pid, parent in parents.items() if parent in servers]
    return found


@pytest.mark.parametrize("command", ["dvc", "make"])
def test_kills_at_random_moments(
    project: Path, tmp_path: Path, undisturbed: dict[str, bytes], command: str
) -> None:
    """A run is killed, begun again and killed until one gets to its end; then all begins anew.

    Now and then DVC alone is killed, and the training that it had started goes on as an orphan.
    After each other kill all files must be whole; whatever ended must be as undisturbed.
    """
    chance, log = random.Random(command), tmp_path / "log"
    seconds = run_whole(project, command, log, undisturbed)
    kills, whole = 0, 1
    while kills < KILLS:
        repros.delete_cut_off(project)
        run = repros.start(project, command, log)
        end = time.monotonic() + chance.uniform(0, seconds)
        while run.poll() is None and time.monotonic() < end:
            time.sleep(0.002)
        if run.poll() is None:
            kills += 1
            if command == "dvc" and chance.random() < 0.3:
                run.kill()
                run.wait()
                continue
            os.killpg(run.pid, signal.SIGKILL)
            run.wait()
            repros.until(lambda: not repros.at_work(project))
            for name, data in repros.results(project).items():
                assert name.endswith(".partial") or undisturbed.get(name) == data, name
        else:
            assert run.returncode == 0, log.read_text()
            whole += 1
            begin_anew(project, undisturbed)
    run_whole(project, command, log, undisturbed)
    print(f"{command}: {kills} kills, {whole} runs that got to the end, {seconds:.1f} s alone")


def run_whole(project: Path, command: str, log: Path, want: dict[str, bytes]) -> float:
    """A run that nobody kills; its seconds."""
    repros.delete_cut_off(project)
    begin = time.monotonic()
    run = repros.start(project, command, log)
    assert run.wait(repros.PATIENCE) == 0, log.read_text()
    seconds = time.monotonic() - begin
    begin_anew(project, want)
    return seconds


def begin_anew(project: Path, want: dict[str, bytes]) -> None:
    """Look at what a run left, then remove it."""
    repros.until(lambda: not repros.at_work(project))
    assert repros.results(project) == want
    for name in ("data/tasks", "data/runs", "reports", ".checkpoints"):
        shutil.rmtree(project / name)
    (project / "dvc.lock").unlink()
