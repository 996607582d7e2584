"""MLflow follows training and can be rebuilt from the tables."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support import tracked_stage as stage
from support.tracked_stage import parents, runs

from pondering import track
from pondering.project.paths import Layout
from pondering.track import database
from pondering.track.fill import evaluation, rebuild
from pondering.track.follow import Follower
from pondering.track.rows import Rows
from pondering.track.store import Store


@pytest.fixture(autouse=True)
def turned_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what a test sets counts."""
    monkeypatch.delenv("PONDERING_TRACKING", raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a database that has no runs."""
    shutil.copy(stage.empty_database(), tmp_path)
    return tmp_path


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
    parent = next(run for run in act if run["tags"]["kind"] == "stage")
    child = next(run for run in act if run["name"] == "tau 0.01 seed 0")
    assert {run["experiment"] for run in found} == {"quick/parity"}
    assert child["tags"]["mlflow.parentRunId"] == "act, 4 networks"
    assert child["params"]["training.learning_rate"] == "0.0001"
    assert (child["params"]["setting"], child["params"]["seed"]) == ("0.01", "0")
    assert child["metrics"]["loss"] == [(10 * p, 1 / p) for p in range(1, 6)]
    assert child["metrics"]["ponder_time"] == [(10 * p, 2.01 + p) for p in range(1, 6)]
    assert "remainder" not in child["metrics"]
    assert child["metrics"]["computed_steps"] == [(0, 5000.0)]
    for name, value in {"commit": "c0ffee", "lock_hash": "10c4", "data_hash": "da7a"}.items():
        assert parent["tags"][name] == child["tags"][name] == value
    assert parent["tags"]["device"] == "cpu"
    assert len(parent["tags"]["key"]) == 64


def test_runs_are_found_by_their_own_setting_in_the_order_of_their_seeds(project: Path) -> None:
    client = Store(project).client
    found = client.search_runs(["1"], "params.tau = '0.01'", order_by=["params.mechanism"])
    assert [run.data.params["seed"] for run in found] == ["0", "1"]
    params = found[0].data.params
    assert (params["halt_bias"], params["tau_warmup"]) == ("1", "0")
    assert not {"act.tau", "act.tau_warmup", "halting.halt_bias", "seeds"} & set(params)
    (ours, _) = client.search_runs(["1"], "params.lambda_p = '0.01' AND params.beta = '0.01'")
    assert "tau" not in ours.data.params


def test_a_stage_shows_the_mean_curve_of_each_setting(project: Path) -> None:
    (act,) = (run for run in parents(project) if run["name"] == "act, 4 networks")
    assert act["metrics"]["error/tau 0.01"] == [(10 * p, 0.5 / p) for p in range(1, 6)]
    assert act["metrics"]["ponder_time/tau 0.001"] == [
        (10 * p, 2.0 + p + 0.001) for p in range(1, 6)
    ]
    client = Store(project).client
    (run,) = client.search_runs(["1"], "tags.kind = 'stage' AND tags.stage = 'act'")
    assert run.info.end_time - run.info.start_time == 100_000


def test_a_mean_ends_where_the_first_of_its_seeds_does(root: Path) -> None:
    stage.write_files(root, "parity", "act")
    curves = Layout(root, "quick").curves("parity", "act")
    lines = curves.read_text().splitlines(keepends=True)
    curves.write_text("".join(x for x in lines if not x.startswith("parity,act,0.01,0,50")))
    rebuild(root)
    (act,) = parents(root)
    assert [step for step, _ in act["metrics"]["error/tau 0.01"]] == [10, 20, 30, 40]
    assert [step for step, _ in act["metrics"]["error/tau 0.001"]][-1] == 50


def test_a_replica_of_an_earlier_training_took_that_ones_time(root: Path) -> None:
    stage.write_files(root, "parity", "act")
    path = Layout(root, "quick").provenance("parity", "act")
    before = {"replicas": ["act, tau 0.01, seed 0"], "wall_seconds": 7.0, "updates": 50}
    record = json.loads(path.read_text()) | {"earlier": [before | {"commit": "dec0de"}]}
    path.write_text(json.dumps(record))
    rebuild(root)
    found = Store(root).client.search_runs(["1"])
    took = {run.info.run_name: run.info.end_time - run.info.start_time for run in found}
    assert took["tau 0.01 seed 0"] == 7_000 and took["tau 0.01 seed 1"] == 100_000
    assert took["act, 4 networks"] == 107_000
    commits = {run.info.run_name: run.data.tags["commit"] for run in found}
    assert (commits["tau 0.01 seed 0"], commits["tau 0.01 seed 1"]) == ("dec0de", "c0ffee")


def publish(root: Path) -> None:
    """A stage with its evaluation, data card, claim, figure and published network."""
    stage.write_files(root, "parity", "act")
    layout = Layout(root, "quick")
    card = {
        "title": "Parity",
        "question": "Odd?",
        "unit": "error rate",
        "splits": {"test": "test"},
        "difficulty": {"test": "bits"},
        "what": "8 elements",
        "source": "drawn",
        "examples": {"test": 20},
        "sha256": "ab" * 32,
    }
    run = {
        "config": {"network": {"cell": "tanh_rnn", "hidden": 8}},
        "replicas": [{"setting": tau, "seed": 0, "status": "finished"} for tau in (0.001, 0.01)],
    }
    claims = {"claims": [{"runs": ["parity-act"], "figures": ["graves-04"]}]}
    table = "mechanism,setting,seed,split,prediction,difficulty,error,ponder_time\n"
    files = {
        layout.card("parity"): json.dumps(card),
        layout.report / "claims.json": json.dumps(claims),
        layout.report / "figures/graves-04.png": "png",
        layout.report / "figures/graves-05.png": "png",
        layout.table("parity"): table + "act,0.01,0,test,mixture,1,0.25,1.5\n",
        layout.models("parity", "act") / "run.json": json.dumps(run),
        layout.published("parity") / "index.json": json.dumps({"act": run["replicas"][1]}),
        layout.models("parity", "act") / "parameters.safetensors": "tensors",
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_stage_holds_its_figures_its_data_and_its_published_network(root: Path) -> None:
    publish(root)
    rebuild(root)
    store = Store(root)
    opened = store.first()
    assert opened is not None and store.client.get_experiment(opened).name == "quick/parity"
    found = store.client.search_runs([opened], "tags.kind = 'stage'")
    folder = Path(found[0].info.artifact_uri.removeprefix("file://"))
    assert sorted(str(p.relative_to(folder)) for p in folder.rglob("*.*")) == [
        "data/card.json",
        "figures/graves-04.png",
        "model/README.md",
        "model/parameters.safetensors",
        "model/run.json",
    ]
    card = (folder / "model/README.md").read_text()
    assert "# ACT on Parity: tau 0.01, seed 0" in card and "| test | 0.25 | 1.5 |" in card
    assert "of 2 published networks" in card
    assert found[0].data.metrics["test_error/tau 0.01"] == 0.25
    for run in store.client.search_runs([opened]):
        (data,) = run.inputs.dataset_inputs
        assert (data.dataset.name, data.dataset.digest) == ("parity", ("ab" * 32)[:36])


def test_a_fill_writes_in_few_transactions_and_without_change_in_none(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(root)
    written, write = [], database.write

    def counted(root: Path, rows: Rows) -> None:
        written.append(root)
        write(root, rows)

    monkeypatch.setattr(database, "write", counted)
    rebuild(root)
    assert len(written) == 3  # the stage with its replicas, their evaluation, the report
    rebuild(root)
    assert len(written) == 3


def test_a_diverged_replica_is_kept_and_marked(project: Path) -> None:
    run = next(run for run in runs(project) if run["name"] == "tau 0.01 seed 1")
    assert (run["status"], run["tags"]["status"]) == ("FAILED", "diverged")
    assert [step for step, _ in run["metrics"]["loss"]] == [10, 20]
    assert len(run["metrics"]["error"]) == 5


def test_a_deleted_database_is_rebuilt_as_it_was_and_only_once(
    project: Path, tmp_path: Path
) -> None:
    assert rebuild(project) == (0, 2)
    shutil.copytree(project / "reports", tmp_path / "reports")
    before = {p: p.read_bytes() for p in (tmp_path / "reports").rglob("*") if p.is_file()}
    assert rebuild(tmp_path) == (2, 0)
    assert runs(tmp_path) == runs(project)
    content = (tmp_path / "mlflow.db").read_bytes()
    assert rebuild(tmp_path) == (0, 2)
    assert (tmp_path / "mlflow.db").read_bytes() == content
    assert {p: p.read_bytes() for p in before} == before


def test_a_half_written_run_is_written_again(project: Path, tmp_path: Path) -> None:
    shutil.copytree(project / "reports", tmp_path / "reports")
    shutil.copy(project / "mlflow.db", tmp_path)
    whole = runs(tmp_path)
    client = Store(tmp_path).client
    parent = client.search_runs(["1"], "tags.kind = 'stage'")[0].info.run_id
    client.delete_tag(parent, "key")
    child = client.search_runs(["1"], f"tags.`mlflow.parentRunId` = '{parent}'")[0].info.run_id
    client.delete_run(child)
    assert rebuild(tmp_path) == (1, 1)
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
    assert rebuild(tmp_path) == (0, 2)
    assert (tmp_path / "mlflow.db").read_bytes() == content


def test_difficulties_weigh_equally_whatever_their_examples(tmp_path: Path) -> None:
    stage.write_files(tmp_path, "parity", "act")
    lines = ["mechanism,setting,seed,split,prediction,difficulty,examples,error,ponder_time"]
    lines += ["act,0.01,0,test,mixture,1,900,0,", "act,0.01,0,test,mixture,2,100,1,"]
    (tmp_path / "reports/quick/tables").mkdir()
    (tmp_path / "reports/quick/tables/parity.csv").write_text("\n".join(lines))
    assert evaluation(stage.info(tmp_path).stage) == {("act", "0.01", 0): {"test_error": 0.5}}


def test_a_replica_with_options_is_followed_beside_the_one_without(root: Path) -> None:
    follower, variant = Follower(Store(root)), "act[beta=0.1,halt_bias=-3]"
    replicas = tuple((name, 0.01, 0) for name in ("act", variant))
    plain = stage.rows("parity", "act", 1)[2]
    with track.live(replace(stage.info(root), replicas=replicas)) as tracker:
        tracker.log([plain, plain | {"mechanism": variant, "loss": 0.25}])
        follower.step()
    found = {run["name"]: run for run in runs(root)}
    own = found["tau 0.01 beta 0.1 halt_bias -3 seed 0"]
    assert own["metrics"]["loss"] == [(10, 0.25)]
    said = {"mechanism": variant, "setting": "0.01", "beta": "0.1", "halt_bias": "-3"}
    assert said.items() <= own["params"].items()
    assert found["tau 0.01 seed 0"]["metrics"]["loss"] == [(10, 1.0)]


def test_a_training_is_followed_killed_and_resumed_with_every_point_once(root: Path) -> None:
    follower = Follower(Store(root))

    def shown() -> tuple[str, list[int]]:
        """Status of the stage and the updates of a curve."""
        follower.step()
        (parent,) = parents(root)
        child = next(run for run in runs(root) if run["name"] == "tau 0.001 seed 0")
        assert child["status"] == parent["status"]
        return parent["status"], [step for step, _ in child["metrics"]["loss"]]

    command = [sys.executable, stage.__file__, str(root), "parity", "act"]
    growing = stage.info(root).stage.growing()
    with subprocess.Popen(command, stdin=subprocess.PIPE) as trainer:
        stage.until(growing.provenance.exists)
        stage.until(lambda: len(growing.rows()) == len(stage.REPLICAS))
        assert shown() == ("RUNNING", [10])
        trainer.kill()
    assert shown() == ("KILLED", [10])
    with track.live(stage.info(root)) as tracker:
        tracker.log(stage.rows("parity", "act", 1))  # what the checkpoint has
        assert shown() == ("RUNNING", [10])
        tracker.log(stage.rows("parity", "act", 1))  # a shard is tried again
        tracker.log(stage.rows("parity", "act", 2))
        with growing.curves.open("a") as file:
            file.write("parity,act,0.001,0,30,0.1")  # the rest is not written yet
        assert shown() == ("RUNNING", [10, 20])
        stage.write_files(root, "parity", "act")
    assert shown() == ("FINISHED", [10, 20, 30, 40, 50])
    assert not growing.curves.exists()
    with track.live(stage.info(root)) as tracker:  # run again, with the same outcome
        tracker.log(stage.rows("parity", "act", 1))
        follower.step()
        assert {run["status"] for run in parents(root)} == {"RUNNING", "FINISHED"}
    assert shown() == ("FINISHED", [10, 20, 30, 40, 50])
