"""`pondering back`: what it refuses. `tests/system/test_way_back.py` goes back."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from dvc.repo import Repo
from support.argv import refused
from support.repository import commit

STAGE = "stages:\n  made:\n    cmd: echo x > data.txt\n    outs:\n"
MD5 = "401b30e3b8b5d629635a5c613cdb7919"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose last commit names a file that DVC has no copy of."""
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "-q"], check=True)
    Repo.init().close()
    (tmp_path / "dvc.yaml").write_text(f"{STAGE}    - data.txt\n")
    out = f"    - path: data.txt\n      hash: md5\n      md5: {MD5}\n      size: 2\n"
    (tmp_path / "dvc.lock").write_text(f"schema: '2.0'\n{STAGE}{out}")
    (tmp_path / "params.yaml").write_text("one: 1\n")
    commit(tmp_path)
    (tmp_path / "params.yaml").write_text("one: 2\n")
    return tmp_path


def test_where_dvc_has_no_copy_nothing_changes(project: Path) -> None:
    """Removed by `dvc gc`, or never here: DVC does not know which."""
    assert refused("back") == (
        "error: DVC has no copy of 1 of the files and folders that the last commit names: made on "
        "another machine, or deleted by `dvc gc`; nothing has been changed. `git checkout "
        "params.yaml && make repro` goes back by a run\n"
    )
    assert (project / "params.yaml").read_text() == "one: 2\n"


def test_without_a_commit_there_is_no_way_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert refused("back") == (
        "error: there is no commit here to go back to; run it in a checkout\n"
    )
