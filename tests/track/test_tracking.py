"""MLflow follows training and can be rebuilt from the tables."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support import tracked_stage as stage
from support.tracked_stage import parents, runs

from pondering import track
from pondering.track.fill import evaluation
from pondering.track.follow import Follower
from pondering.track.store import Store


@pytest.fixture(autouse=True)
def turned_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what a test sets counts."""
    monkeypatch.delenv("PONDERING_TRACKING", raising=False)


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two stages, one after the other."""
    root = tmp_path_factory.mktemp("trained")
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PONDERING_TRACKING", raising=False)
        shutil.copy(stage.empty_database(), root)
        stage.train(root, mechanism="act")
        stage.train(root, mechanism="pondernet")
        track.log_results(root, "quick")
    return root


def test_importing_does_not_import_mlflow() -> None:
    code = "import sys, pondering.track, pondering.cli.track; print('mlflow' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "False"


def test_runs_have_parents_children_parameters_curves_and_tags(project: Path) -> None:
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


def test_a_deleted_database_is_rebuilt_as_it_was_and_only_once(
    project: Path, tmp_path: Path
) -> None:
    assert track.rebuild(project) == (0, 2)
    shutil.copytree(project / "reports", tmp_path / "reports")
    before = {p: p.read_bytes() for p in (tmp_path / "reports").rglob("*") if p.is_file()}
    assert track.rebuild(tmp_path) == (2, 0)
    assert runs(tmp_path) == runs(project)
    content = (tmp_path / "mlflow.db").read_bytes()
    assert track.rebuild(tmp_path) == (0, 2)
    assert (tmp_path / "mlflow.db").read_bytes() == content
    assert {p: p.read_bytes() for p in before} == before


def test_a_half_written_run_is_written_again(project: Path, tmp_path: Path) -> None:
    shutil.copytree(project / "reports", tmp_path / "reports")
    shutil.copy(project / "mlflow.db", tmp_path)
    whole = runs(tmp_path)
    client = Store(tmp_path).client
    parent = client.search_runs(["1"], "tags.`pondering.kind` = 'stage'")[0].info.run_id
    client.delete_tag(parent, "pondering.key")
    child = client.search_runs(["1"], f"tags.`mlflow.parentRunId` = '{parent}'")[0].info.run_id
    client.delete_run(child)
    assert track.rebuild(tmp_path) == (1, 1)
    assert runs(tmp_path) == whole


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


def test_difficulties_weigh_equally_whatever_their_examples(tmp_path: Path) -> None:
    stage.write_files(tmp_path, "parity", "act")
    lines = ["mechanism,setting,seed,split,prediction,difficulty,examples,error,ponder_time"]
    lines += ["act,0.01,0,test,mixture,1,900,0,", "act,0.01,0,test,mixture,2,100,1,"]
    (tmp_path / "reports/quick/tables").mkdir()
    (tmp_path / "reports/quick/tables/parity.csv").write_text("\n".join(lines))
    assert evaluation(stage.info(tmp_path).stage) == {("act", "0.01", 0): {"test_error": 0.5}}


def test_a_replica_with_options_is_followed_beside_the_one_without(tmp_path: Path) -> None:
    shutil.copy(stage.empty_database(), tmp_path)
    follower, variant = Follower(Store(tmp_path)), "act[beta=0.1,halt_bias=-3]"
    replicas = tuple((name, 0.01, 0) for name in ("act", variant))
    plain = stage.rows("parity", "act", 1)[2]
    with track.live(replace(stage.info(tmp_path), replicas=replicas)) as tracker:
        tracker.log([plain, plain | {"mechanism": variant, "loss": 0.25}])
        follower.step()
    found = {run["name"]: run for run in runs(tmp_path)}
    own = found["tau 0.01 beta 0.1 halt_bias -3 seed 0"]
    assert own["metrics"]["loss"] == [(10, 0.25)]
    said = {"mechanism": variant, "setting": "0.01", "beta": "0.1", "halt_bias": "-3"}
    assert said.items() <= own["params"].items()
    assert found["tau 0.01 seed 0"]["metrics"]["loss"] == [(10, 1.0)]


def test_a_training_is_followed_killed_and_resumed_with_every_point_once(tmp_path: Path) -> None:
    shutil.copy(stage.empty_database(), tmp_path)
    follower = Follower(Store(tmp_path))

    def shown() -> tuple[str, list[int]]:
        """Status of the stage and the updates of a curve."""
        follower.step()
        (parent,) = parents(tmp_path)
        child = next(run for run in runs(tmp_path) if run["name"] == "tau 0.001 seed 0")
        assert child["status"] == parent["status"]
        return parent["status"], [step for step, _ in child["metrics"]["loss"]]

    command = [sys.executable, stage.__file__, str(tmp_path), "parity", "act"]
    growing = stage.info(tmp_path).stage.growing()
    with subprocess.Popen(command, stdin=subprocess.PIPE) as trainer:
        stage.until(growing.provenance.exists)
        stage.until(lambda: len(growing.rows()) == len(stage.REPLICAS))
        assert shown() == ("RUNNING", [10])
        trainer.kill()
    assert shown() == ("KILLED", [10])
    with track.live(stage.info(tmp_path)) as tracker:
        tracker.log(stage.rows("parity", "act", 1))  # what the checkpoint has
        assert shown() == ("RUNNING", [10])
        tracker.log(stage.rows("parity", "act", 1))  # a shard is tried again
        tracker.log(stage.rows("parity", "act", 2))
        with growing.curves.open("a") as file:
            file.write("parity,act,0.001,0,30,0.1")  # the rest is not written yet
        assert shown() == ("RUNNING", [10, 20])
        stage.write_files(tmp_path, "parity", "act")
    assert shown() == ("FINISHED", [10, 20, 30, 40, 50])
    assert not growing.curves.exists()
    with track.live(stage.info(tmp_path)) as tracker:  # run again, with the same outcome
        tracker.log(stage.rows("parity", "act", 1))
        follower.step()
        assert {run["status"] for run in parents(tmp_path)} == {"RUNNING", "FINISHED"}
    assert shown() == ("FINISHED", [10, 20, 30, 40, 50])
