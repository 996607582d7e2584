"""MLflow follows training and can be rebuilt from the tables."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from support import tracked_stage as stage
from support.tracked_stage import leave, runs

from pondering import track
from pondering.track.place import Place, flatten, without_secrets
from pondering.track.stages import summarise


@pytest.fixture(autouse=True)
def own_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what a test sets counts."""
    for name in ("MLFLOW_TRACKING_URI", "PONDERING_TRACKING"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two stages logged live, one after the other, both evaluated."""
    root = tmp_path_factory.mktemp("live")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("MLFLOW_TRACKING_URI", "PONDERING_TRACKING"):
            patch.delenv(name, raising=False)
        shutil.copy(stage.empty_database(), root)
        stage.train(root, mechanism="act")
        stage.train(root, mechanism="pondernet")
        assert track.settle(root)
    yield root
    leave(root)


def test_importing_does_not_import_mlflow() -> None:
    code = "import sys, pondering.track, pondering.cli.track; print('mlflow' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


def test_live_runs_have_parents_children_parameters_curves_and_tags(project: Path) -> None:
    found = runs(project)
    act = [run for run in found if run["params"]["mechanism"] == "act"]
    assert len(found) == 10 and len(act) == 5
    parent = next(run for run in act if run["tags"]["pondering.kind"] == "stage")
    child = next(run for run in act if run["name"] == "tau 0.01 seed 0")
    assert {run["experiment"] for run in found} == {"pondering/quick/parity"}
    assert child["tags"]["mlflow.parentRunId"] == "parity act"
    assert child["params"]["training.learning_rate"] == "0.0001"
    assert (child["params"]["setting"], child["params"]["seed"]) == ("0.01", "0")
    assert child["metrics"]["loss"] == [(10 * p, 1 / p) for p in range(1, 6)]
    assert child["metrics"]["ponder_time"] == [(10 * p, 2.01 + p) for p in range(1, 6)]
    assert "remainder" not in child["metrics"]
    assert child["metrics"]["computed_steps"] == [(0, 5000.0)]
    for name, value in {"commit": "c0ffee", "lock_hash": "10c4", "data_hash": "da7a"}.items():
        assert parent["tags"][f"pondering.{name}"] == child["tags"][f"pondering.{name}"] == value
    assert parent["tags"]["pondering.device"] == "cpu"
    assert len(parent["tags"]["pondering.key"]) == 64


def test_a_diverged_replica_is_kept_and_marked(project: Path) -> None:
    run = next(run for run in runs(project) if run["name"] == "tau 0.01 seed 1")
    assert (run["status"], run["tags"]["pondering.status"]) == ("FAILED", "diverged")
    assert [step for step, _ in run["metrics"]["loss"]] == [10, 20]
    assert len(run["metrics"]["error"]) == 5


def test_no_secret_arrives(project: Path) -> None:
    assert b"hunter2" not in (project / "mlflow.db").read_bytes()
    assert (
        without_secrets("see https://a:b@h/p?api_key=1&x=2")
        == "see https://***@h/p?api_key=***&x=2"
    )
    assert flatten({"a": {"access_key": 1, "halt": [1, 2]}}) == {
        "a.access_key": "***",
        "a.halt": "1, 2",
    }


def test_a_deleted_database_is_rebuilt_as_it_was_and_only_once(
    project: Path, tmp_path: Path
) -> None:
    assert track.rebuild(project) == (0, 2)
    shutil.copytree(project / "reports", tmp_path / "reports")
    before = {p: p.read_bytes() for p in (tmp_path / "reports").rglob("*") if p.is_file()}
    assert track.rebuild(tmp_path) == (2, 0)
    hidden = "pondering.journal"
    assert runs(tmp_path, hidden) == runs(project, hidden)
    content = (tmp_path / "mlflow.db").read_bytes()
    assert track.rebuild(tmp_path) == (0, 2)
    assert (tmp_path / "mlflow.db").read_bytes() == content
    assert {p: p.read_bytes() for p in before} == before


def test_a_half_written_run_is_rebuilt(project: Path, tmp_path: Path) -> None:
    from mlflow import MlflowClient

    shutil.copytree(project / "reports", tmp_path / "reports")
    shutil.copy(project / "mlflow.db", tmp_path)
    client = MlflowClient(Place.of(tmp_path).uri)
    hidden = "pondering.journal"
    whole = runs(tmp_path, hidden)
    parent = client.search_runs(["1"], "tags.`pondering.kind` = 'stage'")[0].info.run_id
    client.delete_tag(parent, "pondering.key")
    child = client.search_runs(["1"], f"tags.`mlflow.parentRunId` = '{parent}'")[0].info.run_id
    client.delete_run(child)
    assert track.rebuild(tmp_path) == (1, 1)
    assert runs(tmp_path, hidden) == whole


def test_evaluations_and_figures_follow(project: Path, tmp_path: Path) -> None:
    shutil.copytree(project / "reports", tmp_path / "reports")
    shutil.copy(project / "mlflow.db", tmp_path)
    lines = ["experiment,mechanism,setting,seed,split,difficulty,prediction,error,ponder_time"]
    for setting, seed in stage.REPLICAS:
        for difficulty, error in ((1, 0.1), (2, 0.3)):
            for mechanism, kind in (
                ("act", "mixture"),
                ("pondernet", "sampled"),
                ("pondernet", "expected"),
            ):
                given = 2 * error if kind == "expected" else error
                row = (mechanism, setting, seed, "test", difficulty, kind, given, difficulty)
                lines.append("parity," + ",".join(map(str, row)))
    quick = tmp_path / "reports/quick"
    (quick / "tables").mkdir()
    (quick / "tables/parity.csv").write_text("\n".join(lines))
    (quick / "figures").mkdir()
    (quick / "figures/graves4.png").write_bytes(b"png")
    track.log_results(tmp_path, "quick")
    assert track.settle(tmp_path)
    found = {
        (run["params"].get("mechanism"), run["name"]): run["metrics"] for run in runs(tmp_path)
    }
    assert found["act", "tau 0.01 seed 0"]["test_error"] == [(0, pytest.approx(0.2))]
    assert found["act", "tau 0.01 seed 0"]["test_ponder_time"] == [(0, 1.5)]
    banino = found["pondernet", "lambda_p 0.001 seed 1"]
    assert banino["test_error"] == [(0, pytest.approx(0.2))]
    assert banino["test_expected_error"] == [(0, pytest.approx(0.4))]
    assert [p.name for p in (tmp_path / "mlartifacts").rglob("*.png")] == ["graves4.png"]
    content = (tmp_path / "mlflow.db").read_bytes()
    assert track.rebuild(tmp_path) == (0, 2)
    assert (tmp_path / "mlflow.db").read_bytes() == content
    leave(tmp_path)


def test_difficulties_weigh_equally_whatever_their_examples() -> None:
    row = {
        "setting": "1",
        "seed": 0,
        "split": "test",
        "prediction": "mixture",
        "ponder_time": "nan",
    }
    rows = [row | {"error": 0.0, "examples": 900}, row | {"error": 1.0, "examples": 100}]
    assert summarise(rows) == {("1", 0): {"test_error": 0.5}}
