"""Seeds added to published results in a clone without the networks: only they are trained."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from support import stages, tiny
from support.stages import MECHANISMS, QUICK

RESULTS = "data/results/quick"
EXITS = (*stages.PROFILE, "tiny")
SAME = ("tables/tiny.csv", "exits/tiny.csv", "traces/tiny.json")


def project(folder: Path, published: str, seeds: list[int], settings: dict[str, Any]) -> Path:
    """A tiny project, not yet run."""
    values = tiny.document(seeds=seeds, **tiny.EXACT, **settings)
    values["compute"]["published"] = published
    tiny.write(folder, values)
    return folder


def run(folder: Path) -> list[str]:
    """Run every stage; returns the output of each training."""
    outputs = []
    assert not stages.run(folder, "datasets", *stages.DATASETS).status
    for mechanism in MECHANISMS:
        done = stages.run(folder, "train", *QUICK, "--mechanism", mechanism)
        assert not done.status, done.err
        outputs.append(done.out)
    for name, *more in (("evaluate", *QUICK), ("exits", *EXITS)):
        done = stages.run(folder, name, *more)
        assert not done.status, done.err
    return outputs


def clone(source: Path, folder: Path) -> Path:
    """A clone of a project: its published results."""
    shutil.copytree(stages.publish_results(source), folder / "reports/quick")
    return folder


@pytest.fixture(scope="module")
def two_seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with seeds 0 and 7, which no test changes."""
    return run_in(tmp_path_factory.mktemp("two"), "train", [0, 7], {})


def test_added_seeds_and_settings_give_what_one_whole_run_gives(tmp_path: Path) -> None:
    one = {"act": {"tau": [0.01]}, "evaluation": {"publish": 2}}
    two = one | {"act": {"tau": [0.01, 0.1]}}
    first = run_in(tmp_path / "first", "train", [0, 7], one)
    more = project(clone(first, tmp_path / "more"), "keep", [0, 7, 9], two)
    run(more)
    whole = run_in(tmp_path / "whole", "train", [0, 7, 9], two)
    for name in (*SAME, *(f"curves/tiny/{each}.csv" for each in MECHANISMS)):
        ours, theirs = ((each / RESULTS / name).read_text() for each in (more, whole))
        assert ours == theirs, name
    folders = stages.publish_results(more), stages.publish_results(whole)
    for each in MECHANISMS:
        name = f"models/tiny/{each}/parameters.safetensors"
        ours, theirs = ((where / name).read_bytes() for where in folders)
        assert ours == theirs, name
    ours, theirs = (json.loads((each / "models/tiny/index.json").read_text()) for each in folders)
    assert ours == theirs
    run_json = more / RESULTS / "networks/tiny/repeat/run.json"
    assert {each["seed"] for each in json.loads(run_json.read_text())["replicas"]} == {9}


def run_in(folder: Path, published: str, seeds: list[int], settings: dict[str, Any]) -> Path:
    """A tiny project with every stage run."""
    run(project(folder, published, seeds, settings))
    return folder


def test_completely_published_results_train_nothing(two_seeds: Path, tmp_path: Path) -> None:
    again = project(clone(two_seeds, tmp_path), "keep", [0, 7], {})
    assert all(re.search(r": (\d+) of \1 replicas are trained", each) for each in run(again))
    for name in SAME:
        ours, theirs = ((each / RESULTS / name).read_bytes() for each in (again, two_seeds))
        assert ours == theirs, name
    records = (again / top / "provenance/tiny.json" for top in (RESULTS, "reports/quick"))
    assert len({each.read_bytes() for each in records}) == 1, "nothing was measured again"
    before = (again / "reports/quick/models/tiny/act/run.json").read_bytes()
    assert (stages.publish_results(again) / "models/tiny/act/run.json").read_bytes() == before


def test_results_of_two_evaluations_are_not_mixed(two_seeds: Path, tmp_path: Path) -> None:
    more = project(clone(two_seeds, tmp_path), "keep", [0, 7, 9], {})
    stages.run(more, "datasets", *stages.DATASETS)
    for mechanism in MECHANISMS:
        assert not stages.run(more, "train", *QUICK, "--mechanism", mechanism).status
    path = more / "reports/quick/provenance/tiny.json"
    published = path.read_text()
    path.write_text(json.dumps(json.loads(published) | {"program": "another"}))
    by_program = stages.run(more, "evaluate", *QUICK)
    path.write_text(published)
    project(more, "keep", [0, 7, 9], {"evaluation": {"examples": 11}})
    stages.run(more, "datasets", *stages.DATASETS)
    by_values = stages.run(more, "evaluate", *QUICK)
    for done in (by_program, by_values):
        assert done.status == 2 and "compute.published: train" in done.err
