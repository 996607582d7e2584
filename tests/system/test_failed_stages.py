"""A stage that fails under DVC: the results of the run before it stay where they are."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pondering.train.plan import plan
from ruamel.yaml import YAML
from support import repros, stages, tiny


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Path]:
    folder = repros.new(tmp_path / "project", tiny.document(), ["act"])
    yield folder
    repros.kill_all(folder)


def test_the_previous_results_are_intact(project: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert repros.start(project, "dvc", log).wait(repros.PATIENCE) == 0, log.read_text()
    before = repros.results(project)
    assert any("data/runs" in name for name in before) and any("curves" in name for name in before)
    params = repros.write(project, tiny.document(act={"tau": [0.05]}), ["act"])
    damaged = plan(params, "tiny", "act", project).folder / "checkpoint.safetensors"
    damaged.parent.mkdir(parents=True)
    damaged.write_bytes(b"no checkpoint")
    assert repros.start(project, "dvc", log).wait(repros.PATIENCE) != 0
    assert "truncated or damaged" in log.read_text()
    changed = {"params.yaml", "dvc.lock"}
    after = repros.results(project)
    assert {n: d for n, d in after.items() if n not in changed} == {
        n: d for n, d in before.items() if n not in changed
    }


@pytest.mark.parametrize("python", [None, f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n'])
def test_without_the_environment_dvc_says_in_a_line_what_to_do(
    project: Path, tmp_path: Path, python: str | None
) -> None:
    """No `python` at all, or one that has the standard library alone."""
    keys = YAML(typ="safe").load(stages.ROOT / "dvc.yaml")["stages"]["keys"]
    (project / "src/pondering").mkdir(parents=True)
    YAML().dump({"stages": {"keys": keys}}, project / "dvc.yaml")
    path = tmp_path / "bin"
    path.mkdir()
    if python:
        (path / "python").write_text(python)
        (path / "python").chmod(0o755)
    done = subprocess.run(
        repros.COMMANDS["dvc"],
        cwd=project,
        env=os.environ | {"PATH": str(path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(said) == 1 and ". .venv/bin/activate" in said[0]
    assert "Traceback" not in done.stdout + done.stderr
