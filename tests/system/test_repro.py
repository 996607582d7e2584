"""`pondering repro`: several stages at once, with the same results; and what it refuses."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from dvc.repo import Repo
from ruamel.yaml import YAML
from support import repros, stages, tiny

from pondering.cli import pipeline
from pondering.cli import repro as scheduler
from pondering.cli.main import main

ACT = "train@quick-tiny-act"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny project with DVC's stages from the data to the training, none of them run."""
    stages.finished_project()  # starts the server of stages, before anybody leads them
    folder = tmp_path_factory.mktemp("repro") / "project"
    return repros.new(folder, tiny.document(), list(stages.MECHANISMS))


@pytest.fixture
def project(fresh: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, which is the working folder."""
    folder = shutil.copytree(fresh, tmp_path / "project")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PONDERING_TRACKING", "off")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return folder


def repro() -> Result:
    return CliRunner().invoke(main, ["repro"])


def trained(folder: Path) -> dict[str, bytes]:
    """Trained parameters and curves."""
    whole = stages.contents(folder)
    return {k: v for k, v in whole.items() if "/runs/" in k or "/curves/" in k}


def ran(said: str) -> list[str]:
    """The stages that a run has ended."""
    return re.findall(r"^repro: \d+ of \d+, (\S+@\S+), ", said, re.MULTILINE)


def test_three_processes_give_the_same_as_one(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scheduler, "_processes", lambda _: 3)
    done = repro()
    assert done.exit_code == 0, done.output
    assert "repro: running what changed, processes: 3\n" in done.output
    first, *others = ran(done.output)
    assert first == "datasets@quick-tiny"
    assert set(others) == {f"train@quick-tiny-{each}" for each in stages.MECHANISMS}
    assert trained(project) == trained(stages.finished_project())
    assert repro().output == "repro: everything is up to date\n"
    with Repo() as dvc:
        assert dvc.status() == {}, "DVC would run it again"


def test_a_stage_runs_only_where_dvc_would_run_it(project: Path) -> None:
    """A training that is out of date, and none whose input comes out as it was."""
    assert repro().exit_code == 0
    (project / "reports/quick/curves/tiny-act.csv").unlink()
    (project / "data/tasks/quick/tiny.npz").unlink()
    assert ran(repro().output) == ["datasets@quick-tiny", ACT]
    assert trained(project) == trained(stages.finished_project())


def test_a_changed_evaluation_trains_nothing(
    project: Path,
) -> None:
    """What an evaluation depends on is its key, which stands for its values."""
    text = (project / "dvc.yaml").read_text()
    document = YAML(typ="safe").load(text)
    whole = YAML(typ="safe").load(stages.ROOT / "dvc.yaml")
    document["stages"]["evaluate"] = whole["stages"]["evaluate"]
    YAML().dump(document, project / "dvc.yaml")
    assert repro().exit_code == 0
    values = tiny.document(evaluation={"trace": {"tau": 0.1, "sequences": 1}})
    repros.write(project, values, list(stages.MECHANISMS))
    assert ran(repro().output) == ["evaluate@quick-tiny"]
    assert repro().output == "repro: everything is up to date\n"


def test_a_failed_stage_ends_the_run_with_its_status(project: Path) -> None:
    """What had ended before is recorded; the stage that failed is the first to run again."""
    script = project / "pipeline/train.py"
    text = script.read_text()
    script.write_text("raise SystemExit(3)\n")
    done = repro()
    assert done.exit_code == 3
    assert re.search(r"^repro: train@\S+ ended with status 3; ", done.output, re.MULTILINE)
    script.write_text(text)
    again = repro()
    assert again.exit_code == 0
    assert set(ran(again.output)) == {f"train@quick-tiny-{each}" for each in stages.MECHANISMS}


def test_unusable_parameters_are_named_before_dvc_is_asked(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "led", lambda _: pytest.fail("DVC was asked"))
    (project / "params.yaml").write_text("")
    done = repro()
    assert done.exit_code == 2
    assert done.output.startswith("error: params.yaml: ") and done.output.count("\n") == 1


def test_a_list_that_a_kill_cut_off_is_named(project: Path) -> None:
    for text in ("", '{"wri'):
        refused_because_of(project / ".dvc/tmp/rwlock", text, ".dvc/tmp/rwlock cut off; delete it")
    delete(project / ".dvc/tmp/rwlock")


def test_a_dvc_lock_that_a_kill_cut_off_is_named(project: Path) -> None:
    said = r"dvc.lock.*`git checkout dvc.lock` or delete it"
    for text in ("", "schema: '2", "schema: '2.0'\nstages:\n"):
        refused_because_of(project / "dvc.lock", text, said)
    delete(project / "dvc.lock")


def test_another_dvc_at_work_is_named(project: Path) -> None:
    """With the file to delete, should it be another process that has the number now."""
    who = {"pid": os.getpid(), "cmd": "dvc repro"}
    text = json.dumps({"write": {str(project / "data/tasks/quick/tiny.npz"): who}, "read": {}})
    said = rf"another run is at work .*\(PID {os.getpid()}\): dvc repro; .* left .dvc/tmp/rwlock"
    refused_because_of(project / ".dvc/tmp/rwlock", text, said)
    delete(project / ".dvc/tmp/rwlock")


def test_outside_a_dvc_repository_nothing_is_written(project: Path) -> None:
    shutil.rmtree(project / ".dvc")
    done = repro()
    assert (done.exit_code, len(done.output.splitlines())) == (2, 1)
    assert "not inside of a DVC repository" in done.output
    assert not (project / ".checkpoints").exists()


def refused_because_of(path: Path, text: str, said: str) -> None:
    """With such a file nothing is run."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    done = repro()
    assert done.exit_code == 2
    (line,) = done.output.splitlines()
    assert line.startswith("error: ") and re.search(said, line), line


def delete(path: Path) -> None:
    """Without it DVC can say again what to run."""
    path.unlink()
    with pipeline.led(Path()) as found:
        assert found.changed(ACT)
