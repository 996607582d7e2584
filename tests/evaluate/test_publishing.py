"""Published replicas: the same ones that were trained, one of each mechanism, and small."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, cast

import pytest
from safetensors.torch import load_file
from support import stages, tiny
from support.trained_project import shown
from support.untrained import stage_of

from pondering.evaluate import publish
from pondering.evaluate.load import Trained, load_trained
from pondering.evaluate.publish import chosen
from pondering.evaluate.stage import run
from pondering.params.read import PROFILES, load_params
from pondering.params.replica import Replica
from pondering.project.paths import Layout
from pondering.tasks import make_task
from pondering.train.build import make_network

WANTED = {"repeat": (1, 0), "act": (0.01, 0), "pondernet": (0.3, 0)}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """What git holds of the finished project."""
    shutil.copytree(stages.finished_project() / "reports", tmp_path / "reports")
    shutil.copy(stages.finished_project() / "params.yaml", tmp_path)
    return tmp_path


@pytest.mark.parametrize("mechanism", WANTED)
def test_a_fresh_clone_shows_what_the_trained_project_shows(
    clone: Path, monkeypatch: pytest.MonkeyPatch, mechanism: str
) -> None:
    setting, seed = WANTED[mechanism]
    monkeypatch.chdir(stages.finished_project())
    own = ("--setting", str(setting), "--seed", str(seed))
    trained = shown("tiny", "--mechanism", mechanism, *own)
    monkeypatch.chdir(clone)
    assert shown("tiny", "--mechanism", mechanism) == trained
    assert "evaluated: error" in trained
    assert f"reports/quick/models/tiny/{mechanism}" in shown("--list", "--profile", "quick")


@pytest.mark.parametrize("mechanism", WANTED)
def test_it_is_one_of_the_trained_replicas_and_nothing_besides(clone: Path, mechanism: str) -> None:
    whole = Layout(stages.finished_project(), "quick").run("tiny", mechanism)
    copy = Layout(clone, "quick").models("tiny", mechanism)
    record, full = (json.loads((each / "run.json").read_text()) for each in (copy, whole))
    assert record["config"] == full["config"]
    (replica,) = record["replicas"]
    assert (replica["setting"], replica["seed"]) == WANTED[mechanism]
    (k,) = (n for n, each in enumerate(full["replicas"]) if replica.items() <= each.items())
    published, trained = (load_file(each / "parameters.safetensors") for each in (copy, whole))
    assert published.keys() == trained.keys()
    for name, tensor in published.items():
        assert tensor.equal(trained[name][k : k + 1]), name
    size = sum(4 * tensor.numel() for tensor in published.values())
    assert size <= (copy / "parameters.safetensors").stat().st_size < size + 1000
    index = json.loads((copy.parent / "index.json").read_text())
    assert index[mechanism] == replica | {"bytes": size, "published": True}


def sweep(mechanism: str, *replicas: tuple[float, int, str]) -> Trained:
    """A sweep without networks."""
    found = [Replica(mechanism, setting, seed) for setting, seed, _ in replicas]
    return Trained(cast(Any, None), found, [status for *_, status in replicas])


def test_which_one_is_published() -> None:
    finished = "finished"
    act = [(0.001, 3, finished), (0.01, 5, finished), (0.01, 2, finished), (0.1, 0, finished)]
    assert chosen(sweep("act", *act), 0.01) == 2  # the setting of the traces, lowest seed
    assert chosen(sweep("act", *act), 0.012) == 2  # or the one nearest to it
    between = [(0.75, 0, finished), (0.25, 0, finished)]
    assert chosen(sweep("act", *between), 0.5) == 1  # the lower one
    act[2] = (0.01, 2, "diverged")
    assert chosen(sweep("act", *act), 0.01) == 1
    act[1] = (0.01, 5, "diverged")
    assert chosen(sweep("act", *act), 0.01) == 0
    repeat = [(2.0, 0, finished), (1.0, 1, finished), (1.0, 0, finished)]
    assert chosen(sweep("repeat", *repeat), 1.0) == 2
    priors = [(0.4, 1, finished), (0.4, 0, finished), (0.2, 0, finished)]
    assert chosen(sweep("pondernet", *priors), 0.4) == 1
    alone = [(0.4, 1, "diverged"), (0.4, 0, "diverged")]
    assert chosen(sweep("pondernet", *alone), 0.4) == 1  # shown as what it is


def test_large_networks_are_left_out_and_the_plain_one_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout, found = Layout(stages.finished_project(), "quick"), []
    params = load_params(tiny.write(tmp_path, tiny.document()))
    values = params.experiment("tiny")
    task = make_task(values.task, "tiny")
    size = json.loads((layout.published("tiny") / "index.json").read_text())["act"]["bytes"]
    for budget in (size - 1, size, 2 * size, 3 * size):
        monkeypatch.setattr(publish, "BUDGET", budget)
        copies = publish.Copies(Layout(tmp_path, "quick"), "tiny", values)
        for mechanism in WANTED:
            copies.add(load_trained(layout, params, "tiny", mechanism, task))
        files = copies.files()
        index = json.loads(files.pop(tmp_path / "reports/quick/models/tiny/index.json"))
        names = {path.parent.name for path in files}
        assert names == {name for name, each in index.items() if each["published"]}
        found.append(names)
    assert found == [set(), {"act"}, {"act", "pondernet"}, set(WANTED)]


def test_what_an_earlier_evaluation_published_goes_away(tmp_path: Path) -> None:
    layout = Layout(tmp_path, "quick")
    values = load_params(tiny.write(tmp_path, tiny.document())).experiment("tiny")
    old, other = (layout.models(each, "act") / "run.json" for each in ("tiny", "another"))
    for path in (old, other):
        path.parent.mkdir(parents=True)
        path.touch()
    copies = publish.Copies(layout, "tiny", values)
    (index,) = copies.files()
    index.touch()
    copies.prune()
    assert index.is_file() and other.is_file() and not old.exists()


def test_an_evaluation_removes_what_it_did_not_publish(tmp_path: Path) -> None:
    parity = {"name": "parity", "bits": 2, "layout": "leading"}
    stage = stage_of(tmp_path, parity | {"train_nonzero": [1, 2], "test_nonzero": {"test": [1, 2]}})
    old = stage.layout.models("tiny", "another") / "run.json"
    old.parent.mkdir(parents=True)
    old.touch()
    run(stage)
    assert not old.exists() and len(list(stage.layout.published("tiny").rglob("*.*"))) == 7


@pytest.mark.parametrize("profile", PROFILES)
def test_a_profile_takes_a_few_megabytes(profile: str) -> None:
    total = 0
    params = load_params(stages.ROOT / "params.yaml", profile)
    for name, values in params.experiments.items():
        if values.network.hidden > 1000:
            assert 4 * values.network.hidden**2 > publish.BUDGET  # one weight of it
            continue
        task = make_task(values.task, name)
        network = make_network(values, task, [Replica("act", 0.01, 0)])
        size = sum(4 * parameter.numel() for parameter in network.parameters())
        total += size * min(len(publish.ORDER), publish.BUDGET // size)
    assert 1_000_000 < total < 8_000_000
