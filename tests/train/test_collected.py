"""A stage trains what is missing and keeps the rest, byte for byte."""

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
    """The tiny project with two penalties and two seeds trained by ACT."""
    return shutil.copytree(stages.finished_project(), tmp_path / "project")


def parameters_of(folder: Path, **quick: Any) -> Params:
    return load_params(tiny.write(folder, tiny.document(**quick)))


def missing(folder: Path, **quick: Any) -> list[Replica]:
    """What the stage would train with these values."""
    params = parameters_of(folder, **quick)
    planned = replica.by_hash(params, "tiny", "act")
    return [planned[each] for each in missing_of(params, "tiny", folder, planned)]


def trained(folder: Path, **quick: Any) -> list[tuple[float, int]]:
    """Run the stage; setting and seed of what it trained."""
    new = [(each.setting, each.seed) for each in missing(folder, **quick)]
    told: list[dict[str, Any]] = []
    run(parameters_of(folder, **quick), "tiny", folder, ("act",), told.extend)
    assert {(row["setting"], row["seed"]) for row in told} == {*new}
    return new


def read(path: Path) -> Any:
    return json.loads(path.read_text())


def entries(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read(folder / RUN / "run.json")["replicas"]
    return found


def there(folder: Path) -> list[tuple[float, int]]:
    return [(each["setting"], each["seed"]) for each in entries(folder)]


def everything(folder: Path) -> dict[tuple[float, int], Any]:
    """By setting and seed what is said of a network, its numbers, and the lines of its curve."""
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


def kept(folder: Path, pairs: list[tuple[float, int]]) -> None:
    """These replicas are as in the finished project, every bit of them."""
    before, after = everything(stages.finished_project()), everything(folder)
    for pair in pairs:
        assert before[pair] == after[pair] and len(after[pair][2]) == 10


def test_more_seeds_and_settings_train_alone(project: Path) -> None:
    more: dict[str, Any] = {"seeds": [7, 3, 0], "act": {"tau": [0.1, 0.05, 0.01]}}
    new = [(0.1, 3), (0.05, 7), (0.05, 3), (0.05, 0), (0.01, 3)]
    assert trained(project, **more) == new
    kept(project, ALL)
    wanted = [(tau, seed) for tau in (0.1, 0.05, 0.01) for seed in (7, 3, 0)]
    assert there(project) == wanted
    curves = pd.read_csv(project / CURVES)
    points = list(zip(curves["update"], curves["setting"], curves["seed"], strict=True))
    assert points == sorted(points, key=lambda row: (row[0], wanted.index(row[1:])))
    assert not missing(project, **more)


def test_a_replica_is_kept_where_its_option_becomes_that_of_the_block(project: Path) -> None:
    """Its name in the tables changes with that, not its numbers."""
    bias = {"tau": 0.1, "halt_bias": 1}
    assert trained(project, act={"tau": [0.05, bias]}, seeds=[0]) == [(0.05, 0), (0.1, 0)]
    before = pd.read_csv(project / CURVES, dtype=str)
    assert set(before["mechanism"]) == {"act", "act[halt_bias=1]"}
    new = trained(project, act={"tau": [0.05, 0.1]}, seeds=[0], halting={"halt_bias": 1})
    assert new == [(0.05, 0)]
    after = pd.read_csv(project / CURVES, dtype=str)
    assert set(after["mechanism"]) == {"act"}
    rows = [table[table["setting"] == "0.1"].drop(columns="mechanism") for table in (before, after)]
    assert len(rows[0]) > 1
    pd.testing.assert_frame_equal(*(each.reset_index(drop=True) for each in rows))


def test_going_back_is_editing_back_and_dropping_trains_nothing(project: Path) -> None:
    before = stages.contents(project)
    assert len(trained(project, training={"learning_rate": 0.02})) == 4
    assert trained(project) == []
    kept(project, ALL)
    after = stages.contents(project)
    assert {name: after[name] for name in before} == before
    assert trained(project, seeds=[7], act={"tau": [0.1]}) == []
    assert there(project) == [(0.1, 7)]
    kept(project, [(0.1, 7)])


def test_other_values_of_the_evaluation_train_nothing_and_reach_dvc(project: Path) -> None:
    """Its evaluate stage depends on the networks alone."""
    before = (project / RUN / "run.json").read_bytes()
    assert trained(project, evaluation={"stored": 3}) == []
    assert (project / RUN / "run.json").read_bytes() != before


def test_a_diverged_replica_counts_as_trained(project: Path) -> None:
    path = replica.file_of(project, entries(project)[1]["key"])
    done = replica.read(path)
    assert done is not None
    replica.write(path, done._replace(status="diverged"))
    assert trained(project) == []
    assert [each["status"] == "diverged" for each in entries(project)] == [
        False,
        True,
        False,
        False,
    ]


def test_a_record_names_each_training_and_its_replicas(project: Path) -> None:
    first = read(project / ORIGIN)
    assert "replicas" not in first and "earlier" not in first
    (project / "dvc.lock").touch()  # or both trainings had the same origin
    trained(project, seeds=[0, 7, 3])
    second = read(project / ORIGIN)
    (earlier,) = second["earlier"]
    assert second["replicas"] == ["act, tau 0.01, seed 3", "act, tau 0.1, seed 3"]
    assert earlier["replicas"] == [f"act, tau {tau:g}, seed {seed}" for tau, seed in ALL]
    same = ("commit", "wall_seconds", "device", "versions", "path", "updates", "command")
    assert {name: earlier[name] for name in same} == {name: first[name] for name in same}
    assert second["config"]["seeds"] == [0, 7, 3] and "config" not in earlier
    trained(project, seeds=[7], act={"tau": [0.1]})
    last = read(project / ORIGIN)
    assert "earlier" not in last
    assert last["wall_seconds"] == pytest.approx(first["wall_seconds"] / 4, abs=0.002)


def test_published_replicas_count_as_trained_without_their_networks(
    project: Path, tmp_path: Path
) -> None:
    """Their curves and their record stay; a seed that is added trains alone."""
    clone = tmp_path / "clone"
    shutil.copytree(project / "data/tasks", clone / "data/tasks")
    shutil.copytree(project / "data/results/quick", clone / "reports/quick")
    (clone / "reports/quick/replicas.csv").write_text(replicas_csv(parameters_of(project), project))
    assert trained(clone) == [] and entries(clone) == []
    assert (clone / CURVES).read_bytes() == (project / CURVES).read_bytes()
    assert (clone / ORIGIN).read_bytes() == (project / ORIGIN).read_bytes()
    new = [(0.01, 3), (0.1, 3)]
    assert trained(clone, seeds=[0, 7, 3]) == there(clone) == new
    rows = [(each / CURVES).read_text().splitlines() for each in (project, clone)]
    assert [line for line in rows[1] if line.split(",")[3] != "3"] == rows[0]
    whole, ours = (read(each / ORIGIN) for each in (project, clone))
    assert ours["replicas"] == ["act, tau 0.01, seed 3", "act, tau 0.1, seed 3"]
    assert ours["earlier"] == [whole]
    values = tiny.document()
    values["compute"]["published"] = "train"
    params = load_params(tiny.write(clone, values))
    assert len(missing_of(params, "tiny", clone, replica.by_hash(params, "tiny", "act"))) == 4
    assert len(missing(clone, training={"learning_rate": 0.02})) == 4, "of other values"
