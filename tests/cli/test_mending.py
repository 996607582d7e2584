"""What a kill leaves of DVC's own files, and `make repro` mends first."""

from __future__ import annotations

import copy
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from dvc.fs import localfs
from dvc.lock import LockError, make_lock
from dvc.rwlock import rwlock
from dvc.schema import COMPILED_LOCKFILE_SCHEMA
from ruamel.yaml import YAML

from pondering.cli.mending import mend_lock, mend_rwlock

SLEEP = [sys.executable, "-c", "import time; time.sleep(600)"]
PATIENCE = 60.0


@pytest.fixture
def processes() -> Iterator[dict[str, int]]:
    """The numbers of a process at work, and of a killed one that nobody has waited for."""
    started = {"at work": subprocess.Popen(SLEEP), "killed": subprocess.Popen(SLEEP)}
    started["killed"].kill()
    end = time.monotonic() + PATIENCE
    while Path(f"/proc/{started['killed'].pid}/stat").read_text().split()[2] != "Z":
        assert time.monotonic() < end, "it does not end"
        time.sleep(0.01)
    yield {name: process.pid for name, process in started.items()}
    for process in started.values():
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    ("name", "age", "kept"),
    [
        ("at work", 0, True),
        ("at work", 3600, False),  # the number was another's when the list was written
        ("killed", 0, False),
    ],
)
def test_files_that_a_killed_dvc_holds_are_free_again(
    tmp_path: Path, processes: dict[str, int], name: str, age: float, kept: bool
) -> None:
    path, who = tmp_path / ".dvc/tmp/rwlock", {"pid": processes[name], "cmd": "dvc repro"}
    path.parent.mkdir(parents=True)

    def write() -> dict[str, Any]:
        held = {"write": {"/a": who}, "read": {"/b": [who, who]}}
        path.write_text(json.dumps(held))
        os.utime(path, (time.time() - age, time.time() - age))
        return held

    write()
    with pytest.raises(LockError):
        take(path.parent, "/a")
    held = write()
    mend_rwlock(tmp_path)
    found = json.loads(path.read_text())
    if kept:
        assert found == held
    else:
        assert found == {"write": {}, "read": {"/b": []}}
        take(path.parent, "/a")


def test_who_is_at_work_keeps_what_it_reads(tmp_path: Path, processes: dict[str, int]) -> None:
    path = tmp_path / ".dvc/tmp/rwlock"
    path.parent.mkdir(parents=True)
    alive, dead = ({"pid": pid, "cmd": "dvc repro"} for pid in processes.values())
    path.write_text(json.dumps({"write": {"/a": dead}, "read": {"/b": [dead, alive]}}))
    mend_rwlock(tmp_path)
    assert json.loads(path.read_text()) == {"write": {}, "read": {"/b": [alive]}}
    take(path.parent, "/a")
    with pytest.raises(LockError):
        take(path.parent, "/b")


@pytest.mark.parametrize("text", ["[]", '{"write": 3}', '{"write": {"/a": {"pid": -1}}}', "{}"])
def test_a_list_of_another_form_is_left_to_dvc(tmp_path: Path, text: str) -> None:
    path = tmp_path / ".dvc/tmp/rwlock"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    mend_rwlock(tmp_path)
    assert path.read_text() == text


def test_a_list_that_dvc_is_writing_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / ".dvc/tmp/rwlock"
    path.parent.mkdir(parents=True)
    path.write_text('{"wri')
    with make_lock(str(path) + ".lock", tmp_dir=str(path.parent)):
        mend_rwlock(tmp_path)
        assert path.exists()
    mend_rwlock(tmp_path)
    assert not path.exists()


def take(folder: Path, name: str) -> None:
    """DVC's own way to write a file of that name."""
    with rwlock(str(folder), localfs, "dvc", read=[], write=[name], hardlink=False):
        pass


@pytest.mark.parametrize(("text", "kept"), [("", False), ('{"a": {', False), ("{}", True)])
def test_a_lock_file_of_dvc_that_was_cut_off_is_removed(
    tmp_path: Path, text: str, kept: bool
) -> None:
    path = tmp_path / ".dvc/tmp/rwlock"
    path.parent.mkdir(parents=True)
    mend_rwlock(tmp_path)  # none is there
    path.write_text(text)
    mend_rwlock(tmp_path)
    assert path.exists() == kept


def test_a_dvc_lock_that_was_cut_off_anywhere_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At any byte: DVC takes what is left, or it is put back as it was before."""
    monkeypatch.setattr(time, "sleep", lambda _: None)
    path, before = tmp_path / "dvc.lock", lock_of("first")
    (tmp_path / ".dvc/tmp").mkdir(parents=True)
    mend_lock(tmp_path)  # none is there
    whole = lock_of("first", "second")
    for end in range(0, len(whole), 7):
        path.write_bytes(before)
        mend_lock(tmp_path)
        assert path.read_bytes() == before
        path.write_bytes(whole[:end])
        mend_lock(tmp_path)
        found = path.read_bytes()
        assert found in (before, whole[:end])
        COMPILED_LOCKFILE_SCHEMA(YAML(typ="safe").load(found))
    merge = b"<<<<<<< HEAD\n" + whole
    path.write_bytes(merge)
    mend_lock(tmp_path)
    assert path.read_bytes() == merge


def test_a_dvc_lock_that_never_was_sound_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "dvc.lock"
    path.write_bytes(lock_of("first")[:40])
    mend_lock(tmp_path)
    assert not path.exists()


def lock_of(*names: str) -> bytes:
    """A dvc.lock with these stages."""
    entry = {"path": "a", "hash": "md5", "md5": "0" * 32, "size": 1}
    stage = {"cmd": "true", "deps": [entry], "params": {"params.yaml": {"a": [1]}}}
    stage["outs"] = [dict(entry)]
    text = io.BytesIO()
    YAML().dump({"schema": "2.0", "stages": {name: copy.deepcopy(stage) for name in names}}, text)
    return text.getvalue()
