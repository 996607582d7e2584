"""No fault of the tracker's reaches training, and a database that is unusable is rebuilt."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner
from support import stages
from support import tracked_stage as stage
from support.tracked_stage import parents, runs, spoil

from pondering import track
from pondering.cli.main import main
from pondering.track import database
from pondering.track.fill import rebuild
from pondering.track.stages import LIVE

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


def tracked() -> None:
    """Tracking is on."""
    os.environ["PONDERING_TRACKING"] = "on"


def test_training_ends_as_without_tracking(tmp_path: Path) -> None:
    project = tmp_path / "project"
    shutil.copytree(stages.finished_project(), project)
    for top in ("data/runs", "reports/quick", ".checkpoints"):
        shutil.rmtree(project / top)
    done = stages.run(project, *ACT, before=tracked)
    assert (done.status, done.err) == (0, "")
    for name in WRITTEN:
        expected = (stages.finished_project() / name).read_bytes()
        assert (project / name).read_bytes() == expected, name
    assert not (project / "mlflow.db").exists()


@pytest.mark.parametrize("fault", ["", "locked", "of another version"])
def test_a_report_rebuilds_a_database_that_it_cannot_use(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(database, "PATIENCE", 0.1)
    stage.write_files(tmp_path, "parity", "act")
    file = tmp_path / "mlflow.db"
    shutil.copy(stage.empty_database(), file)
    lock = sqlite3.connect(file)
    if fault == "locked":
        lock.execute("BEGIN EXCLUSIVE")
    elif fault:
        spoil(file, fault)
    track.log_results(tmp_path, "quick")
    said = capfd.readouterr()
    assert said.err == "" and (": moved to mlflow.db." in said.out) == bool(fault)
    lock.close()
    (run,) = parents(tmp_path)
    assert run["status"] == "FINISHED" and "key" in run["tags"]
    assert rebuild(tmp_path) == (0, 1)


def test_make_track_rebuilds_what_it_cannot_use(tmp_path: Path) -> None:
    shutil.copy(stage.empty_database(), tmp_path)
    (tmp_path / "params.yaml").touch()  # of a project
    stage.write_files(tmp_path, "parity", "act")
    spoil(tmp_path / "mlflow.db", "damaged")
    result = CliRunner().invoke(main, ["track", "--root", str(tmp_path)])
    assert result.exit_code == 0
    first, last = result.output.splitlines()
    assert "moved to mlflow.db." in first and last.startswith("MLflow: train stages added: 1")
    (aside,) = tmp_path.glob("mlflow.db.*")
    assert aside.read_bytes().startswith(b"not a database")


def test_two_processes_on_a_fresh_database(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name in ("act", "repeat"):
        stage.write_files(tmp_path, "parity", name)
    stage.empty_database()  # so that MLflow is loaded, here and in what is forked
    forked = multiprocessing.get_context("fork")
    started = [forked.Process(target=track.log_results, args=(tmp_path, "quick")) for _ in range(2)]
    for process in started:
        process.start()
    for process in started:
        process.join(60)
    assert [process.exitcode for process in started] == [0, 0]
    said = capfd.readouterr()
    assert said.err == "" and "moved to" not in said.out
    assert rebuild(tmp_path) == (0, 2)
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


def test_a_folder_that_somebody_removes_costs_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / LIVE
    stage.train(tmp_path, pause=lambda: shutil.rmtree(folder, ignore_errors=True))
    assert not folder.exists() and capfd.readouterr().err == ""


def test_a_full_disk_costs_one_warning_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    growing = stage.info(tmp_path).stage.growing().curves
    growing.parent.mkdir(parents=True)
    growing.symlink_to("/dev/full")
    stage.train(tmp_path)
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("warning: MLflow does not show this (OSError: ") and "No space" in line
    assert not growing.is_symlink()


def test_a_file_that_cannot_be_removed_costs_one_warning_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    growing = stage.info(tmp_path).stage.growing().curves

    def replace() -> None:
        if growing.is_file():
            growing.unlink()
            growing.mkdir()

    stage.train(tmp_path, pause=replace)
    assert len(capfd.readouterr().err.splitlines()) == 1


def test_tracking_can_be_turned_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PONDERING_TRACKING", "off")
    stage.train(tmp_path)
    track.log_results(tmp_path, "quick")
    assert [path.name for path in tmp_path.iterdir()] == ["reports"]
