"""The commit in a provenance record."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from support.repros import commit

from pondering.project.provenance import git_commit


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with a commit."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "params.yaml").write_text("profile: quick\n")
    commit(folder)
    return folder


def test_the_commit_and_whether_code_has_changed(project: Path) -> None:
    first = git_commit(project)
    assert len(first) == 40 and set(first) <= set("0123456789abcdef")
    (project / "README.md").write_text("no code")
    assert git_commit(project) == first
    (project / "params.yaml").write_text("profile: paper\n")
    assert git_commit(project) == f"{first}+changes"


def test_without_a_commit_it_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert git_commit(tmp_path) == "unknown"
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    assert git_commit(tmp_path) == "unknown"
    monkeypatch.setenv("PATH", "")
    assert git_commit(tmp_path) == "unknown"
