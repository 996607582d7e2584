"""Of old checkpoints a few are kept and those in use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from filelock import FileLock
from support import tiny

from pondering.data.frozen import freeze
from pondering.params.read import load_params
from pondering.project.locks import KEPT, alone, prune
from pondering.project.paths import Layout
from pondering.tasks import make_task
from pondering.train.plan import plan
from pondering.train.stage import run

OTHERS = [f"{'abcdef'[k] * 16}" for k in range(6)]  # from the oldest to the newest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run's own folder, older than all of its neighbours."""
    own = tmp_path / "tiny-act" / ("0" * 16)
    for age, name in enumerate([own.name, *OTHERS]):
        path = own.with_name(name)
        path.mkdir(parents=True)
        (path / "checkpoint.safetensors").write_bytes(b"work")
        (path / "lock").touch()
        os.utime(path, (1e9 + age, 1e9 + age))
    (tmp_path / "tiny-repeat" / ("1" * 16)).mkdir(parents=True)
    return own


def left(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.parent.iterdir())


def test_the_last_used_are_kept(folder: Path) -> None:
    prune(folder)
    assert left(folder) == sorted([folder.name, *OTHERS[-KEPT:]])
    assert all(any(path.iterdir()) for path in folder.parent.iterdir())
    assert (folder.parents[1] / "tiny-repeat").is_dir()


def test_working_in_one_is_using_it(folder: Path) -> None:
    with alone(folder.with_name(OTHERS[0])):
        pass
    prune(folder)
    assert left(folder) == sorted([folder.name, OTHERS[0], *OTHERS[-KEPT + 1 :]])


def test_one_that_is_held_stays(folder: Path) -> None:
    with FileLock(folder.with_name(OTHERS[1]) / "lock"):
        prune(folder)
    assert left(folder) == sorted([folder.name, OTHERS[1], *OTHERS[-KEPT:]])
    prune(folder)
    assert OTHERS[1] not in left(folder)


def test_a_finished_training_prunes_its_own_kind(tmp_path: Path) -> None:
    layout = Layout(tmp_path, "quick")
    for updates in range(1, KEPT + 4):
        params = load_params(tiny.write(tmp_path, tiny.document(training={"updates": updates})))
        if updates == 1:
            config = params.experiment("tiny")
            freeze(make_task(config.task, "tiny"), tmp_path, layout.frozen("tiny"), 1)
        for mechanism in ("act", "repeat"):
            stage = plan(params, "tiny", mechanism, tmp_path)
            run(stage)
            assert (stage.folder / "checkpoint.safetensors").is_file()
            folders = list(stage.folder.parent.iterdir())
            assert len(folders) == min(updates, KEPT + 1)
