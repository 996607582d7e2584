"""No fault of the tracker's reaches training, and a database that is unusable is rebuilt."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from support import stages
from support import tracked_stage as stage
from support.tracked_stage import parents, runs, spoil

from pondering import track
from pondering.cli.track import track_command

ACT = ("train", *stages.QUICK, "--mechanism", "act")
WRITTEN = (
    "data/runs/quick/tiny/act/parameters.safetensors",
    "data/runs/quick/tiny/act/run.json",
    "reports/quick/curves/tiny-act.csv",
)


@pytest.fixture(autouse=True)
def turned_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what a test sets counts."""
    monkeypatch.delenv("PONDERING_TRACKING", raising=False)


def impatient() -> None:
    """Tracking is on; a locked database is soon given up."""
    from pondering.track import database

    os.environ["PONDERING_TRACKING"] = "on"
    database.PATIENCE = 0.1


@pytest.mark.parametrize("fault", ["", "locked", "damaged", "of another version"])
def test_training_ends_as_without_tracking_and_the_database_is_rebuilt(
    fault: str, tmp_path: Path
) -> None:
    project, database = tmp_path / "project", tmp_path / "project/mlflow.db"
    shutil.copytree(stages.finished_project(), project)
    for top in ("data/runs", "reports/quick", ".checkpoints"):
        shutil.rmtree(project / top)
    shutil.copy(stage.empty_database(), database)
    lock = sqlite3.connect(database)
    if fault == "locked":
        lock.execute("BEGIN EXCLUSIVE")
    elif fault:
        spoil(database, fault)
    done = stages.run(project, *ACT, before=impatient)
    assert (done.status, done.err) == (0, "")
    for name in WRITTEN:
        expected = (stages.finished_project() / name).read_bytes()
        assert (project / name).read_bytes() == expected, name
    moved = [line for line in done.out.splitlines() if ": moved to mlflow.db." in line]
    assert len(moved) == bool(fault)
    lock.close()
    (run,) = parents(project)
    assert run["status"] == "FINISHED" and "pondering.key" in run["tags"]
    children = [each for each in runs(project) if each["tags"]["pondering.kind"] == "replica"]
    assert [len(each["metrics"]["loss"]) for each in children] == 4 * [10]
    assert track.rebuild(project) == (0, 1)


def test_make_track_rebuilds_what_it_cannot_use(tmp_path: Path) -> None:
    shutil.copy(stage.empty_database(), tmp_path)
    stage.write_files(tmp_path, "parity", "act")
    spoil(tmp_path / "mlflow.db", "damaged")
    result = CliRunner().invoke(track_command, ["--root", str(tmp_path)])
    assert result.exit_code == 0
    first, last = result.output.splitlines()
    assert "moved to mlflow.db." in first and last.startswith("MLflow: 1 train stages added")
    (aside,) = tmp_path.glob("mlflow.db.*")
    assert aside.read_bytes().startswith(b"not a database")


def test_two_processes_on_a_fresh_database(tmp_path: Path) -> None:
    command = [sys.executable, stage.__file__, str(tmp_path)]
    started = [subprocess.Popen([*command, "parity", name]) for name in ("act", "repeat")]
    assert [process.wait() for process in started] == [0, 0]
    assert track.rebuild(tmp_path) == (0, 2)
    assert len(runs(tmp_path)) == 10


def test_a_failing_stage_fails_as_before_and_adds_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ZeroDivisionError), track.live(stage.info(tmp_path)) as tracker:
        tracker.log(stage.rows("parity", "act", 1))
        raise ZeroDivisionError
    assert not (tmp_path / "mlflow.db").exists()
    assert capfd.readouterr().err == ""


def test_an_unwritable_project_costs_one_warning_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".tracking").write_text("in the way")
    stage.train(tmp_path)
    assert len(capfd.readouterr().err.splitlines()) == 1


def test_tracking_can_be_turned_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PONDERING_TRACKING", "off")
    stage.train(tmp_path)
    track.log_results(tmp_path, "quick")
    assert [path.name for path in tmp_path.iterdir()] == ["reports"]
