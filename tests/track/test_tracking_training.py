"""The real training followed by MLflow: it ends as without, whatever happens to the database."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner
from support import stages, tracked_stage
from support.tracked_stage import leave, make_old, parents, runs, spoil, until

from pondering import track
from pondering.cli.track import track_command
from pondering.track import Tracker
from pondering.track.place import Place

ACT = ("train", *stages.QUICK, "--mechanism", "act")
WRITTEN = (
    "data/runs/quick/tiny/act/parameters.safetensors",
    "data/runs/quick/tiny/act/run.json",
    "reports/quick/curves/tiny-act.csv",
)
SAID = {  # by `make track`, of the database
    "locked": "",
    "deleted": "",
    "damaged": "cannot be read by this version of MLflow: moved to mlflow.db.",
    "old": "upgraded mlflow.db to this version of MLflow",
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The tiny project without this training, with an empty database."""
    for name in ("MLFLOW_TRACKING_URI", "PONDERING_TRACKING"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "project"
    shutil.copytree(stages.finished_project(), folder)
    for top in ("data/runs", "reports/quick", ".checkpoints"):
        shutil.rmtree(folder / top)
    shutil.copy(tracked_stage.empty_database(), folder)
    yield folder
    leave(folder)


def follow(meet: Callable[[], object]) -> None:
    """Turn tracking on; the training is not over before it has met the fault."""
    os.environ["PONDERING_TRACKING"] = "on"
    close = Tracker.close

    def late_close(self: Tracker, status: str) -> None:
        meet()
        close(self, status)

    Tracker.close = late_close  # type: ignore[method-assign]


def refused(project: Path) -> None:
    """The writer has found the database unusable."""
    until((Place.of(project).journals / "problem").exists)


def delete(project: Path) -> None:
    """The runs are there when somebody deletes the database."""
    until(lambda: bool(parents(project)))
    (project / "mlflow.db").unlink()


@pytest.mark.parametrize("fault", SAID)
def test_training_ends_as_without_tracking(project: Path, fault: str) -> None:
    """And `pondering track` mends the database."""
    database = project / "mlflow.db"
    lock = sqlite3.connect(database)
    if fault == "locked":
        lock.execute("BEGIN EXCLUSIVE")
    elif fault == "old":
        make_old(database)
    elif fault == "damaged":
        spoil(database, fault)
    meet = partial(delete if fault == "deleted" else refused, project)
    done = stages.run(project, *ACT, before=partial(follow, meet))
    assert done.status == 0, done.err
    for name in WRITTEN:
        expected = (stages.finished_project() / name).read_bytes()
        assert (project / name).read_bytes() == expected, name
    said = done.err.splitlines()
    assert len(said) == (fault != "deleted")
    assert all("mlflow.db is" in line and "run `make track`" in line for line in said)
    lock.close()
    result = CliRunner().invoke(track_command, ["--root", str(project)])
    assert result.exit_code == 0, result.output
    assert SAID[fault] in result.output
    (run,) = parents(project)
    assert run["status"] == "FINISHED" and "pondering.key" in run["tags"]
    children = [each for each in runs(project) if each["tags"]["pondering.kind"] == "replica"]
    assert [len(each["metrics"]["loss"]) for each in children] == 4 * [10]
    assert track.rebuild(project) == (0, 1)
