"""What the stage scripts refuse: one line, status 2, and not a file changed."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import stages, tiny
from support.stages import QUICK, contents

from pondering.params.read import load_params


@pytest.fixture(scope="module")
def project() -> Path:
    return stages.finished_project()


@pytest.fixture
def copy(project: Path, tmp_path: Path) -> Iterator[Path]:
    """A copy of it that a test may spoil."""
    shutil.copytree(project, tmp_path / "copy")
    yield tmp_path / "copy"
    shutil.rmtree(tmp_path / "copy")


def refused(folder: Path, name: str, *arguments: str) -> str:
    """The one line of a stage that stops with status 2 and changes no file."""
    before = contents(folder)
    done = stages.run(folder, name, *arguments)
    assert done.status == 2, done.err
    assert done.err.startswith("error: ")
    assert len(done.err.splitlines()) == 1
    assert done.out == ""
    assert contents(folder) == before
    return done.err.removeprefix("error: ").rstrip()


def test_evaluating_with_other_parameters_than_trained(copy: Path) -> None:
    tiny.write(copy, tiny.document(act={"tau": [0.01, 0.2]}))
    assert refused(copy, "evaluate", *QUICK) == (
        "data/results/quick/networks/tiny/act/run.json: trained with other values or "
        "another program; run `dvc repro train@quick-tiny`"
    )


def test_missing_files(project: Path, tmp_path: Path) -> None:
    folder = stages.new_project(tmp_path)
    line = refused(folder, "datasets", *stages.DATASETS)
    assert line == "params.yaml: no such file; run from the project's root"
    tiny.write(folder, tiny.document())
    line = refused(folder, "train", *QUICK, "--mechanism", "act")
    assert line == "data/tasks/quick/tiny.npz: no such file; run `dvc repro train@quick-tiny`"
    line = refused(folder, "evaluate", *QUICK)
    assert line.startswith("data/tasks/quick/tiny.npz: no such file; run")
    shutil.copytree(project / "data/tasks", folder / "data/tasks")
    line = refused(folder, "evaluate", *QUICK)
    assert line.startswith("data/results/quick/networks/tiny/repeat/run.json: no such file; run")


def damage(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


@pytest.mark.parametrize(
    "name", ["tasks/quick/tiny.npz", "results/quick/networks/tiny/act/parameters.safetensors"]
)
def test_a_truncated_file_is_named(copy: Path, name: str) -> None:
    damage(copy / "data" / name)
    assert refused(copy, "evaluate", *QUICK).startswith(f"data/{name}: truncated or damaged (")


def test_a_damaged_checkpoint_is_named(copy: Path) -> None:
    path = tiny.shard(copy, load_params(copy / "params.yaml")).checkpoint
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no checkpoint")
    shutil.rmtree(copy / "data/replicas")
    line = refused(copy, "train", *QUICK, "--mechanism", "act")
    assert line.startswith(f"{path.relative_to(copy)}: truncated or damaged (")
    assert line.endswith("delete it")
    path.unlink()
    assert stages.run(copy, "train", *QUICK, "--mechanism", "act").status == 0


def test_a_typo_stops_every_stage_before_any_work(tmp_path: Path) -> None:
    folder = stages.new_project(tmp_path)
    values: Any = tiny.document()
    values["tiny"]["quick"]["training"]["learning_rat"] = 0.1
    tiny.write(folder, values)
    more = {"download": ("--data", "words"), "datasets": ("parity",), "report": ()}
    for name in ("download", "datasets", "train", "evaluate", "report"):
        line = refused(folder, name, *QUICK[:2], *more.get(name, QUICK[2:]))
        assert line == (
            "params.yaml: tiny.training.learning_rat: unknown key; "
            "allowed: updates, batch, learning_rate, clip, log_points, validation, decay, "
            "halting_rate, draws"
        )
    assert {p.name for p in folder.iterdir() if p.name[0] != "."} == {"params.yaml", "pipeline"}
    assert not (folder / ".checkpoints").exists()


def test_names_that_do_not_exist(copy: Path) -> None:
    line = refused(copy, "train", "--profile", "quik", *QUICK[2:], "--mechanism", "act")
    assert line == "params.yaml: profile: 'quik' is unknown; allowed: quick, reduced, paper"
    line = refused(copy, "evaluate", "--profile", "quick", "--experiment", "tinny")
    assert line == "params.yaml: 'tinny' is no experiment; allowed: tiny"


def test_paper_without_a_gpu_needs_insistence(copy: Path) -> None:
    shutil.copytree(copy / "data/tasks/quick", copy / "data/tasks/paper")
    shutil.rmtree(copy / "data/replicas")  # or those of quick, with the same values, would do
    paper = ("--profile", "paper", *QUICK[2:], "--mechanism", "act")
    line = refused(copy, "train", *paper)
    assert line.startswith("params.yaml: profile: paper needs a GPU: tiny takes about ")
    assert line.endswith("insist: true")
    values = tiny.document()
    values["compute"]["insist"] = True
    tiny.write(copy, values)
    done = stages.run(copy, "train", *paper)
    assert done.status == 0 and done.out.startswith("paper tiny takes about ")
    assert (copy / "data/results/paper/curves/tiny/act.csv").is_file()
