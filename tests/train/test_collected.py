"""The train stage trains missing replicas and changes no byte of the others."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from safetensors.torch import load_file
from support import stages, tiny

from pondering.params.read import load_params
from pondering.params.replica import Replica
from pondering.params.schema import Params
from pondering.project.paths import Layout
from pondering.train import replica
from pondering.train.replicas_csv import replicas_csv
from pondering.train.stage import missing_of, run

LAYOUT = Layout(Path(), "quick")
RUN, CURVES = LAYOUT.run("tiny", "act"), LAYOUT.curves("tiny", "act")
ORIGIN = LAYOUT.provenance("tiny", "act")
ALL = [(tau, seed) for tau in (0.01, 0.1) for seed in (0, 7)]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the finished project, with two penalties and two seeds of ACT."""
    return shutil.copytree(stages.finished_project(), tmp_path / "project")


def parameters_of(folder: Path, **quick: Any) -> Params:
    return load_params(tiny.write(folder, tiny.document(**quick)))


def missing(folder: Path, **quick: Any) -> list[Replica]:
    """The replicas that the stage would train with these values."""
    params = parameters_of(folder, **quick)
    planned = replica.by_hash(params, "tiny", "act")
    return [planned[each] for each in missing_of(params, "tiny", planned)]


def train(folder: Path, **quick: Any) -> list[tuple[float, int]]:
    """Run the stage; returns setting and seed of each replica that it trained."""
    new = [(each.setting, each.seed) for each in missing(folder, **quick)]
    rows: list[dict[str, Any]] = []
    run(parameters_of(folder, **quick), "tiny", ("act",), rows.extend)
    assert {(row["setting"], row["seed"]) for row in rows} == {*new}
    return new


def read_json(path: Path) -> Any:
    return json.loads(path.read_text())


def entries(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read_json(folder / RUN / "run.json")["replicas"]
    return found


def pairs_of(folder: Path) -> list[tuple[float, int]]:
    return [(each["setting"], each["seed"]) for each in entries(folder)]


def everything(folder: Path) -> dict[tuple[float, int], Any]:
    """Record, parameters and curve of each network, by setting and seed."""
    tensors = load_file(folder / RUN / "parameters.safetensors")
    lines = (folder / CURVES).read_text().splitlines()[1:]
    return {
        (each["setting"], each["seed"]): (
            each,
            [tensor[k].tolist() for tensor in tensors.values()],
            [line for line in lines if f",act,{each['setting']:g},{each['seed']}," in f",{line}"],
        )
        for k, each in enumerate(entries(folder))
    }


def assert_unchanged(folder: Path, pairs: list[tuple[float, int]]) -> None:
    """Assert that these replicas have every bit of the finished project's."""
    before, after = everything(stages.finished_project()), everything(folder)
    for pair in pairs:
        assert before[pair] == after[pair] and len(after[pair][2]) == 10


def test_only_added_seeds_and_settings_are_trained(project: Path) -> None:
    more: dict[str, Any] = {"seeds": [7, 3, 0], "act": {"tau": [0.1, 0.05, 0.01]}}
    new = [(0.1, 3), (0.05, 7), (0.05, 3), (0.05, 0), (0.01, 3)]
    assert train(project, **more) == new
    assert_unchanged(project, ALL)
    wanted = [(tau, seed) for tau in (0.1, 0.05, 0.01) for seed in (7, 3, 0)]
    assert pairs_of(project) == wanted
    curves = pd.read_csv(project / CURVES)
    points = list(zip(curves["update"], curves["setting"], curves["seed"], strict=True))
    assert points == sorted(points, key=lambda row: (row[0], wanted.index(row[1:])))
    assert not missing(project, **more)


def test_an_option_that_becomes_the_blocks_value_trains_nothing(project: Path) -> None:
    """The replica's name in the tables changes, its numbers do not."""
    bias = {"tau": 0.1, "halt_bias": 1}
    assert train(project, act={"tau": [0.05, bias]}, seeds=[0]) == [(0.05, 0), (0.1, 0)]
    before = pd.read_csv(project / CURVES, dtype=str)
    assert set(before["mechanism"]) == {"act", "act[halt_bias=1]"}
    new = train(project, act={"tau": [0.05, 0.1]}, seeds=[0], halting={"halt_bias": 1})
    assert new == [(0.05, 0)]
    after = pd.read_csv(project / CURVES, dtype=str)
    assert set(after["mechanism"]) == {"act"}
    rows = [table[table["setting"] == "0.1"].drop(columns="mechanism") for table in (before, after)]
    assert len(rows[0]) > 1
    pd.testing.assert_frame_equal(*(each.reset_index(drop=True) for each in rows))


def test_editing_back_and_removing_settings_train_nothing(project: Path) -> None:
    before = stages.contents(project)
    assert len(train(project, training={"learning_rate": 0.02})) == 4
    assert train(project) == []
    assert_unchanged(project, ALL)
    after = stages.contents(project)
    assert {name: after[name] for name in before} == before
    assert train(project, seeds=[7], act={"tau": [0.1]}) == []
    assert pairs_of(project) == [(0.1, 7)]
    assert_unchanged(project, [(0.1, 7)])


def test_values_of_the_evaluation_train_nothing_and_change_the_record(project: Path) -> None:
    """DVC's evaluate stage depends on the networks alone, so their record must change."""
    before = (project / RUN / "run.json").read_bytes()
    assert train(project, evaluation={"stored": 3}) == []
    assert (project / RUN / "run.json").read_bytes() != before


def test_a_diverged_replica_counts_as_trained(project: Path) -> None:
    path = replica.file_of(project, entries(project)[1]["key"])
    done = replica.read(path)
    assert done is not None
    replica.write(path, done._replace(status="diverged"))
    assert train(project) == []
    diverged = [each["status"] == "diverged" for each in entries(project)]
    assert diverged == [False, True, False, False]


def test_a_record_names_each_training_and_its_replicas(project: Path) -> None:
    first = read_json(project / ORIGIN)
    assert "replicas" not in first and "earlier" not in first
    (project / "dvc.lock").touch()  # otherwise both trainings would have the same origin
    train(project, seeds=[0, 7, 3])
    second = read_json(project / ORIGIN)
    (earlier,) = second["earlier"]
    assert second["replicas"] == ["act, tau 0.01, seed 3", "act, tau 0.1, seed 3"]
    assert earlier["replicas"] == [f"act, tau {tau:g}, seed {seed}" for tau, seed in ALL]
    same = ("commit", "wall_seconds", "device", "versions", "path", "updates", "command")
    assert {name: earlier[name] for name in same} == {name: first[name] for name in same}
    assert second["config"]["seeds"] == [0, 7, 3] and "config" not in earlier
    train(project, seeds=[7], act={"tau": [0.1]})
    last = read_json(project / ORIGIN)
    assert "earlier" not in last
    assert last["wall_seconds"] == pytest.approx(first["wall_seconds"] / 4, abs=0.002)


def test_published_replicas_count_as_trained_without_their_networks(
    project: Path, tmp_path: Path
) -> None:
    """Their curves and their record stay; only an added seed is trained."""
    clone = tmp_path / "clone"
    shutil.copytree(project / "data/tasks", clone / "data/tasks")
    shutil.copytree(project / "data/results/quick", clone / "reports/quick")
    (clone / "reports/quick/replicas.csv").write_text(replicas_csv(parameters_of(project)))
    assert train(clone) == [] and entries(clone) == []
    assert (clone / CURVES).read_bytes() == (project / CURVES).read_bytes()
    assert (clone / ORIGIN).read_bytes() == (project / ORIGIN).read_bytes()
    new = [(0.01, 3), (0.1, 3)]
    assert train(clone, seeds=[0, 7, 3]) == pairs_of(clone) == new
    rows = [(each / CURVES).read_text().splitlines() for each in (project, clone)]
    assert [line for line in rows[1] if line.split(",")[3] != "3"] == rows[0]
    whole, ours = (read_json(each / ORIGIN) for each in (project, clone))
    assert ours["replicas"] == ["act, tau 0.01, seed 3", "act, tau 0.1, seed 3"]
    assert ours["earlier"] == [whole]
    values = tiny.document()
    values["compute"]["published"] = "train"
    params = load_params(tiny.write(clone, values))
    assert len(missing_of(params, "tiny", replica.by_hash(params, "tiny", "act"))) == 4
    assert len(missing(clone, training={"learning_rate": 0.02})) == 4


def test_what_is_published_under_another_name_is_trained_again(
    project: Path, tmp_path: Path
) -> None:
    """The published rows of a replica are found by its name. Its hash stays."""
    before: dict[str, Any] = {"act": {"tau": [0.05, {"tau": 0.1, "halt_bias": 1}]}, "seeds": [0]}
    after: dict[str, Any] = {"act": {"tau": [0.05, 0.1]}, "seeds": [0], "halting": {"halt_bias": 1}}
    train(project, **before)
    (tmp_path / "clone/reports/quick").mkdir(parents=True)
    table = replicas_csv(parameters_of(project, **before))
    (tmp_path / "clone/reports/quick/replicas.csv").write_text(table)
    assert [len(missing(tmp_path / "clone", **each)) for each in (before, after)] == [0, 2]
    assert [len(missing(project, **each)) for each in (before, after)] == [0, 1]
