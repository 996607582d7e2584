"""Stages refuse a mistake in one line, with status 2, and change no file."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from support import argv, stages, tiny
from support.stages import QUICK, contents

from pondering.project.errors import UserError
from pondering.train.stage import run

ACT = (*QUICK, "--mechanism", "act")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the finished project, as the working folder."""
    monkeypatch.setenv("PONDERING_TRACKING", "off")
    folder = shutil.copytree(stages.finished_project(), tmp_path / "copy")
    monkeypatch.chdir(folder)
    return folder


def refusal(name: str, *arguments: str) -> str:
    """The one line of a stage that stops with status 2 and changes no file."""
    before = contents(Path())
    line = argv.refusal(f"{name}.py", *arguments)
    assert contents(Path()) == before
    return line.removeprefix("error: ").rstrip()


def test_evaluating_with_other_parameters_than_trained_is_refused(project: Path) -> None:
    tiny.write(project, tiny.document(act={"tau": [0.01, 0.2]}))
    line = refusal("evaluate", *QUICK)
    assert line.startswith("data/results/quick/networks/tiny/act/run.json: trained with other val")


def test_a_missing_or_truncated_file_is_refused_by_name(project: Path) -> None:
    shutil.rmtree(project / "data/replicas")
    frozen = project / "data/tasks/quick/tiny.npz"
    networks = project / "data/results/quick/networks/tiny/act/parameters.safetensors"
    for path in (networks, frozen):
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2])
        name = path.relative_to(project)
        assert refusal("evaluate", *QUICK).startswith(f"{name}: truncated or damaged (")
    frozen.unlink()
    for line in (refusal("train", *ACT), refusal("evaluate", *QUICK)):
        assert line.startswith("data/tasks/quick/tiny.npz: no such file; run `dvc repro")


def test_a_typo_stops_every_stage_before_any_work(project: Path) -> None:
    values: Any = tiny.document()
    values["tiny"]["quick"]["training"]["learning_rat"] = 0.1
    tiny.write(project, values)
    more = {"download": ("--data", "words"), "datasets": ("parity",), "report": ()}
    for name in ("download", "datasets", "train", "evaluate", "report"):
        line = refusal(name, *QUICK[:2], *more.get(name, QUICK[2:]))
        assert line.startswith("params.yaml: tiny.training.learning_rat: unknown key; allowed: ")


def test_a_mistake_in_another_experiment_stops_a_training_before_any_work(project: Path) -> None:
    values: Any = tiny.document(training={"updates": 31})
    values["other"] = tiny.document(pondernet={"lambda_p": [1.0]})["tiny"]
    tiny.write(project, values)
    line = refusal("train", *ACT)
    assert line.startswith("params.yaml: other.quick.pondernet.lambda_p: 1.0 is not allowed")


def test_the_paper_profile_without_a_gpu_needs_insist(project: Path) -> None:
    shutil.copytree(project / "data/tasks/quick", project / "data/tasks/paper")
    shutil.rmtree(project / "data/replicas")  # replicas of quick have the same values
    paper = ("--profile", "paper", *ACT[2:])
    line = refusal("train", *paper)
    assert line.startswith("params.yaml: profile: paper needs a GPU: tiny takes about ")
    assert line.endswith("insist: true")
    values = tiny.document()
    values["compute"]["insist"] = True
    tiny.write(project, values)
    assert argv.output("train.py", *paper).startswith("paper tiny takes about ")
    assert (project / "data/results/paper/curves/tiny/act.csv").is_file()


def test_a_missing_ray_and_a_missing_cluster_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """tests/system/test_ray.py has clusters."""
    values = tiny.document()
    values["compute"] |= {"executor": "ray", "ray_address": "127.0.0.1:1"}
    tiny.write(tmp_path, values)
    params = tiny.freeze_all(tmp_path)
    with pytest.raises(UserError, match=r"compute\.ray_address: 127\.0\.0\.1:1: "):
        run(params, "tiny")
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(UserError, match=r"compute\.executor: ray is not installed; pip install"):
        run(params, "tiny")
