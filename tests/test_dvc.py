"""dvc.yaml: what a stage depends on is what it reads, and nothing besides."""

from __future__ import annotations

import configparser
import shutil
from pathlib import Path
from typing import Any

import pytest
import tiny
from ruamel.yaml import YAML

from pondering import dependencies
from pondering.config import MECHANISMS, PROFILES, load_params
from pondering.errors import UserError
from pondering.freezing import card, freeze
from pondering.layout import Layout
from pondering.tasks import make_task

ROOT = Path(__file__).parents[1]
STAGES: dict[str, Any] = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())["stages"]
ONLY_REPORT = ("figures", "report/", "claim", "statistics", "verdicts", "aggregates", "results")
NEVER = ("tracking", "cli.py", "commands", "show", "dependencies", "_cli")
ITEM = {"${item.profile}": "P", "${item.experiment}": "E", "${item.mechanism}": "M"}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copy(ROOT / "dvc.yaml", tmp_path)
    shutil.copytree(ROOT / "pipeline", tmp_path / "pipeline")
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


def test_the_code_a_stage_depends_on_is_what_its_script_imports(copy: Path) -> None:
    before = (copy / "dvc.yaml").read_text()
    assert not dependencies.sync(copy), "run `pondering deps`"
    assert (copy / "dvc.yaml").read_text() == before


def test_a_missing_or_needless_dependency_is_mended(copy: Path) -> None:
    path = copy / "dvc.yaml"
    whole = path.read_text()
    line = "      - src/pondering/halting.py\n"
    assert whole.count(line) == 2
    for changed in (
        whole.replace(line, "", 1),
        whole.replace(line, line + "      - src/pondering/gone.py\n", 1),
    ):
        path.write_text(changed)
        assert dependencies.sync(copy)
        assert path.read_text() == whole
        assert not dependencies.sync(copy)


def test_without_a_pipeline_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"dvc\.yaml: no such file; run from the project's root"):
        dependencies.sync(tmp_path)


def test_every_dependency_on_code_exists() -> None:
    for name in STAGES:
        code = [path for path in paths(name, "deps") if path.startswith(("src/", "pipeline/"))]
        assert len(code) == len(set(code)) > 4
        for path in code:
            assert (ROOT / path).exists(), f"{name}: {path}"


@pytest.mark.parametrize("name", ["download", "datasets", "train", "evaluate"])
def test_numbers_do_not_depend_on_how_they_are_shown(name: str) -> None:
    for path in paths(name, "deps"):
        below = path.removeprefix("src/pondering/")
        assert not below.startswith(ONLY_REPORT + NEVER), path


def test_the_report_depends_on_no_training_and_no_tracking() -> None:
    wanted = ("training", "runs", "halting", "cells", "network", "packing", "tasks/")
    for path in paths("report", "deps"):
        assert not path.removeprefix("src/pondering/").startswith(wanted + NEVER), path


def test_stages_hand_their_files_to_the_next() -> None:
    layout = Layout(Path(), "P")
    frozen, table, run = str(layout.frozen("E")), str(layout.table("E")), str(layout.run("E", "M"))
    assert paths("download", "outs") == [str(layout.raw)]
    assert set(paths("datasets", "outs")) == {frozen, str(layout.card("E"))}
    curves, origin = str(layout.curves("E", "M")), str(layout.provenance("E", "M"))
    assert set(paths("train", "outs")) == {run, curves, origin}
    judged = {table, str(layout.traces("E")), str(layout.metrics("E"))}
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
    for name in ("datasets", "evaluate"):
        assert STAGES[name]["matrix"] == {"profile": profile, "experiment": experiments}
    for name in ("download", "report"):
        assert STAGES[name]["matrix"] == {"profile": profile}
    document = YAML(typ="safe").load((ROOT / "params.yaml").read_text())
    assert document["mechanisms"] == list(MECHANISMS)
    blocks = {key for key, value in document.items() if "common" in str(value)[:20]}
    assert blocks == set(document["experiments"])


@pytest.mark.parametrize("profile", PROFILES)
def test_dvc_itself_sees_these_stages(copy: Path, profile: str) -> None:
    """And finds every parameter that a stage names."""
    from dvc.repo import Repo

    (copy / ".dvc").mkdir()
    (copy / ".dvc/config").write_text("[core]\n    no_scm = true\n    analytics = false\n")
    text = (ROOT / "params.yaml").read_text()
    assert text.count("\nprofile: ") == 1
    active = text.replace("\nprofile: quick", f"\nprofile: {profile}", 1)
    (copy / "params.yaml").write_text(active)
    experiments = load_params(copy / "params.yaml").experiments
    with Repo(str(copy)) as repo:
        stages = {str(stage.name): stage for stage in repo.index.stages}
        wanted = {f"{name}@{profile}-{e}" for name in ("datasets", "evaluate") for e in experiments}
        wanted |= {f"train@{profile}-{e}-{m}" for e in experiments for m in MECHANISMS}
        assert set(stages) == wanted | {f"download@{profile}", f"report@{profile}"}
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
        card(task, config, frozen, target)
        written.append(frozen.read_bytes() + target.read_bytes())
    if written[0] != written[1]:
        assert tracked("datasets", value)


def test_dvc_is_quiet_and_heavy_files_stay_out_of_git() -> None:
    config = configparser.ConfigParser()
    config.read_string((ROOT / ".dvc/config").read_text().replace("    ", ""))
    assert config["core"]["analytics"] == "false"
    assert config["core"]["check_update"] == "false"
    ignored = (ROOT / ".gitignore").read_text().split()
    assert {"/data/", "/.checkpoints/", "/mlflow.db*", "/.tracking/"} <= set(ignored)
