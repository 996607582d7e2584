"""`pondering repro`: several processes train, with the same results; and what it refuses."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from filelock import FileLock
from support import repros, stages, tiny

from pondering.cli import repro as scheduler
from pondering.cli.main import main

ACT = "train@quick-tiny-act"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tiny project with DVC's stages from the data to the training, none of them run."""
    folder = repros.new(tmp_path / "project", tiny.document(), list(stages.MECHANISMS))
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PONDERING_TRACKING", "off")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return folder


def repro() -> Result:
    return CliRunner().invoke(main, ["repro"])


def train_ahead() -> int:
    command = [sys.executable, "-m", "pondering.cli", "ahead", ACT]
    return subprocess.run(command, timeout=stages.PATIENCE).returncode


def trained(folder: Path) -> dict[str, bytes]:
    """Trained parameters and curves."""
    whole = stages.contents(folder)
    return {k: v for k, v in whole.items() if "/runs/" in k or "/curves/" in k}


def test_three_processes_give_the_same_as_one(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "_processes", lambda _: 3)
    done = repro()
    assert done.exit_code == 0, done.output
    assert "in parallel, processes: 2\n" in done.output
    assert trained(project) == trained(stages.finished_project())
    assert repro().output == "repro: everything is up to date\n"


def test_a_failure_of_dvc_is_the_commands(project: Path) -> None:
    (project / "pipeline/train.py").unlink()
    assert repro().exit_code == 255  # as DVC says it


def test_ahead_writes_a_checkpoint_and_nothing_else(project: Path) -> None:
    assert stages.run(project, "datasets", *stages.QUICK).status == 0
    before = stages.contents(project)
    assert train_ahead() == 0
    assert stages.contents(project) == before
    (checkpoint,) = project.glob(".checkpoints/quick/tiny-act/*/checkpoint.safetensors")
    written = checkpoint.stat().st_mtime_ns
    assert stages.run(project, "train", *stages.QUICK, "--mechanism", "act").status == 0
    assert checkpoint.stat().st_mtime_ns == written, "it was trained again"
    curves = "reports/quick/curves/tiny-act.csv"
    assert (project / curves).read_bytes() == (stages.finished_project() / curves).read_bytes()
    checkpoint.unlink()
    with FileLock(checkpoint.with_name("lock")):
        assert train_ahead() == 0
    assert not checkpoint.exists(), "another process trained it"


def test_unusable_parameters_are_named_before_dvc_is_asked(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "_changed", lambda: pytest.fail("DVC was asked"))
    (project / "params.yaml").write_text("")
    done = repro()
    assert done.exit_code == 2
    assert done.output.startswith("error: params.yaml: ") and done.output.count("\n") == 1


@pytest.mark.parametrize("text", ["", '{"wri'])
def test_a_list_that_a_kill_cut_off_is_named(project: Path, text: str) -> None:
    refused_because_of(project / ".dvc/tmp/rwlock", text, ".dvc/tmp/rwlock cut off; delete it")


@pytest.mark.parametrize("text", ["", "schema: '2", "schema: '2.0'\nstages:\n"])
def test_a_dvc_lock_that_a_kill_cut_off_is_named(project: Path, text: str) -> None:
    said = r"dvc.lock.*`git checkout dvc.lock` or delete it"
    refused_because_of(project / "dvc.lock", text, said)


def test_another_dvc_at_work_is_named(project: Path) -> None:
    """With the file to delete, should it be another process that has the number now."""
    who = {"pid": os.getpid(), "cmd": "dvc repro"}
    text = json.dumps({"write": {str(project / "data/tasks/quick/tiny.npz"): who}, "read": {}})
    said = rf"another run is at work .*\(PID {os.getpid()}\): dvc repro; .* left .dvc/tmp/rwlock"
    refused_because_of(project / ".dvc/tmp/rwlock", text, said)


def refused_because_of(path: Path, text: str, said: str) -> None:
    """With such a file nothing is run; without it DVC can say again what to run."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    done = repro()
    assert done.exit_code == 2
    (line,) = done.output.splitlines()
    assert line.startswith("error: ") and re.search(said, line), line
    path.unlink()
    assert ACT in scheduler._changed()
