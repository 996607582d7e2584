"""dvc.yaml: what a stage depends on is what it reads, and nothing besides."""

from __future__ import annotations

import configparser
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from support import tiny

from pondering.cli import imports
from pondering.data.frozen import card, freeze
from pondering.params.read import MECHANISMS, PROFILES, load_params
from pondering.project import provenance
from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.tasks import make_task

ROOT = Path(__file__).parents[2]
STAGES: dict[str, Any] = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())["stages"]
ONLY_REPORT = ("figures", "report/", "claim", "statistics", "verdicts", "aggregates", "results")
NEVER = ("tracking", "cli.py", "commands", "show", "dependencies", "_cli")
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


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Of each stage the files that data/imports/STAGE.json lists."""
    root = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "pipeline", root / "pipeline")
    imports.write(root)
    folder = root / imports.FOLDER
    return {path.stem: list(json.loads(path.read_text())) for path in folder.iterdir()}


def test_every_stage_depends_on_its_own_code(code: dict[str, list[str]]) -> None:
    assert set(STAGES) == set(code) | {"imports"}
    assert set(STAGES["imports"]["deps"]) == {"pipeline", "src/pondering"}
    assert STAGES["imports"]["outs"] == [str(imports.FOLDER)]
    for name in code:
        assert f"python pipeline/{name}.py" in STAGES[name]["cmd"]
        assert str(imports.FOLDER / f"{name}.json") in paths(name, "deps")
        assert f"pipeline/{name}.py" in code[name]
        assert all((ROOT / path).is_file() for path in code[name])


@pytest.mark.parametrize("name", imports.STAGES)
def test_what_a_stage_made_stays_until_it_makes_it_again(name: str) -> None:
    found = [*STAGES[name]["outs"], *STAGES[name].get("metrics", [])]
    assert all(isinstance(each, dict) for each in found), "an output without `persist`"
    assert all(kept["persist"] is True for each in found for kept in each.values())


@pytest.mark.parametrize("name", imports.STAGES)
def test_a_stages_code_is_what_its_script_really_imports(
    name: str, code: dict[str, list[str]]
) -> None:
    """Compared with a process that has done all of the script's imports, those of `main` too."""
    run = (
        "import ast, json, runpy, sys\n"
        f"path = 'pipeline/{name}.py'\n"
        "runpy.run_path(path)\n"
        "for node in ast.walk(ast.parse(open(path).read())):\n"
        "    if isinstance(node, ast.Import | ast.ImportFrom):\n"
        "        exec(compile(ast.Module([node], []), path, 'exec'))\n"
        "found = [m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'pondering']\n"
        "print(json.dumps(found))"
    )
    done = subprocess.run(
        [sys.executable, "-c", run], cwd=ROOT, capture_output=True, text=True, check=True
    )
    loaded = {str(Path(path).relative_to(ROOT)) for path in json.loads(done.stdout)}
    listed = {path for path in code[name] if path.startswith("src/") and path.endswith(".py")}
    assert loaded <= listed
    late = listed - loaded  # imported inside a function
    assert not late or len(late) < 0.7 * len(listed), late


def test_a_change_of_code_reaches_the_stages_that_import_it_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(ROOT / "pipeline", tmp_path / "pipeline")
    shutil.copytree(ROOT / "src", tmp_path / "src")
    monkeypatch.setattr(provenance, "PACKAGE", tmp_path / "src/pondering")
    folder = tmp_path / imports.FOLDER

    def listed() -> dict[str, str]:
        imports.write(tmp_path)
        return {path.stem: path.read_text() for path in folder.iterdir()}

    before = listed()
    for changed, wanted in (
        ("halting.py", {"train", "evaluate"}),
        ("figures/style.py", {"report"}),
        ("report/templates/profile.html.j2", {"report"}),
        ("tracking/__init__.py", set()),
    ):
        path = provenance.PACKAGE / changed
        path.write_text(path.read_text() + "\n")
        after = listed()
        assert {name for name in after if after[name] != before[name]} == wanted, changed
        before = after


def test_without_a_pipeline_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"download\.py: no such file; run from the project's root"):
        imports.write(tmp_path)


@pytest.mark.parametrize("name", ["download", "datasets", "train", "evaluate"])
def test_numbers_do_not_depend_on_how_they_are_shown(name: str, code: dict[str, list[str]]) -> None:
    for path in code[name]:
        below = path.removeprefix("src/pondering/")
        assert not below.startswith(ONLY_REPORT + NEVER), path


def test_the_report_depends_on_no_training_and_no_tracking(code: dict[str, list[str]]) -> None:
    wanted = ("training", "runs", "halting", "cells", "network", "packing", "tasks/")
    for path in code["report"]:
        assert not path.removeprefix("src/pondering/").startswith(wanted + NEVER), path


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
        assert set(stages) == wanted | {"imports", f"download@{profile}", f"report@{profile}"}
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
