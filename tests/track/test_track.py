"""MLflow shows running trainings and results; no fault of MLflow stops a training."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from support import tiny
from support import tracked_stage as stage

from pondering.params.replica import Replica
from pondering.project.paths import PUBLISHED, Layout
from pondering.track.writer import load_if_open

ONE = "act, tau 0.001, seed 0"
ALL = {f"act, tau {setting:g}, seed {seed}" for setting, seed in stage.REPLICAS}
CURVE = [(10 * point, 1 / point) for point in stage.POINTS]


@pytest.fixture(scope="module")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database of MLflow without runs. Tests copy it, since creating one takes seconds."""
    from pondering.track.runs import MlflowClient

    path = tmp_path_factory.mktemp("mlflow") / "empty.db"
    MlflowClient(f"sqlite:///{path}").search_experiments()
    return path


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, empty_database: Path) -> Path:
    """The working folder, with a database without runs."""
    monkeypatch.delenv("PONDERING_TRACKING", raising=False)
    monkeypatch.setattr("pondering.track.writer.SECONDS", 0.0)
    monkeypatch.chdir(tmp_path)
    database = Path(f"{tmp_path.name}.db")  # MLflow caches a database by its name
    for module in ("runs", "writer"):
        monkeypatch.setattr(f"pondering.track.{module}.DATABASE", database)
    shutil.copy(empty_database, database)
    return tmp_path


def runs() -> dict[str, Any]:
    """Every run in the working folder's database, by name."""
    mlflow = client()
    found = [
        run
        for experiment in mlflow.search_experiments()
        for run in mlflow.search_runs([experiment.experiment_id])
    ]
    names = [run.info.run_name for run in found]
    assert len(names) == len(set(names)), "two runs have one name"
    return dict(zip(names, found, strict=True))


def points(run: Any, metric: str = "loss") -> list[tuple[int, float]]:
    """Updates and values of a run's curve."""
    return [
        (each.step, each.value) for each in client().get_metric_history(run.info.run_id, metric)
    ]


def client() -> Any:
    from pondering.track import runs  # imports MLflow, which takes seconds

    return runs.client()


def load() -> None:
    """Load the results in the working folder into MLflow."""
    from pondering.track.load import load

    load(["quick"])


@pytest.fixture
def results(project: Path) -> Path:
    """A finished training with its evaluation, data card, claim, figure and published network."""
    values = tiny.document()
    values["parity"] = values.pop("tiny")
    tiny.write(project, values)
    stage.write_results(project)
    layout = Layout(project, "quick", PUBLISHED)
    card = {"question": "Odd?", "what": "8 elements", "source": "drawn", "sha256": "ab" * 32}
    claims = {"claims": [{"runs": ["parity-act"], "figures": ["graves-04", "not-drawn"]}]}
    files = {
        layout.card("parity"): json.dumps(card),
        layout.report / "claims.json": json.dumps(claims),
        layout.report / "figures/graves-04.svg": "svg",
        layout.report / "figures/graves-05.svg": "svg",
        layout.run("parity", "act") / "parameters.safetensors": "tensors",
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    rows = [
        {"mechanism": "act", "setting": setting, "seed": seed, "split": "test",
         "prediction": kind, "difficulty": level, "error": error, "ponder_time": level}
        for setting, seed in stage.REPLICAS
        for kind, level, error in (("mixture", 1, 0.1), ("mixture", 2, 0.3), ("expected", 1, 0.9))
    ]  # fmt: skip
    layout.table("parity").parent.mkdir(parents=True)
    pd.DataFrame(rows).to_csv(layout.table("parity"), index=False)
    return project


def test_a_training_is_shown_while_it_runs(project: Path) -> None:
    looks: list[Any] = []

    def look() -> None:
        if not looks:
            stage.until(lambda: runs().keys() >= ALL and bool(points(runs()[ONE])))
            looks.append(runs())

    stage.train(pause=look)
    assert {run.info.status for run in looks[0].values()} == {"RUNNING"}
    found = runs()
    assert found.keys() == ALL | {"parity"}
    assert points(found[ONE]) == CURVE
    assert points(found[ONE], "ponder_time") == [(10 * p, 2.0 + p + 0.001) for p in range(1, 6)]
    assert points(found[ONE], "remainder") == []
    assert found[ONE].info.status == found["parity"].info.status == "FINISHED"
    diverged = found["act, tau 0.01, seed 1"]
    assert diverged.info.status == "FAILED" and len(points(diverged)) == 2
    parent = found["parity"].info.run_id
    assert all(found[name].data.tags["mlflow.parentRunId"] == parent for name in ALL)
    wanted = {"mechanism": "act", "tau": "0.01", "seed": "1", "halting.halt_bias": "1"}
    assert wanted.items() <= diverged.data.params.items()
    assert not {"act.tau", "act.seeds"} & set(diverged.data.params)


def test_an_option_replaces_the_shared_parameter() -> None:
    from pondering.track.runs import parameters

    found = parameters(stage.CONFIG, Replica("act", 0.01, 0, (("halt_bias", -3.0),)))
    assert found["halt_bias"] == "-3" and found["mechanism"] == "act[halt_bias=-3]"
    assert "halting.halt_bias" not in found


def test_a_training_that_continues_or_restarts_has_one_run_for_each_replica(project: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        stage.train([1, 2])
    assert {run.info.status for run in runs().values()} == {"KILLED"}
    for _ in ("continues", "restarts"):
        stage.train()  # it logs its earlier points again
        found = runs()
        assert found.keys() == ALL | {"parity"} and found[ONE].info.status == "FINISHED"
        assert points(found[ONE]) == CURVE


def test_points_that_a_training_logs_again_are_written_once(project: Path) -> None:
    """A shard that failed is tried again in the same training."""
    stage.train([1, 2, 3, 1, 2, 3, 4, 5])
    assert points(runs()[ONE]) == CURVE


def test_results_are_loaded_once_with_metrics_data_and_files(results: Path) -> None:
    load()
    found = runs()
    assert found.keys() == ALL | {"parity"}
    assert [step for step, _ in points(found[ONE])] == [10, 20, 30, 40, 50]
    assert found["act, tau 0.01, seed 1"].info.status == "FAILED"
    metrics = found[ONE].data.metrics
    assert metrics["test_error"] == pytest.approx(0.2) and metrics["test_ponder_time"] == 1.5
    assert metrics["test_expected_error"] == 0.9
    info = found[ONE].info
    assert info.end_time - info.start_time == 100_000
    parent = found["parity"]
    (data,) = parent.inputs.dataset_inputs
    assert (data.dataset.name, data.dataset.digest) == ("parity", ("ab" * 32)[:36])
    files = {
        file.path
        for folder in ("figures", "networks/act")
        for file in client().list_artifacts(parent.info.run_id, folder)
    }
    assert files == {"figures/graves-04.svg", "networks/act/parameters.safetensors"}
    (database,) = results.glob("*.db")
    content = database.read_bytes()
    load()
    assert database.read_bytes() == content
    Layout(results, "quick", PUBLISHED).report.joinpath("figures/graves-04.svg").write_text("new")
    load()
    (figure,) = (results / "mlartifacts").rglob("graves-04.svg")
    assert figure.read_text() == "new"


def test_a_logged_training_keeps_its_runs_and_gets_test_errors(results: Path) -> None:
    stage.train()
    before = {name: run.info.run_id for name, run in runs().items()}
    load_if_open("quick")
    assert {name: run.info.run_id for name, run in runs().items()} == before
    assert runs()[ONE].data.metrics["test_error"] == pytest.approx(0.2)
    assert points(runs()[ONE]) == CURVE
    curves = Layout(results, "quick", PUBLISHED).curves("parity", "act")
    curves.write_text(curves.read_text().replace("act,0.001,0,50,0.2,", "act,0.001,0,50,0.3,"))
    load_if_open("quick")  # trained again without MLflow
    after = {name: run.info.run_id for name, run in runs().items()}
    assert {name for name in after if after[name] != before[name]} == {ONE}
    assert points(runs()[ONE])[-1] == (50, 0.3)


def test_older_results_do_not_change_a_running_training(results: Path) -> None:
    looks: list[Any] = []

    def look() -> None:
        if not looks:
            stage.until(lambda: runs().keys() >= ALL)
            looks.append(runs()[ONE].info.run_id)
            load()

    stage.train(pause=look)
    assert runs()[ONE].info.run_id == looks[0] and points(runs()[ONE]) == CURVE


def test_long_curves_are_thinned_and_keep_their_last_point(project: Path) -> None:
    from pondering.track.runs import POINTS, Runs

    found = Runs(client(), "quick", "parity")
    run = found.begin(Replica("act", 0.01, 0))
    found.log(run, [stage.rows(1)[0] | {"update": update} for update in range(1, 1001)])
    steps = [step for step, _ in points(run)]
    assert len(steps) == POINTS and steps[-1] == 1000


def test_without_tracking_or_a_database_nothing_is_written(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (database,) = project.glob("*.db")
    content = database.read_bytes()
    monkeypatch.setenv("PONDERING_TRACKING", "off")
    stage.train()
    load_if_open("quick")
    assert database.read_bytes() == content
    database.unlink()
    monkeypatch.delenv("PONDERING_TRACKING")
    stage.train()
    load_if_open("quick")
    assert list(project.iterdir()) == []


@pytest.mark.parametrize("fault", ["damaged", "locked", "full"])
def test_a_fault_of_mlflow_is_one_warning(
    project: Path, capfd: pytest.CaptureFixture[str], fault: str
) -> None:
    (database,) = project.glob("*.db")
    with contextlib.ExitStack() as stack:
        if fault == "locked":
            lock = stack.enter_context(contextlib.closing(sqlite3.connect(database)))
            lock.execute("BEGIN EXCLUSIVE")
        elif fault == "damaged":
            database.write_bytes(b"not a database " * 1000)
        else:
            database.unlink()
            database.symlink_to("/dev/full")
        stage.train()
    (line,) = capfd.readouterr().err.splitlines()
    assert line.startswith("warning: MLflow does not show this (")
