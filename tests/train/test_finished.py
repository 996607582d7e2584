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
from torch import Tensor

from pondering.data.frozen import freeze
from pondering.evaluate.stage import plan as plan_evaluation
from pondering.evaluate.stage import run as evaluate
from pondering.params.read import load_params
from pondering.params.replica import Replica
from pondering.project.paths import Layout
from pondering.tasks import make_task
from pondering.train import keys
from pondering.train.plan import Plan, plan
from pondering.train.stage import run

LAYOUT = Layout(Path(), "quick")
RUN, CURVES = LAYOUT.run("tiny", "act"), LAYOUT.curves("tiny", "act")
ORIGIN = LAYOUT.provenance("tiny", "act")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The tiny project with two penalties and two seeds trained by ACT."""
    return shutil.copytree(stages.finished_project(), tmp_path / "project")


def planned(folder: Path, **quick: Any) -> Plan:
    """The training of these values, as its stage would begin it."""
    params = load_params(tiny.write(folder, tiny.document(**quick)))
    return plan(params, "tiny", "act", folder)


def trained(folder: Path, **quick: Any) -> list[Replica]:
    """Run the stage; what it trained."""
    work = planned(folder, **quick)
    told: list[dict[str, Any]] = []
    run(work, told.extend)
    assert {(row["setting"], row["seed"]) for row in told} == {
        (each.setting, each.seed) for each in work.missing
    }
    return list(work.missing)


def lines(folder: Path) -> dict[tuple[str, str], list[str]]:
    """The lines of the curves by setting and seed, as bytes have them."""
    found: dict[tuple[str, str], list[str]] = {}
    for line in (folder / CURVES).read_text().splitlines()[1:]:
        _, _, setting, seed, *_ = line.split(",")
        found.setdefault((setting, seed), []).append(line)
    return found


def entries(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / RUN / "run.json").read_text())["replicas"]
    return found


def parameters(folder: Path) -> dict[tuple[float, int], dict[str, Tensor]]:
    tensors = load_file(folder / RUN / "parameters.safetensors")
    pairs = [(each["setting"], each["seed"]) for each in entries(folder)]
    return {pair: {name: t[k] for name, t in tensors.items()} for k, pair in enumerate(pairs)}


def kept(before: Path, after: Path, pairs: list[tuple[float, int]]) -> None:
    """These replicas are the same in both, every bit of them."""
    for pair in pairs:
        names = f"{pair[0]:g}", str(pair[1])
        assert lines(before)[names] == lines(after)[names]
        old, new = parameters(before)[pair], parameters(after)[pair]
        assert all(old[name].equal(new[name]) for name in old)
        assert entry(before, pair) == entry(after, pair)


def entry(folder: Path, pair: tuple[float, int]) -> dict[str, Any]:
    (found,) = (each for each in entries(folder) if (each["setting"], each["seed"]) == pair)
    return found


ALL = [(tau, seed) for tau in (0.01, 0.1) for seed in (0, 7)]


def test_a_list_names_each_replicas_key(project: Path) -> None:
    params = load_params(project / "params.yaml")
    wanted = keys.replica_keys(params.experiment("tiny"), "act", "drawn online")
    assert [each["key"] for each in entries(project)] == list(wanted)


def test_more_seeds_and_settings_train_alone(project: Path) -> None:
    before = stages.finished_project()
    new = trained(project, seeds=[7, 3, 0], act={"tau": [0.1, 0.05, 0.01]})
    assert [(each.setting, each.seed) for each in new] == [
        (0.1, 3), (0.05, 7), (0.05, 3), (0.05, 0), (0.01, 3),
    ]  # fmt: skip
    kept(before, project, ALL)
    wanted = [(tau, seed) for tau in (0.1, 0.05, 0.01) for seed in (7, 3, 0)]
    assert [(each["setting"], each["seed"]) for each in entries(project)] == wanted
    curves = pd.read_csv(project / CURVES)
    points = list(zip(curves["update"], curves["setting"], curves["seed"], strict=True))
    place = {pair: number for number, pair in enumerate(wanted)}
    assert points == sorted(points, key=lambda row: (row[0], place[row[1:]]))
    assert not planned(project, seeds=[7, 3, 0], act={"tau": [0.1, 0.05, 0.01]}).missing


def test_what_trains_alone_is_what_it_would_be_in_the_whole(tmp_path: Path, project: Path) -> None:
    trained(project, **tiny.EXACT)
    whole = shutil.copytree(project, tmp_path / "whole")
    shutil.rmtree(whole / "data/runs")
    assert len(trained(whole, seeds=[0, 7, 3], **tiny.EXACT)) == 6
    assert len(trained(project, seeds=[0, 7, 3], **tiny.EXACT)) == 2
    part, all_of_it = parameters(project), parameters(whole)
    for pair, tensors in all_of_it.items():
        for name, tensor in tensors.items():
            assert part[pair][name].equal(tensor)
    assert [each["key"] for each in entries(project)] == [each["key"] for each in entries(whole)]


def test_a_replica_is_kept_where_its_option_becomes_that_of_the_block(project: Path) -> None:
    """Its name in the tables changes with that, not its numbers."""
    bias = {"tau": 0.1, "halt_bias": 1}
    first = trained(project, act={"tau": [0.05, bias]}, seeds=[0])
    assert [each.variant for each in first] == ["act", "act[halt_bias=1]"]
    before = pd.read_csv(project / CURVES, dtype=str)
    new = trained(project, act={"tau": [0.05, 0.1]}, seeds=[0], halting={"halt_bias": 1})
    assert [each.setting for each in new] == [0.05]
    after = pd.read_csv(project / CURVES, dtype=str)
    assert set(after["mechanism"]) == {"act"}
    rows = [table[table["setting"] == "0.1"].drop(columns="mechanism") for table in (before, after)]
    assert len(rows[0]) > 1
    pd.testing.assert_frame_equal(*(each.reset_index(drop=True) for each in rows))


def test_dropped_seeds_and_settings_train_nothing(project: Path) -> None:
    before = stages.finished_project()
    folders = set((project / ".checkpoints").rglob("*"))
    assert trained(project, seeds=[7], act={"tau": [0.1]}) == []
    assert [(each["setting"], each["seed"]) for each in entries(project)] == [(0.1, 7)]
    assert set(lines(project)) == {("0.1", "7")}
    kept(before, project, [(0.1, 7)])
    assert set((project / ".checkpoints").rglob("*")) == folders
    again = [(project / each).read_bytes() for each in (CURVES, ORIGIN, RUN / "run.json")]
    assert trained(project, seeds=[7], act={"tau": [0.1]}) == []
    assert [(project / each).read_bytes() for each in (CURVES, ORIGIN, RUN / "run.json")] == again


def test_other_values_train_all_again(project: Path) -> None:
    assert len(trained(project, training={"learning_rate": 0.02})) == 4
    assert len(trained(project)) == 4
    kept(stages.finished_project(), project, ALL)  # as they were: only values decide


def test_a_diverged_replica_is_kept_as_well(project: Path) -> None:
    path = project / RUN / "run.json"
    run_json = json.loads(path.read_text())
    run_json["replicas"][1]["status"] = "diverged"
    run_json["replicas"][2]["status"] = "running"
    path.write_text(json.dumps(run_json))
    assert [(each.setting, each.seed) for each in trained(project)] == [(0.1, 0)]
    assert [each["status"] for each in entries(project)] == [
        "finished", "diverged", "finished", "finished",
    ]  # fmt: skip


def test_a_record_names_each_training_and_its_replicas(project: Path) -> None:
    first = json.loads((project / ORIGIN).read_text())
    assert "replicas" not in first and "earlier" not in first
    trained(project, seeds=[0, 7, 3])
    second = json.loads((project / ORIGIN).read_text())
    (earlier,) = second["earlier"]
    assert second["replicas"] == ["act, tau 0.01, seed 3", "act, tau 0.1, seed 3"]
    old = [f"act, tau {tau:g}, seed {seed}" for tau, seed in ALL]
    assert earlier["replicas"] == old
    same = ("commit", "wall_seconds", "device", "versions", "path", "updates", "key", "command")
    assert {name: earlier[name] for name in same} == {name: first[name] for name in same}
    assert second["config"]["seeds"] == [0, 7, 3] and "config" not in earlier
    assert second["key"] != first["key"]
    trained(project, seeds=[3, 7], act={"tau": [0.1, 0.2]})
    third = json.loads((project / ORIGIN).read_text())
    assert [each["replicas"] for each in (*third["earlier"], third)] == [
        ["act, tau 0.1, seed 7"],
        ["act, tau 0.1, seed 3"],
        ["act, tau 0.2, seed 3", "act, tau 0.2, seed 7"],
    ]
    trained(project, seeds=[7], act={"tau": [0.1]})
    last = json.loads((project / ORIGIN).read_text())
    assert "earlier" not in last and last["wall_seconds"] == first["wall_seconds"]


@pytest.mark.parametrize("file", [RUN / "parameters.safetensors", CURVES, ORIGIN, RUN / "run.json"])
def test_files_that_do_not_belong_together_are_not_kept(project: Path, file: Path) -> None:
    """As a kill between two of them, or `git checkout reports` alone, leaves them."""
    elder = (project / file).read_bytes()
    trained(project, seeds=[0, 7, 3])
    assert len(planned(project).missing) == 0
    newer = (project / file).read_bytes()
    (project / file).write_bytes(elder)
    assert len(planned(project).missing) == 4
    (project / file).write_bytes(newer)
    assert len(planned(project).missing) == 0
    (project / file).unlink()
    assert len(planned(project).missing) == 4


def test_a_list_from_before_keys_says_of_nothing_that_it_is_up_to_date(project: Path) -> None:
    path = project / RUN / "run.json"
    record = json.loads(path.read_text())
    for each in record["replicas"]:
        del each["key"]
    path.write_text(json.dumps({"config": record["config"], "replicas": record["replicas"]}))
    assert len(planned(project).missing) == 4


def test_an_interrupted_one_goes_on_where_it_was(project: Path) -> None:
    first, again = (planned(project, seeds=[0, 7, 3]) for _ in range(2))
    assert first.folder == again.folder != planned(project, seeds=[0, 7, 4]).folder


def test_another_evaluation_set_trains_no_text_again(tmp_path: Path) -> None:
    """Its data lie in one file with the evaluation sets."""
    values = tiny.document()
    block = values["tiny"]
    block["common"]["network"]["cell"] = "lstm"
    block["common"]["task"] = {"name": "wikipedia", "source": "generated", "sequence": 10}
    block["quick"]["task"] = {}
    found = []
    for examples in (5, 6):
        block["quick"]["evaluation"]["examples"] = examples
        params, layout = load_params(tiny.write(tmp_path, values)), Layout(tmp_path, "quick")
        task = make_task(params.experiment("tiny").task, "tiny", layout.frozen("tiny"))
        freeze(task, layout.raw, layout.frozen("tiny"), examples)
        found.append((layout.frozen("tiny").read_bytes(), plan(params, "tiny", "act", tmp_path)))
    assert found[0][0] != found[1][0]
    assert found[0][1].keys == found[1][1].keys


def test_replicas_of_several_trainings_are_evaluated_as_one(project: Path) -> None:
    trained(project, seeds=[0, 7, 3])
    params = load_params(project / "params.yaml")
    for name in ("repeat", "pondernet"):
        run(plan(params, "tiny", name, project))
    evaluate(plan_evaluation(params, "tiny", project))
    table = pd.read_csv(project / "reports/quick/tables/tiny.csv")
    assert set(table[table["mechanism"] == "act"]["seed"]) == {0, 7, 3}
