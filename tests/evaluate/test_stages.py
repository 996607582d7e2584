"""The files that the stage scripts write for a tiny project."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from support import stages, tiny
from support.stages import MECHANISMS, QUICK, contents

from pondering.params.read import load_params
from pondering.project.atomic import sha256_file
from pondering.project.paths import Layout
from pondering.project.provenance import hash_values
from pondering.results.results import CURVE_COLUMNS, TABLE_COLUMNS


@pytest.fixture(scope="module")
def project() -> Path:
    return stages.finished_project()


@pytest.fixture
def copy(project: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of the project that a test may change."""
    shutil.copytree(project, tmp_path / "copy")
    yield tmp_path / "copy"
    shutil.rmtree(tmp_path / "copy")


def test_stages_write_the_files_of_the_layout(project: Path) -> None:
    layout = Layout(Path(), "quick")
    wanted = {layout.frozen("tiny"), layout.card("tiny"), layout.table("tiny")}
    wanted |= {layout.traces("tiny"), layout.provenance("tiny"), layout.metrics("tiny")}
    for each in MECHANISMS:
        run = layout.run("tiny", each)
        wanted |= {run / "parameters.safetensors", run / "run.json"}
        wanted |= {layout.curves("tiny", each), layout.provenance("tiny", each)}
    assert set(contents(project)) == set(map(str, wanted))


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_curves_have_a_row_per_replica_and_point(project: Path, mechanism: str) -> None:
    curves = pd.read_csv(project / f"data/results/quick/curves/tiny/{mechanism}.csv")
    assert tuple(curves.columns) == CURVE_COLUMNS
    assert set(curves["experiment"]) == {"tiny"}
    assert set(curves["mechanism"]) == {mechanism}
    settings = {"repeat": [1, 2], "act": [0.01, 0.1], "pondernet": [0.3, 0.6]}[mechanism]
    replicas = {(setting, seed) for setting in settings for seed in (0, 7)}
    for update, group in curves.groupby("update"):
        assert set(zip(group["setting"], group["seed"], strict=True)) == replicas, update
    assert sorted(set(curves["update"])) == list(range(3, 31, 3))
    assert curves["computed_steps"].dtype == "int64"


def test_an_evaluation_has_a_complete_record(project: Path) -> None:
    origin = json.loads((project / "data/results/quick/provenance/tiny.json").read_text())
    wanted = {"commit", "params_hash", "data_hash", "device", "versions", "wall_seconds", "command"}
    assert wanted <= origin.keys()
    config = load_params(project / "params.yaml").experiment("tiny").plain()
    runs = {each: project / f"data/results/quick/networks/tiny/{each}" for each in MECHANISMS}
    trained = {k: sha256_file(runs[k] / "parameters.safetensors") for k in runs}
    for mechanism, digest in trained.items():
        training = json.loads(
            (project / f"data/results/quick/provenance/tiny/{mechanism}.json").read_text()
        )
        assert training["trained_hash"] == digest
        same = ("commit", "lock_hash", "device", "threads", "versions")
        assert {key: origin[key] for key in same} == {key: training[key] for key in same}
        assert set(origin) - {"program"} == set(training) - {"key", "path", "updates"}
    assert origin["trained_hash"] == trained
    assert origin["config"] == config
    assert origin["params_hash"] == hash_values(config) != training["params_hash"]
    assert origin["data_hash"] == sha256_file(project / "data/tasks/quick/tiny.npz")
    assert origin["command"] == "dvc repro evaluate@quick-tiny"
    assert 0 < origin["wall_seconds"] < 60


def test_the_table_has_a_row_per_replica_difficulty_and_prediction(project: Path) -> None:
    table = pd.read_csv(project / "data/results/quick/tables/tiny.csv")
    assert tuple(table.columns) == TABLE_COLUMNS
    assert len(table) == (4 + 4 + 2 * 4) * 3
    assert set(table["split"]) == {"test"}
    assert sorted(set(table["difficulty"])) == [1, 2, 3]
    assert set(table["examples"]) == {10}
    assert set(table["status"]) == {"finished"}
    modes = table.groupby("mechanism")["prediction"].unique().map(set).to_dict()
    assert modes == {
        "act": {"mixture"}, "repeat": {"mixture"}, "pondernet": {"sampled", "expected"},
    }  # fmt: skip
    assert table["error"].between(0, 1).all()
    assert table["remainder"].notna().eq(table["mechanism"] == "act").all()
    repeat = table[table["mechanism"] == "repeat"]
    assert (repeat["ponder_time"] == repeat["setting"]).all()
    assert (repeat["ponder_sd"] == 0).all()
    assert table["ponder_time"].between(1, 4).all()


def test_another_process_writes_the_same_bytes(project: Path, tmp_path: Path) -> None:
    """The process has another hash seed, and copies of two mechanisms' networks."""
    folder = tiny.write(tmp_path, tiny.document()).parent
    for mechanism in ("repeat", "act"):
        shutil.copytree(
            project / f"data/results/quick/networks/tiny/{mechanism}",
            folder / f"data/results/quick/networks/tiny/{mechanism}",
        )
    commands = [
        ("datasets", *stages.DATASETS),
        ("train", *QUICK, "--mechanism", "pondernet"),
        ("evaluate", *QUICK),
    ]
    code = (
        "from support import argv\n"
        f"for name, *words in {commands}:\n"
        "    argv.script(f'{name}.py')(words, standalone_mode=False)"
    )
    more = {"PONDERING_TRACKING": "off", "PYTHONHASHSEED": "12345"}
    environment = os.environ | more | {"PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    timed = ("data/replicas/", "data/results/quick/provenance/")  # they hold wall times
    ours = {each: data for each, data in contents(folder).items() if not each.startswith(timed)}
    theirs = contents(project)
    assert len(ours) == 2 * 3 + 1 + 5
    for name, data in ours.items():
        assert data == theirs[name], name


def test_a_diverged_replica_has_the_worst_error_and_changes_no_other_row(copy: Path) -> None:
    path = copy / "data/results/quick/networks/tiny/act/run.json"
    record = json.loads(path.read_text())
    record["replicas"][1]["status"] = "diverged"
    path.write_text(json.dumps(record))
    before = pd.read_csv(copy / "data/results/quick/tables/tiny.csv")
    assert stages.run(copy, "evaluate", *QUICK).status == 0
    after = pd.read_csv(copy / "data/results/quick/tables/tiny.csv")
    rows = (after["mechanism"] == "act") & (after["setting"] == 0.01) & (after["seed"] == 7)
    assert rows.sum() == 3
    pd.testing.assert_frame_equal(after[~rows], before[~rows])
    failed = after[rows]
    assert (failed["error"] == 1.0).all()
    assert (failed["status"] == "diverged").all()
    assert failed[["loss", "ponder_time", "ponder_sd", "remainder"]].isna().all(axis=None)
    assert (failed["examples"] == 10).all()
