"""dvc.yaml: what a stage depends on is what it reads, and nothing besides."""

from __future__ import annotations

import configparser
import shutil
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from support import tiny

from pondering.cli import keys
from pondering.data.frozen import card, freeze
from pondering.params.read import MECHANISMS, PROFILES, load_params
from pondering.project.paths import Layout
from pondering.tasks import make_task

ROOT = Path(__file__).parents[2]
STAGES: dict[str, Any] = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())["stages"]
KEYS = {
    "download": "download",
    "datasets": "datasets/E",
    "train": "train/E-M",
    "evaluate": "evaluate/E",
    "report": "report",
}
ITEM = {"${item.profile}": "P", "${item.experiment}": "E", "${item.mechanism}": "M"}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "dvc.yaml", tmp_path)
    return tmp_path


def paths(stage: str, *kinds: str) -> list[str]:
    """Dependencies or outputs of a stage with P, E and M in place of its item."""
    found = []
    for kind in kinds:
        for entry in STAGES[stage].get(kind, []):
            path = entry if isinstance(entry, str) else next(iter(entry))
            for item, letter in ITEM.items():
                path = path.replace(item, letter)
            found.append(path)
    return found


def test_every_stage_depends_on_its_key() -> None:
    assert set(STAGES) == {*KEYS, "keys", "train_further"}
    assert set(STAGES["keys"]["deps"]) == {"params.yaml", "pipeline", "src/pondering"}
    assert STAGES["keys"]["outs"] == [str(keys.FOLDER)]
    for name, key in KEYS.items():
        assert f"python pipeline/{name}.py" in STAGES[name]["cmd"]
        assert f"{keys.FOLDER}/{key}.json" in paths(name, "deps")


@pytest.mark.parametrize("name", KEYS)
def test_what_a_stage_made_stays_until_it_makes_it_again(name: str) -> None:
    found = [*STAGES[name]["outs"], *STAGES[name].get("metrics", [])]
    assert all(isinstance(each, dict) for each in found), "an output without `persist`"
    assert all(kept["persist"] is True for each in found for kept in each.values())


def test_stages_hand_their_files_to_the_next() -> None:
    layout = Layout(Path(), "P")
    frozen, table, run = str(layout.frozen("E")), str(layout.table("E")), str(layout.run("E", "M"))
    assert paths("download", "outs") == [str(layout.raw)]
    assert set(paths("datasets", "outs")) == {frozen, str(layout.card("E"))}
    curves, origin = str(layout.curves("E", "M")), str(layout.provenance("E", "M"))
    assert set(paths("train", "outs")) == {run, curves, origin}
    judged = {table, str(layout.traces("E")), str(layout.metrics("E"))}
    judged |= {str(layout.published("E")), str(layout.provenance("E"))}
    assert Path(layout.models("E", "M")).parent == layout.published("E")
    assert set(paths("evaluate", "outs", "metrics")) == judged
    assert str(layout.raw) in paths("datasets", "deps")
    assert frozen in paths("train", "deps")
    assert {frozen, str(Path(run).parent)} <= set(paths("evaluate", "deps"))
    read = {str(Path(file).parent) for file in (curves, table, str(layout.traces("E")), origin)}
    assert read | {str(layout.card("E").parent), "claims.yaml"} <= set(paths("report", "deps"))


def test_results_are_kept_by_git_and_not_by_the_cache() -> None:
    for name, stage in STAGES.items():
        for entry in stage.get("outs", []) + stage.get("metrics", []):
            path = entry if isinstance(entry, str) else next(iter(entry))
            cached = isinstance(entry, str) or entry[path].get("cache", True)
            assert cached == path.startswith("data/"), f"{name}: {path}"


def test_the_matrix_covers_every_experiment_and_mechanism() -> None:
    profile, experiments = ["${profile}"], "${experiments}"
    assert STAGES["train"]["matrix"] == {
        "profile": profile, "experiment": experiments, "mechanism": "${mechanisms}",
    }  # fmt: skip
    further = {"experiment": "${further.experiments}", "mechanism": "${further.mechanisms}"}
    assert STAGES["train_further"] == STAGES["train"] | {"matrix": {"profile": profile} | further}
    for name in ("datasets", "evaluate"):
        assert STAGES[name]["matrix"] == {"profile": profile, "experiment": experiments}
    for name in ("download", "report"):
        assert STAGES[name]["matrix"] == {"profile": profile}
    document = YAML(typ="safe").load((ROOT / "params.yaml").read_text())
    assert document["mechanisms"] == list(MECHANISMS)
    blocks = {key for key, value in document.items() if "common" in str(value)[:20]}
    assert blocks == set(document["experiments"])


def seen(copy: Path) -> dict[str, Any]:
    """The stages that DVC finds, by name."""
    from dvc.repo import Repo

    (copy / ".dvc").mkdir()
    (copy / ".dvc/config").write_text("[core]\n    no_scm = true\n    analytics = false\n")
    with Repo(str(copy)) as repo:
        return {str(stage.name): stage for stage in repo.index.stages}


def test_a_further_mechanism_adds_the_stages_of_the_experiments_that_name_it(copy: Path) -> None:
    text = (ROOT / "params.yaml").read_text()
    usual = text.replace("[repeat, act, pondernet]", "[repeat, act]", 1)
    further = usual.replace("  experiments: []", "  experiments: [sort]", 1)
    further = further.replace("  mechanisms: []", "  mechanisms: [pondernet]", 1)
    found = []
    for number, each in enumerate((usual, further)):
        folder = shutil.copytree(copy, copy / str(number))
        (folder / "params.yaml").write_text(each)
        found.append(set(seen(folder)))
    assert found[1] - found[0] == {"train_further@quick-sort-pondernet"}
    assert found[0] < found[1] and not any("pondernet" in name for name in found[0])


@pytest.mark.parametrize("profile", PROFILES)
def test_dvc_itself_sees_these_stages(copy: Path, profile: str) -> None:
    """And finds every parameter that a stage names."""
    text = (ROOT / "params.yaml").read_text()
    assert text.count("\nprofile: ") == 1
    active = text.replace("\nprofile: quick", f"\nprofile: {profile}", 1)
    (copy / "params.yaml").write_text(active)
    experiments = load_params(copy / "params.yaml").experiments
    stages = seen(copy)
    wanted = {f"{name}@{profile}-{e}" for name in ("datasets", "evaluate") for e in experiments}
    wanted |= {f"train@{profile}-{e}-{m}" for e in experiments for m in MECHANISMS}
    assert set(stages) == wanted | {"keys", f"download@{profile}", f"report@{profile}"}
    named = {str(name) for stage in stages.values() for p in stage.params for name in p.params}
    document = YAML(typ="safe").load(active)
    assert len(named) > 2 * len(experiments)
    for name in named:
        value = document
        for part in name.split("."):
            assert part in value, f"params.yaml lacks {name}"
            value = value[part]


def tracked(stage: str, value: str) -> bool:
    """Whether a change of an experiment's value, as `network.hidden`, reaches a stage."""
    for home in ("common", "${item.profile}"):
        names = {f"${{item.experiment}}.{home}"}
        for part in value.split("."):
            names.add(f"{max(names, key=len)}.{part}")
        if not names & set(STAGES[stage]["params"]):
            return False
    return True


def test_training_and_evaluation_see_every_value_of_their_experiment() -> None:
    for stage in ("train", "evaluate"):
        for value in ("training.updates", "network", "act.tau", "evaluation.examples"):
            assert tracked(stage, value)


CHANGES = {
    "task.bits": {"task": {"bits": 4}},
    "evaluation.examples": {"evaluation": {"examples": 11}},
    "network.hidden": {"network": {"hidden": 17}},
    "training.updates": {"training": {"updates": 31}},
    "seeds": {"seeds": [1]},
}


@pytest.mark.parametrize("value", CHANGES)
def test_what_changes_the_frozen_data_or_their_card_is_tracked(tmp_path: Path, value: str) -> None:
    written = []
    for change in ({}, CHANGES[value]):
        config = tiny.config(tmp_path, **change)
        task = make_task(config.task, "tiny")
        frozen, target = tmp_path / "tiny.npz", tmp_path / "card.json"
        freeze(task, tmp_path, frozen, config.evaluation.examples)
        card(task, config, None, frozen, target)
        written.append(frozen.read_bytes() + target.read_bytes())
    if written[0] != written[1]:
        assert tracked("datasets", value)


def test_dvc_is_quiet_and_heavy_files_stay_out_of_git() -> None:
    config = configparser.ConfigParser()
    config.read_string((ROOT / ".dvc/config").read_text().replace("    ", ""))
    assert config["core"]["analytics"] == "false"
    assert config["core"]["check_update"] == "false"
    ignored = (ROOT / ".gitignore").read_text().split()
    assert {"/data/*", "/.checkpoints/", "/mlflow.db*", "/.tracking/"} <= set(ignored)
