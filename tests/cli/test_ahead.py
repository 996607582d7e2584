"""`pondering repro`: more trainers than DVC's own, and the same results."""

from __future__ import annotations

import contextlib
import copy
import errno
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from filelock import FileLock
from ruamel.yaml import YAML
from support import stages, tiny

from pondering.cli import keys
from pondering.cli import repro as scheduler
from pondering.cli.main import main
from pondering.params.read import load_params

ACT = "train@quick-tiny-act"
CONFIG = "[core]\n    no_scm = true\n    analytics = false\n    check_update = false\n"


def values(**training: int) -> dict[str, Any]:
    found = tiny.document(training=training)
    found["tiny"]["reduced"] = copy.deepcopy(found["tiny"]["quick"])
    return found


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The tiny project with DVC's stages from the data to the training, none of them run."""
    folder = stages.new_project(tmp_path / "project")
    tiny.write(folder, values())
    document = YAML(typ="safe").load(stages.ROOT / "dvc.yaml")
    for name in set(document["stages"]) - {"datasets", "train"}:
        del document["stages"][name]
    YAML().dump(document, folder / "dvc.yaml")
    (folder / "data/raw/quick").mkdir(parents=True)
    (folder / ".dvc").mkdir()
    (folder / ".dvc/config").write_text(CONFIG)
    keys.write(folder, load_params(folder / "params.yaml"))
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PONDERING_TRACKING", "off")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return folder


def repro() -> Result:
    return CliRunner().invoke(main, ["repro"])


def start_ahead(*names: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "pondering.cli", "ahead", *names])


def results(folder: Path) -> dict[str, bytes]:
    """Trained parameters and curves."""
    whole = stages.contents(folder)
    return {k: v for k, v in whole.items() if "/runs/" in k or "/curves/" in k}


def test_three_trainers_give_the_same_as_one(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "_trainers", lambda: 3)
    done = repro()
    assert done.exit_code == 0, done.output
    assert "repro: 2 more of the cores" in done.output
    assert results(project) == results(stages.finished_project())
    assert repro().output == "repro: everything is up to date\n"


def test_a_failure_of_dvc_is_the_commands(project: Path) -> None:
    (project / "pipeline/train.py").unlink()
    assert repro().exit_code == 255  # as DVC says it


def test_ahead_writes_a_checkpoint_and_nothing_else(project: Path) -> None:
    assert stages.run(project, "datasets", *stages.QUICK).status == 0
    before = stages.contents(project)
    assert start_ahead(ACT).wait() == 0
    assert stages.contents(project) == before
    (checkpoint,) = project.glob(".checkpoints/quick/tiny-act/*/checkpoint.safetensors")
    written = checkpoint.stat().st_mtime_ns
    assert stages.run(project, "train", *stages.QUICK, "--mechanism", "act").status == 0
    assert checkpoint.stat().st_mtime_ns == written, "it was trained again"
    curves = "reports/quick/curves/tiny-act.csv"
    assert (project / curves).read_bytes() == (stages.finished_project() / curves).read_bytes()


def test_ahead_leaves_a_run_to_who_holds_it(project: Path) -> None:
    assert stages.run(project, "datasets", *stages.QUICK).status == 0
    assert start_ahead(ACT).wait() == 0
    (folder,) = project.glob(".checkpoints/quick/tiny-act/*")
    (folder / "checkpoint.safetensors").unlink()
    with FileLock(folder / "lock"):
        assert start_ahead(ACT).wait(stages.PATIENCE) == 0
    assert not (folder / "checkpoint.safetensors").exists()


LEAD = """
import subprocess, sys
from pathlib import Path
from pondering.project.locks import leading
with leading(Path()):
    ahead = subprocess.Popen([sys.executable, "-m", "pondering.cli", "ahead", sys.argv[1]])
    Path("pid").write_text(str(ahead.pid))
    ahead.wait()
"""


def test_ahead_ends_with_its_leader(project: Path) -> None:
    """Though it comes to no logging point for long."""
    tiny.write(project, values(updates=10**6, log_points=1))
    assert stages.run(project, "datasets", *stages.QUICK).status == 0
    leader = subprocess.Popen([sys.executable, "-c", LEAD, ACT])
    until_there(project, ".checkpoints/quick/tiny-act/*/checkpoint.safetensors")
    leader.kill()
    leader.wait()
    process = Path("/proc") / (project / "pid").read_text().strip()
    end = time.monotonic() + stages.PATIENCE
    while process.exists() and "Z" not in (process / "stat").read_text().split()[2]:
        assert time.monotonic() < end, "it goes on without its leader"
        time.sleep(0.05)


def until_there(folder: Path, pattern: str) -> None:
    end = time.monotonic() + stages.PATIENCE
    while not any(folder.glob(pattern)):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


def test_unusable_parameters_are_named_before_dvc_is_asked(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "_changed", lambda: pytest.fail("DVC was asked"))
    (project / "params.yaml").write_text("")
    done = repro()
    assert done.exit_code == 2
    assert done.output.startswith("error: params.yaml: ") and done.output.count("\n") == 1


@pytest.mark.parametrize("folder", ["data", "reports/quick"])
def test_a_read_only_folder_is_named_before_dvc_is_asked(
    project: Path, monkeypatch: pytest.MonkeyPatch, folder: str
) -> None:
    """As a file system that is mounted read-only answers; a superuser may write anywhere else."""

    def refuse(dir: Path) -> contextlib.nullcontext[None]:
        if dir == Path(folder):
            raise OSError(errno.EROFS, "read-only", f"{dir}/tmp123")
        return contextlib.nullcontext()

    monkeypatch.setattr(scheduler, "_changed", lambda: pytest.fail("DVC was asked"))
    monkeypatch.setattr(tempfile, "TemporaryFile", refuse)
    (project / folder).mkdir(parents=True, exist_ok=True)
    done = repro()
    assert done.exit_code == 1
    remedy = "the folder is read-only: make it writable and run the same command again"
    assert done.output == f"error: {folder}: {remedy}\n"
