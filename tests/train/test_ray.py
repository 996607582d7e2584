"""`compute.executor: ray` where there is no Ray, or no cluster; tests/system has those with one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from support import tiny

from pondering.project.errors import UserError
from pondering.train.stage import run


def test_a_missing_ray_and_a_missing_cluster_are_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = tiny.document()
    values["compute"] |= {"executor": "ray", "ray_address": "127.0.0.1:1"}
    tiny.write(tmp_path, values)
    params = tiny.freeze_all(tmp_path)
    with pytest.raises(UserError, match=r"compute\.ray_address: 127\.0\.0\.1:1: "):
        run(params, "tiny", tmp_path)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"compute\.executor: ray is not installed; pip install"):
        run(params, "tiny", tmp_path)
