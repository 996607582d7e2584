"""`dvc exp` in the tiny project: in the working tree, in a folder of its own, and queued."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from support import repros, stages, tiny

CURVES = "data/results/quick/curves/tiny/act.csv"
TRY = ("-S", "tiny.quick.act.tau=[0.02,0.1]")  # the base has 0.01 and 0.1


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny project with ACT alone, run up to the evaluation and committed."""
    folder = repros.new(tmp_path_factory.mktemp("exp") / "base", tiny.document(), ["act"])
    whole = YAML(typ="safe").load(stages.ROOT / "dvc.yaml")
    document = YAML(typ="safe").load(folder / "dvc.yaml")
    for name in ("keys", "download", "evaluate"):
        document["stages"][name] = whole["stages"][name]
    YAML().dump(document | {"params": whole["params"]}, folder / "dvc.yaml")
    (folder / ".dvc/config").write_text("[core]\n    analytics = false\n    check_update = false\n")
    for name in (".gitignore", ".dvc/.gitignore"):
        shutil.copy(stages.ROOT / name, folder / name)
    shutil.rmtree(folder / "data")
    (folder / "src/pondering").mkdir(parents=True)  # a dependency; the stages import the real one
    (folder / "src/pondering/code").touch()
    for command in ("init -q", "config user.name a", "config user.email a@b.c"):
        git(folder, *command.split())
    log = folder.parent / "log"
    assert repros.start(folder, "pondering", log).wait(repros.PATIENCE) == 0, log.read_text()
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "Run")
    return folder


@pytest.fixture
def project(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of it."""
    monkeypatch.setenv("PATH", Path(sys.executable).parent.as_posix(), prepend=":")
    monkeypatch.setenv("PONDERING_TRACKING", "off")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    folder = shutil.copytree(base, tmp_path / "project")
    yield folder
    repros.kill_all(folder)


def said(folder: Path, *command: str) -> str:
    """What a command that ends well prints."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def git(folder: Path, *command: str) -> str:
    return said(folder, "git", *command)


def dvc(folder: Path, *command: str) -> str:
    return said(folder, sys.executable, "-m", "dvc", *command)


def of_experiment(project: Path, name: str) -> str:
    """The training curves of an experiment."""
    (ref,) = git(project, "for-each-ref", "--format=%(refname)", f"refs/exps/**/{name}").split()
    return git(project, "show", f"{ref}:{CURVES}")


def rows(curves: str, setting: str) -> list[str]:
    return [line for line in curves.splitlines() if line.startswith(f"tiny,act,{setting},")]


def is_the_try(curves: str, base: Path) -> None:
    """The new penalty is trained, the one that stays has the bytes that it had."""
    before = (base / CURVES).read_text()
    assert not rows(curves, "0.01") and not rows(before, "0.02")
    assert len(rows(curves, "0.02")) == len(rows(before, "0.01")) > 0
    assert rows(curves, "0.1") == rows(before, "0.1") != []


def test_a_try_in_the_working_tree_changes_it(project: Path, base: Path) -> None:
    dvc(project, "exp", "run", *TRY)
    is_the_try((project / CURVES).read_text(), base)
    changed = git(project, "status", "--porcelain").split()
    assert {"params.yaml", "dvc.lock", CURVES} <= set(changed)
    assert "params.yaml  tiny.quick.act.tau" in dvc(project, "params", "diff")


def test_a_try_in_a_folder_of_its_own_leaves_the_working_tree(project: Path, base: Path) -> None:
    dvc(project, "exp", "run", "--temp", "--name", "aside", *TRY)
    assert git(project, "status", "--porcelain") == ""
    is_the_try(of_experiment(project, "aside"), base)
    table = dvc(project, "exp", "show", "--only-changed", "--drop", "data|params.yaml", "--csv")
    (own,) = (row for row in csv.DictReader(io.StringIO(table)) if row["Experiment"] == "aside")
    found = {name for name in own if "." in name}
    new, old = (f"act tau={tau}.mean_error" for tau in (0.02, 0.01))
    assert {"tiny.quick.act.tau", new, old} <= found
    assert not any(name.startswith("act tau=0.1.") for name in found), "what has not changed"
    assert own[new] and not own[old]


def test_queued_tries_are_run_by_a_worker(project: Path, base: Path) -> None:
    dvc(project, "exp", "run", "--queue", "--name", "queued", *TRY)
    assert "Queued" in dvc(project, "queue", "status")
    dvc(project, "queue", "start")
    repros.until(lambda: not {"Queued", "Running"} & set(dvc(project, "queue", "status").split()))
    assert "Success" in dvc(project, "queue", "status")
    assert git(project, "status", "--porcelain") == ""
    is_the_try(of_experiment(project, "queued"), base)
