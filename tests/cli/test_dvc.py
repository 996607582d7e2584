"""dvc.yaml: every experiment with its files, stages that hand on what they write, plain DVC."""

from __future__ import annotations

import configparser
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from pondering.params.read import PROFILES, load_params
from pondering.project.paths import RESULTS, Layout
from pondering.train.program import LISTED, files

ROOT = Path(__file__).parents[2]
FILE: dict[str, Any] = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())
STAGES: dict[str, Any] = FILE["stages"]
DATASETS = {"datasets": "", "datasets_digits": "mnist", "datasets_text": "enwik8"}  # the data read
ORDER = ("download", *DATASETS, "train", "evaluate", "exits", "report")
ITEM = {"${item.profile}": "P", "${item.experiment}": "E", "${item.data}": "D"}


def paths(stage: str, *kinds: str) -> set[str]:
    """Dependencies or outputs of a stage with P and E in place of its item."""
    found = set()
    for kind in kinds:
        for entry in STAGES[stage].get(kind, []):
            path = entry if isinstance(entry, str) else next(iter(entry))
            for item, letter in ITEM.items():
                path = path.replace(item, letter)
            found.add(path)
    return found


def test_stages_hand_their_files_to_the_next() -> None:
    assert tuple(STAGES) == ORDER
    layout = Layout(Path(), "P")
    frozen, networks = str(layout.frozen("E")), str(layout.networks("E"))
    assert paths("download", "outs") == {str(layout.raw / "D")}
    for stage, data in DATASETS.items():
        read = {str(layout.raw / data)} if data else set()
        assert paths(stage, "deps") == paths("datasets", "deps") | read
    assert frozen in paths("train", "deps")
    trained_by = [path for part in LISTED for path in files(part, "*")]
    assert trained_by and all(
        any(path.is_relative_to(ROOT / each) for each in paths("train", "deps"))
        for path in trained_by
    )
    curves, records = layout.curves("E", "act").parent, layout.provenance("E", "act").parent
    card = layout.card("E")
    assert paths("train", "outs") == {networks, *map(str, (card, curves, records))}
    assert {frozen, networks} <= paths("evaluate", "deps")
    found = {layout.table("E"), layout.traces("E"), layout.provenance("E")}
    assert paths("evaluate", "outs") == {*map(str, found)}
    assert paths("evaluate", "metrics") == {str(layout.metrics("E"))}
    exits = layout.exits("E").parent
    named = STAGES["exits"]["cmd"].split()[4:]
    needed = {str(where(each)) for each in named for where in (layout.networks, layout.frozen)}
    assert needed <= paths("exits", "deps")
    assert paths("exits", "outs") == {str(exits)}
    read = {*(str(each.parent) for each in (*found, card, curves, records)), str(exits)}
    assert read | {"claims.yaml"} <= paths("report", "deps")


def test_dvc_keeps_copies_of_results_and_git_the_metrics() -> None:
    """Without copies an edit could not be taken back without a run."""
    for name, stage in STAGES.items():
        for entry in stage.get("outs", []):
            if name != "download":
                assert isinstance(entry, str) and entry.startswith("data/"), (name, entry)
        for entry in stage.get("metrics", []):
            ((path, how),) = entry.items()
            assert path.startswith("reports/") and how == {"cache": False}
    assert FILE["plots"][0].keys() == {f"{RESULTS}/${{profile}}/curves"}
    (raw,) = STAGES["download"]["outs"]
    assert next(iter(raw.values())) == {"persist": True}, "a download by hand would be deleted"


@pytest.mark.parametrize("profile", PROFILES)
def test_an_experiment_waits_for_no_other_data_than_its_own(profile: str) -> None:
    params, layout = load_params(ROOT / "params.yaml", profile), Layout(Path(), "P")
    needed = set()
    for stage, data in DATASETS.items():
        tasks, frozen = STAGES[stage]["cmd"].split()[4:], set()
        for name, config in params.experiments.items():
            if config.task["name"] in tasks:
                frozen.add(str(layout.frozen(name)))
                read = {*params.download.sets} & {*map(str, config.task.values())}
                files = [path for each in read for path in params.download.sets[each].files]
                assert all(path.startswith(f"{data}/") for path in files), name
                needed |= read
        assert paths(stage, "outs") == frozen
    assert needed == {*params.download.needs[profile]}


@pytest.mark.parametrize("stage", ORDER)
def test_what_a_stage_depends_on_is_there(stage: str) -> None:
    for path in paths(stage, "deps"):
        if not path.startswith("data/") and "${" not in path:
            assert (ROOT / path).exists(), path


def test_stages_run_with_the_python_of_this_folder(tmp_path: Path) -> None:
    """Also `.venv/bin/dvc repro`, with another Python on the path."""
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho here $@")
    python.chmod(0o755)
    for stage in STAGES.values():
        command = stage["cmd"].replace("${python}", FILE["vars"][0]["python"])
        said = subprocess.run(command.split("--")[0], shell=True, cwd=tmp_path, capture_output=True)
        assert said.stdout.startswith(b"here pipeline/")


def test_dvc_itself_sees_these_stages(tmp_path: Path) -> None:
    """And finds every parameter that a stage names."""
    from dvc.repo import Repo

    copy, text = tmp_path, (ROOT / "params.yaml").read_text()
    shutil.copy(ROOT / "dvc.yaml", copy)
    assert text.count("\nprofile: quick") == 1
    document = YAML(typ="safe").load(text)
    for profile in PROFILES:
        (copy / "params.yaml").write_text(text.replace("profile: quick", f"profile: {profile}"))
        shutil.rmtree(copy / ".dvc", ignore_errors=True)
        (copy / ".dvc").mkdir()
        (copy / ".dvc/config").write_text("[core]\n    no_scm = true\n    analytics = false\n")
        with Repo(str(copy)) as repo:
            stages = {str(stage.name): stage for stage in repo.index.stages}
        wanted = {f"{each}@{profile}" for each in (*DATASETS, "exits", "report")}
        wanted |= {f"download@{profile}-{each}" for each in ("mnist", "enwik8")}
        for each in load_params(ROOT / "params.yaml").experiments:
            wanted |= {f"{stage}@{profile}-{each}" for stage in ("train", "evaluate")}
        assert set(stages) == wanted
        for name in {n for stage in stages.values() for p in stage.params for n in p.params}:
            value = document
            for part in name.split("."):
                assert part in value, f"params.yaml lacks {name}"
                value = value[part]


def test_dvc_is_quiet_and_heavy_files_stay_out_of_git() -> None:
    config = configparser.ConfigParser()
    config.read_string((ROOT / ".dvc/config").read_text().replace("    ", ""))
    assert config["core"]["analytics"] == "false"
    assert config["core"]["check_update"] == "false"
    ignored = (ROOT / ".gitignore").read_text().split()
    assert {"/data/*", "/.checkpoints/", "/mlflow.db*"} <= set(ignored)
