"""No fault of the tracker's reaches training, and `make track` mends what it left."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from support import tracked_stage as stage
from support.tracked_stage import leave, make_old, parents, runs, spoil, until, writer_pids

from pondering import track
from pondering.cli.track import track_command
from pondering.track.database import state
from pondering.track.place import Place

SCRIPT = Path(stage.__file__)


@pytest.fixture(autouse=True)
def own_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what a test sets counts."""
    for name in ("MLFLOW_TRACKING_URI", "PONDERING_TRACKING"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("fault", ["locked", "damaged", "old", "newer"])
def test_a_refusing_database_costs_one_warning_line(
    fault: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    database = tmp_path / "mlflow.db"
    shutil.copy(stage.empty_database(), database)
    lock = sqlite3.connect(database)
    if fault == "locked":
        lock.execute("BEGIN EXCLUSIVE")
    elif fault == "old":
        make_old(database)
    else:
        spoil(database, fault)
    spent = 0.0
    with track.live(stage.info(tmp_path)) as tracker:
        for point in range(1, stage.POINTS + 1):
            begun = time.monotonic()
            tracker.log(stage.rows("parity", "act", point))
            spent += time.monotonic() - begun
        until((Place.of(tmp_path).journals / "problem").exists)
        stage.write_files(tmp_path, "parity", "act")
        begun = time.monotonic()
    assert spent + time.monotonic() - begun < 0.5
    said = capfd.readouterr().err.strip().splitlines()
    assert len(said) == 1 and "make track" in said[0] and "mlflow.db is" in said[0]
    if fault == "locked":
        lock.rollback()
        until(lambda: track.settle(tmp_path))
    else:
        mend(tmp_path, fault)
    (run,) = parents(tmp_path)
    assert run["status"] == "FINISHED" and "pondering.key" in run["tags"]
    assert track.rebuild(tmp_path) == (0, 1)
    leave(tmp_path)


def mend(root: Path, fault: str) -> None:
    """`make track` says in one line what it did with the database, then what it added."""
    result = CliRunner().invoke(track_command, ["--root", str(root)])
    assert result.exit_code == 0
    first, last = result.output.splitlines()
    assert ("upgraded mlflow.db" if fault == "old" else "moved to mlflow.db.") in first
    assert last.startswith("MLflow: ")


@pytest.mark.parametrize("fault", ["damaged", "another's", "a folder"])
def test_what_is_no_database_of_mlflows_is_told_apart(fault: str, tmp_path: Path) -> None:
    """`make track` moves it aside and loses nothing of it."""
    database = tmp_path / "mlflow.db"
    database.touch()
    spoil(database, fault)
    assert state(database) == "foreign"


def test_make_track_names_a_lock_that_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copy(stage.empty_database(), tmp_path)
    lock = sqlite3.connect(tmp_path / "mlflow.db")
    lock.execute("BEGIN EXCLUSIVE")
    monkeypatch.setattr("pondering.track.database.LOCK_PATIENCE", 0.1)
    result = CliRunner().invoke(track_command, ["--root", str(tmp_path)])
    assert result.exit_code == 2
    assert result.stderr.startswith("error: mlflow.db: locked by another process")


def test_four_processes_on_a_fresh_database(tmp_path: Path) -> None:
    command = [sys.executable, str(SCRIPT), str(tmp_path)]
    started = [
        subprocess.Popen([*command, experiment, mechanism, "0.2"])
        for experiment in ("parity", "sort")
        for mechanism in ("act", "repeat")
    ]
    assert [process.wait() for process in started] == [0, 0, 0, 0]
    assert track.settle(tmp_path)
    assert track.rebuild(tmp_path) == (0, 4)
    assert len(runs(tmp_path)) == 20
    leave(tmp_path)


def test_killed_trainer_killed_writer_and_deleted_database(tmp_path: Path) -> None:
    shutil.copy(stage.empty_database(), tmp_path)
    command = [sys.executable, str(SCRIPT), str(tmp_path), "sort", "act", "60"]
    with subprocess.Popen(command) as trainer:
        until(lambda: len(parents(tmp_path)) == 1)
        for pid in writer_pids(tmp_path):
            os.kill(pid, signal.SIGKILL)
        trainer.kill()
    assert track.settle(tmp_path)
    (killed,) = [run for run in parents(tmp_path) if run["experiment"].endswith("sort")]
    assert killed["status"] == "KILLED" and "pondering.key" not in killed["tags"]
    with track.live(stage.info(tmp_path, "sort")) as tracker:  # begun anew
        tracker.log(stage.rows("sort", "act", 1))
        until(lambda: [run["status"] for run in parents(tmp_path)].count("RUNNING") == 1)
        (tmp_path / "mlflow.db").unlink()
        tracker.log(stage.rows("sort", "act", 2))
        stage.write_files(tmp_path, "sort", "act")  # rows 3 to 5 come from here
    assert track.settle(tmp_path)
    (again,) = parents(tmp_path)
    assert again["status"] == "FINISHED" and "pondering.key" in again["tags"]
    child = next(run for run in runs(tmp_path) if run["name"] == "tau 0.001 seed 0")
    assert [step for step, _ in child["metrics"]["loss"]] == [10, 20, 30, 40, 50]
    leave(tmp_path)


def test_writers_killed_while_they_write_lose_and_double_nothing(tmp_path: Path) -> None:
    """Four of them at random moments, each after it has begun to change the database."""
    killed, undisturbed = tmp_path / "killed", tmp_path / "undisturbed"
    for folder in (killed, undisturbed):
        folder.mkdir()
        shutil.copy(stage.empty_database(), folder)
    random, deaths = np.random.default_rng(0), 0

    def kill() -> None:
        nonlocal deaths
        for moment in random.uniform(0.0, 0.08, 4):
            found: list[int] = []
            while not found:  # it may have ended meanwhile
                before = content(killed)
                until(lambda before=before: content(killed) != before)
                time.sleep(moment)
                found = writer_pids(killed)
            for pid in found:
                os.kill(pid, signal.SIGKILL)
                deaths += 1

    killer = threading.Thread(target=kill)
    killer.start()
    for folder in (killed, undisturbed):
        for experiment in ("parity", "sort"):
            for mechanism in ("act", "repeat"):
                stage.train(folder, experiment, mechanism)
    assert track.settle(killed) and track.settle(undisturbed)
    killer.join()
    assert deaths >= 4
    found = runs(killed, hidden="pondering.journal")  # whose name has a time
    assert found == runs(undisturbed, hidden="pondering.journal")
    assert len(found) == 20
    leave(killed)
    leave(undisturbed)


def content(project: Path) -> list[tuple[int, int]]:
    """What changes with every write to the database."""
    found = []
    for path in project.glob("mlflow.db*"):
        with contextlib.suppress(FileNotFoundError):  # the journal comes and goes
            found.append((path.stat().st_size, path.stat().st_mtime_ns))
    return found


def test_a_failing_stage_fails_as_before_and_leaves_no_key(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ZeroDivisionError), track.live(stage.info(tmp_path)):
        raise ZeroDivisionError
    (journal,) = Place.of(tmp_path).journals.glob("*.jsonl")
    last = json.loads(journal.read_text().splitlines()[-1])
    assert last["end"] == {"status": "FAILED", "key": None}
    assert capfd.readouterr().err == ""
    leave(tmp_path)


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
    assert not (tmp_path / ".tracking").exists()
