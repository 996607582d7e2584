"""The compiled path in a project, and its refusals."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from support import stages, tiny

from pondering.model.paths import compiled
from pondering.model.paths.compiled.loops import forward
from pondering.params.read import load_params
from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.train.path import path_of
from pondering.train.shard import Shard
from pondering.train.stage import run


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return stages.fresh(tmp_path / "project", tiny.document())


def train(
    folder: Path, path: str, mechanism: str = "act", values: dict[str, Any] | None = None
) -> Shard:
    """Delete the replicas, then train the tiny project on a path."""
    shutil.rmtree(folder / "data/replicas", ignore_errors=True)
    values = values or tiny.document()
    values["compute"] |= {"path": path}
    params = load_params(tiny.write(folder, values))
    run(params, "tiny", (mechanism,))
    return tiny.shard(params, mechanism)


def test_a_stage_trains_on_the_compiled_path_and_records_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, real, layout = [], forward.forward, Layout(project, "quick")
    monkeypatch.setattr(forward, "forward", lambda *parts: (calls.append(1), real(*parts))[1])
    curves, keys, hashes = {}, set(), list[list[str]]()
    for wanted, path in (("fast", "fast"), ("auto", "compiled")):
        shard = train(project, wanted)
        curves[path] = pd.read_csv(layout.curves("tiny", "act"))
        record = json.loads(layout.provenance("tiny", "act").read_text())
        assert record["path"] == path
        assert "numba" in record["versions"]
        assert (path == "compiled") == bool(calls)
        keys.add(shard.key)
        hashes.append([*shard.replicas])
    assert len(keys) == 2, "a checkpoint of one path would continue on the other"
    assert hashes[0] == hashes[1], "a finished replica counts, whatever its path"
    pd.testing.assert_frame_equal(*curves.values(), rtol=1e-3)


def test_a_gpu_trains_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    break_import(monkeypatch, ModuleNotFoundError("No module named 'numba'"))
    config, gpu = tiny.config(), torch.device("cuda")
    assert path_of("auto", config, "dact", gpu) == "fast"
    assert path_of("readable", config, "act", gpu) == "readable"


def test_a_cell_without_loops_is_recorded_as_the_fast_path(project: Path) -> None:
    gru = tiny.document(network={"cell": "gru"})
    keys = [train(project, path, "repeat", gru).key for path in ("fast", "auto")]
    assert keys[0] == keys[1]
    record = json.loads((project / "data/results/quick/provenance/tiny/repeat.json").read_text())
    assert record["path"] == "fast"


def break_import(monkeypatch: pytest.MonkeyPatch, problem: Exception) -> None:
    """Let the import of the compiled path raise `problem`."""

    class Finder:
        def find_spec(self, name: str, *_: Any) -> None:
            if name == f"{compiled.__name__}.operations":
                raise problem

    monkeypatch.delitem(sys.modules, f"{compiled.__name__}.operations", raising=False)
    monkeypatch.delattr(compiled, "operations", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Finder(), *sys.meta_path])


@pytest.mark.parametrize(
    ("problem", "remedy"),
    [
        (ModuleNotFoundError("No module named 'numba'"),
         r"pip install 'pondering\[compiled\]', "),
        (OSError("Could not find/load shared object file 'x.so'"), "or set the path to fast"),
        (RuntimeError("cannot cache function 'tanh': no locator available for file 'x'"),
         "set NUMBA_CACHE_DIR to a folder"),
    ],
)  # fmt: skip
def test_a_compiled_path_that_cannot_load_is_refused_before_training(
    monkeypatch: pytest.MonkeyPatch, problem: Exception, remedy: str
) -> None:
    break_import(monkeypatch, problem)
    with pytest.raises(UserError, match=rf"^params\.yaml: compute\.path: auto: .*{remedy}"):
        path_of("auto", tiny.config(), "act", torch.device("cpu"))
