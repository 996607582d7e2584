"""A stage that fails under DVC: the results of the run before it stay where they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support import repros, tiny

from pondering.train.plan import plan


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
