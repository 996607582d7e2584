"""A trained project to show."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from support.trained_project import trained


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the trained project, which is the working folder."""
    shutil.copytree(trained(), tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path
