"""dvc.yaml: stages of every experiment, with the files that they read and write."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from support.argv import output

from pondering.params.read import load_params
from pondering.params.schema import PROFILES
from pondering.project.paths import Layout
from pondering.train.program import EVALUATION, LISTED, PACKAGE, files

ROOT = Path(__file__).parents[2]
FILE: dict[str, Any] = YAML(typ="safe").load((ROOT / "dvc.yaml").read_text())
STAGES: dict[str, Any] = FILE["stages"]
DATASETS = {"datasets": "", "datasets_digits": "mnist", "datasets_text": "enwik8"}  # stage -> data
ORDER = ("download", "values", *DATASETS, "train", "evaluate", "exits", "report")
ITEM = {"${item.profile}": "P", "${item.experiment}": "E", "${item.data}": "D"}


def paths(stage: str, *kinds: str) -> set[str]:
    """Dependencies or outputs of a stage, with P, E and D for profile, experiment and data."""
    found = set()
    for kind in kinds:
        for entry in STAGES[stage].get(kind, []):
            path = entry if isinstance(entry, str) else next(iter(entry))
            for item, letter in ITEM.items():
                path = path.replace(item, letter)
            found.add(path)
    return found


def test_each_stage_depends_on_the_files_of_the_earlier_ones() -> None:
    assert tuple(STAGES) == ORDER
    layout = Layout(Path(), "P")
    frozen, networks = str(layout.frozen("E")), str(layout.networks("E"))
    values, hashes = Path("data/values/P/E.json"), Path("data/hashes/P/E.json")
    assert paths("download", "outs") == {str(layout.raw / "D")}
    assert "params.yaml" in paths("values", "deps")
    assert paths("values", "outs") == {str(values.parent), str(hashes.parent)}
    program = [path for part in LISTED for path in files(part, "*")]
    program += [PACKAGE / name for name in EVALUATION]
    read = [ROOT / each for each in paths("values", "deps")]
    assert all(any(path.is_relative_to(each) for each in read) for path in program)
    assert {frozen, str(values), str(hashes)} <= paths("train", "deps")
    curves, records = layout.curves("E", "act").parent, layout.provenance("E", "act").parent
    card = layout.card("E")
    assert paths("train", "outs") == {networks, *map(str, (card, curves, records))}
    assert {frozen, networks, str(hashes)} <= paths("evaluate", "deps")
    found = {layout.table("E"), layout.traces("E"), layout.provenance("E")}
    assert paths("evaluate", "outs") == {*map(str, found)}
    assert paths("evaluate", "metrics") == {str(layout.metrics("E"))}
    by_rules = {f"src/pondering/{each}/exits.py" for each in ("evaluate", "model/halting")}
    assert by_rules | {"src/pondering/evaluate/rules.py"} <= paths("exits", "deps")
    exits = layout.exits("E").parent
    named = STAGES["exits"]["cmd"].split()[4:]
    needed = {str(where(each)) for each in named for where in (layout.networks, layout.frozen)}
    assert needed <= paths("exits", "deps")
    assert paths("exits", "outs") == {str(exits)}
    read = {*(str(each.parent) for each in (*found, card, curves, records)), str(exits)}
    assert read | {"claims.yaml"} <= paths("report", "deps")


@pytest.mark.parametrize("profile", PROFILES)
def test_an_experiment_depends_on_its_data_alone(profile: str) -> None:
    params, layout = load_params(ROOT / "params.yaml", profile), Layout(Path(), "P")
    needed = set()
    for stage, data in DATASETS.items():
        tasks, frozen, values = STAGES[stage]["cmd"].split()[4:], set(), set()
        for name, config in params.experiments.items():
            if config.task["name"] in tasks:
                frozen.add(str(layout.frozen(name)))
                values.add(f"data/values/P/{name}.json")
                read = {*params.download.sets} & {*map(str, config.task.values())}
                files = [path for each in read for path in params.download.sets[each].files]
                assert all(path.startswith(f"{data}/") for path in files), name
                needed |= read
        assert paths(stage, "outs") == frozen
        all_values = {"data/values/P"}
        raw = {str(layout.raw / data)} if data else set()
        code = {"pipeline/datasets.py", "src/pondering/data/frozen.py", "src/pondering/tasks"}
        assert paths(stage, "deps") == code | raw | (values if data else all_values)
    assert needed == {*params.download.needs[profile]}


def test_values_and_hashes_change_for_the_experiments_that_read_an_edited_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "params.yaml").read_text()
    edited = text.replace("task: {gates: 10, ", "task: {gates: 9, ")
    assert edited != text
    monkeypatch.chdir(tmp_path)
    written = []
    for each in (text, edited):
        (tmp_path / "params.yaml").write_text(each)
        output("values.py", "--profile", "paper")
        files = (tmp_path / "data").rglob("*.json")
        written.append({(path.parts[-3], path.stem): path.read_text() for path in files})
    before, after = written
    logic = {name for (_, name), each in before.items() if '"name": "logic"' in each}
    changed = {each for each in before if before[each] != after[each]}
    assert ("values", "logic") in changed and ("hashes", "logic") in changed
    assert {name for _, name in changed} <= logic


def test_stages_run_with_the_python_of_this_folder(tmp_path: Path) -> None:
    """This holds for `.venv/bin/dvc repro` with another Python on the path, too."""
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\necho here $@")
    python.chmod(0o755)
    for stage in STAGES.values():
        command = stage["cmd"].replace("${python}", FILE["vars"][0]["python"])
        done = subprocess.run(command.split("--")[0], shell=True, cwd=tmp_path, capture_output=True)
        assert done.stdout.startswith(b"here pipeline/")


def test_dvc_finds_every_stage_and_parameter(tmp_path: Path) -> None:
    from dvc.repo import Repo

    text = (ROOT / "params.yaml").read_text()
    shutil.copy(ROOT / "dvc.yaml", tmp_path)
    assert text.count("\nprofile: quick") == 1
    (tmp_path / "params.yaml").write_text(text.replace("profile: quick", "profile: reduced"))
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc/config").write_text("[core]\n    no_scm = true\n    analytics = false\n")
    with Repo(str(tmp_path)) as repo:
        stages = {str(stage.name): stage for stage in repo.index.stages}
    wanted = {f"{each}@reduced" for each in ("values", *DATASETS, "exits", "report")}
    wanted |= {f"download@reduced-{each}" for each in ("mnist", "enwik8")}
    for each in load_params(ROOT / "params.yaml").experiments:
        wanted |= {f"{stage}@reduced-{each}" for stage in ("train", "evaluate")}
    assert set(stages) == wanted
    document = YAML(typ="safe").load(text)
    for stage in stages.values():
        for dep in stage.deps:
            path = Path(dep.fs_path).relative_to(tmp_path)
            assert path.parts[0] == "data" or (ROOT / path).exists(), path
        for name in (name for params in stage.params for name in params.params):
            value = document
            for part in name.split("."):
                assert part in value, f"params.yaml lacks {name}"
                value = value[part]
