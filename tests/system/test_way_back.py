"""README's walk-through, where the committed numbers are of another machine; and the way back."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from ruamel.yaml import YAML
from support import repros, stages, tiny

README = (stages.ROOT / "README.md").read_text(encoding="utf-8")
COPIED = ("Makefile", "pyproject.toml", "constraints.txt", ".gitignore")
COPIED += (".dvcignore", ".dvc/config")
ME = {f"GIT_{who}_{what}": "me" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
PONDERNET = "train@quick-tiny-pondernet"
ENVIRONMENT = ME | {"GIT_CONFIG_GLOBAL": os.devnull, "PONDERING_TRACKING": "off", "COLUMNS": "200"}


def shell(folder: Path, line: str, status: int = 0) -> str:
    """What a line of the terminal says, in an environment that has been activated."""
    path = f"{folder}/.venv/bin{os.pathsep}{os.environ['PATH']}"
    words = os.environ | ENVIRONMENT | {"PATH": path}
    done = subprocess.run(line, shell=True, cwd=folder, env=words, capture_output=True, text=True)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def environment(folder: Path) -> None:
    """The tests' own environment as the one that `make setup` would make."""
    (folder / ".venv").mkdir()
    for name in ("bin", "lib", "pyvenv.cfg"):
        (folder / ".venv" / name).symlink_to(Path(sys.prefix) / name)
    (folder / ".venv/ready").touch()


def edit(folder: Path, prior: float) -> None:
    """The second prior of PonderNet."""
    values = tiny.document(pondernet={"lambda_p": [0.3, prior]})
    values["tiny"]["reduced"] = values["tiny"]["quick"]
    values["download"]["needs"]["reduced"] = []
    values["compute"]["path"] = "readable"  # which compiles nothing
    tiny.write(folder, values)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with the tiny project, whose last commit has bytes of another machine."""
    folder = tmp_path_factory.mktemp("published") / "project"
    stages.new_project(folder)
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(stages.ROOT / "src", folder / "src", ignore=skipped)
    (folder / ".dvc").mkdir()
    for name in COPIED:
        shutil.copy(stages.ROOT / name, folder / name)
    document = YAML(typ="safe").load(stages.ROOT / "dvc.yaml")
    del document["stages"]["report"]  # no figure of it is of the tiny experiment
    document["stages"]["exits"]["matrix"]["experiment"] = ["tiny"]
    document["stages"]["train"]["foreach"] = {
        f"${{profile}}-tiny-{each}": {"experiment": "tiny", "mechanism": each}
        for each in stages.MECHANISMS
    }
    YAML().dump(document, folder / "dvc.yaml")
    edit(folder, 0.6)
    environment(folder)
    shell(folder, "git init --quiet && make repro")
    lock, metrics = folder / "dvc.lock", folder / "reports/quick/metrics/tiny.json"
    text = lock.read_text()
    for name, run in YAML(typ="safe").load(text)["stages"].items():
        for out in run["outs"]:
            if out["path"].startswith("data/") and name.startswith(("train@", "evaluate@")):
                text = text.replace(out["md5"], "f" * 28 + out["md5"][28:])
    lock.write_text(text)
    values = json.loads(metrics.read_text())
    for each in values.values():
        each["mean_error"] += 0.01
    metrics.write_text(json.dumps(values))
    shell(folder, "git add --all && git commit --quiet --message 'Numbers of another machine'")
    return folder


@pytest.fixture(scope="module")
def first(published: Path) -> tuple[Path, str]:
    """A clone of it after its first run, and what that said."""
    folder = published.with_name("clone")
    shell(published, f"git clone --quiet . {folder}")
    environment(folder)
    return folder, shell(folder, "make repro")


@pytest.fixture
def clone(first: tuple[Path, str], tmp_path: Path) -> Path:
    """A copy of that clone."""
    return shutil.copytree(first[0], tmp_path / "clone", symlinks=True)


def advice(said: str) -> tuple[int, str]:
    """How many files are other than the committed ones, and the command that is advised."""
    found = re.search(r"\nThese numbers are this machine's: (\d+) files .*\n.*:\n  (.+)\n$", said)
    assert found, said
    return int(found[1]), found[2]


def whole(folder: Path) -> dict[str, bytes]:
    """All that a run writes, and what it is told."""
    found = repros.results(folder)
    return found | {name: (folder / name).read_bytes() for name in ("params.yaml", "dvc.lock")}


def test_the_walk_through(first: tuple[Path, str], clone: Path) -> None:
    """Commands are README's and those that a run advises."""
    (block,) = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    editor, *commands = re.findall(r"^\$ (.*)$", block, re.MULTILINE)
    assert editor.startswith("editor params.yaml ")
    assert commands == ["make repro", "dvc params diff", "dvc metrics diff"]
    back = re.search(r"^`([a-z ]+)` goes back in a second", README, re.MULTILINE)
    assert back

    count, commit = advice(first[1])
    assert count == len(shell(clone, "git diff --name-only").splitlines()) > 5
    shell(clone, commit)
    assert shell(clone, "git status --porcelain") == ""
    before = whole(clone)
    edit(clone, 0.9)
    run, params, metrics = (shell(clone, command) for command in commands)
    assert run.endswith("then: pondering compare\n")
    assert re.findall(r"^repro: (train@\S+) begins$", run, re.MULTILINE) == [PONDERNET]
    assert "tiny.quick.pondernet.lambda_p" in params and "[0.3, 0.9]" in params
    rows = re.findall(r"pondernet lambda_p=(\S+)\.(?:mean_error|ponder_time)", metrics)
    assert sorted(rows) == ["0.6", "0.6", "0.9", "0.9"]
    assert len(metrics.splitlines()) == 1 + len(rows)
    compared = shell(clone, "pondering compare --out compare.png")
    assert "tiny.quick.pondernet.lambda_p: [0.3, 0.6] → [0.3, 0.9]\n" in compared
    assert "  PonderNet, lambda_p 0.6 → lambda_p 0.9; seeds: 2\n" in compared
    shell(clone, back[1])
    assert whole(clone) == before
    assert "repro: everything is up to date" in shell(clone, "make repro")


def test_verify_reruns_the_commit_and_compares(first: tuple[Path, str], clone: Path) -> None:
    """It finds the number of another machine, and none where the numbers are this machine's."""
    apart = shell(clone, "make verify", status=2)
    assert "\nreports/quick/metrics/tiny.json: 26 of 26 lines differ" in apart, apart
    assert "\nerror: files that do not agree byte for byte with the committed ones: 1\n" in apart
    shell(clone, advice(first[1])[1])
    assert "every table of quick agrees with the committed one, byte" in shell(clone, "make verify")


def test_without_a_baseline_the_way_back_changes_nothing(clone: Path) -> None:
    """A run then says how to go on, and that leads to the edit's difference alone."""
    edit(clone, 0.9)
    _, without = advice(shell(clone, "make repro"))
    before = whole(clone)
    said = shell(clone, "make back", status=2)
    assert re.match(r"error: .* 4 of the files and folders .* nothing has been changed", said), said
    assert whole(clone) == before
    _, commit = advice(shell(clone, without))
    shell(clone, f"{commit} && git stash pop")
    assert "These numbers" not in shell(clone, "make repro")
    metrics = shell(clone, "dvc metrics diff")
    assert set(re.findall(r"lambda_p=([\d.]+)\.", metrics)) == {"0.6", "0.9"}
    shell(clone, "make back")
    assert "everything is up to date" in shell(clone, "make repro")


def test_the_way_back_leaves_another_profile_alone(clone: Path) -> None:
    """DVC's own checkout of everything deletes it."""
    _, commit = advice(shell(clone, "make repro"))
    shell(clone, commit)
    path = clone / "params.yaml"
    path.write_text(path.read_text().replace("profile: quick", "profile: reduced"))
    shell(clone, "make repro")
    before = {name: each for name, each in whole(clone).items() if name.startswith("data/")}
    assert any("reduced" in name for name in before)
    shell(clone, "make back")
    assert {name: each for name, each in whole(clone).items() if name.startswith("data/")} == before
