"""`dvc repro` killed, and started again while it or its trainer is still at work."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from click.testing import CliRunner
from support import stages, tiny

from pondering.cli import keys
from pondering.cli.main import main
from pondering.params.read import load_params

TRAIN = ("train", *stages.QUICK, "--mechanism", "act")
WRITTEN = ("parameters.safetensors", "run.json")


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose stage was run once, by nobody else."""
    folder = stages.new_project(tmp_path_factory.mktemp("alone") / "project")
    tiny.write(folder, tiny.document(training={"updates": 300}))
    for name, *arguments in (("datasets", *stages.QUICK), TRAIN):
        assert stages.run(folder, name, *arguments).status == 0
    return folder


@pytest.fixture
def project(result: Path, tmp_path: Path) -> Iterator[Path]:
    """The same before its training, with DVC."""
    folder = tmp_path / "project"
    shutil.copytree(result, folder)
    for top in (".checkpoints", "data/runs", "reports/quick/curves", "reports/quick/provenance"):
        shutil.rmtree(folder / top)
    values = tiny.document(training={"updates": 300})
    values["compute"]["checkpoint_seconds"] = 1e-9
    tiny.write(folder, values)
    shutil.copy(stages.ROOT / "dvc.yaml", folder)
    (folder / ".dvc").mkdir()
    config = "[core]\n    no_scm = true\n    analytics = false\n    check_update = false\n"
    (folder / ".dvc/config").write_text(config)
    keys.write(folder, load_params(folder / "params.yaml"))
    yield folder
    for pid in trainers(folder):
        os.kill(pid, signal.SIGKILL)


def repro(project: Path, log: Path) -> subprocess.Popen[bytes]:
    """`dvc repro` of the training, what it says in a file."""
    environment = os.environ | {
        "PONDERING_TRACKING": "off",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    command = [sys.executable, "-m", "dvc", "repro", "--single-item", "train@quick-tiny-act"]
    with log.open("w") as file:
        return subprocess.Popen(command, cwd=project, env=environment, stdout=file, stderr=file)


def trainers(project: Path) -> list[int]:
    """The training processes of a project, told by working folder and command."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (process / "cmdline").read_bytes().split(b"\0")
            if b"pipeline/train.py" in words and (process / "cwd").readlink() == project:
                found.append(int(process.name))
    return found


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + stages.PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def test_an_orphan_is_waited_for_and_a_second_repro_refused(
    project: Path, result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = [tmp_path / f"{name}.log" for name in ("killed", "waiting", "refused")]
    killed = repro(project, logs[0])
    until(lambda: any(project.glob(".checkpoints/quick/tiny-act/*/checkpoint.safetensors")))
    for pid in trainers(project):
        os.kill(pid, signal.SIGSTOP)  # until the others are there
    killed.kill()
    killed.wait()
    (orphan,) = trainers(project)
    waiting = repro(project, logs[1])
    until(lambda: "another trainer is at work on this run; waiting for it" in logs[1].read_text())
    refused = repro(project, logs[2])
    assert refused.wait() != 0
    said = logs[2].read_text()
    assert "is busy, it is being blocked by" in said and "Traceback" not in said
    monkeypatch.chdir(project)
    check = CliRunner().invoke(main, ["check", "--alone"])
    assert check.exit_code == 2
    (line,) = check.stderr.splitlines()
    assert line.startswith(f"error: another run is at work in this folder (process {waiting.pid}: ")
    assert line.endswith("); wait for its end, or stop it")
    os.kill(orphan, signal.SIGCONT)
    assert waiting.wait() == 0, logs[1].read_text()
    until(lambda: not trainers(project))
    for folder in ("data/runs/quick/tiny/act", "reports/quick/curves"):
        ours, theirs = project / folder, result / folder
        names = {path.name for path in theirs.iterdir()}
        assert {path.name for path in ours.iterdir()} == names
        for name in names:
            assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"write": {"x": {"pid": 4194305, "cmd": ""}}}']
)
def test_what_a_killed_repro_leaves_is_no_company(
    project: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    """Process 4194305 is one more than there can be."""
    lock = project / ".dvc/tmp/rwlock"
    lock.parent.mkdir()
    lock.write_text(content)
    monkeypatch.chdir(project)
    result = CliRunner().invoke(main, ["check", "--alone"])
    assert "another run" not in result.output
