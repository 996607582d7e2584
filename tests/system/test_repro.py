"""The promises of README and docs about `dvc repro` and DVC's other commands."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from support.repros import commit, edit, environment, new, shell
from support.stages import ROOT, results
from support.tracked_stage import until

SAME = "Data and pipelines are up to date."
EDIT = {"pondernet": {"lambda_p": [0.5, 0.9]}}
SECONDS = 300.0


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository after its first run, committed."""
    folder = new(tmp_path_factory.mktemp("run") / "project")
    shell(folder, "dvc repro")
    commit(folder)
    return folder


@pytest.fixture
def project(run: Path, tmp_path: Path) -> Path:
    """A copy of the repository after its first run."""
    return shutil.copytree(run, tmp_path / "project", symlinks=True)


def replicas(folder: Path) -> set[str]:
    return {path.name for path in (folder / "data/replicas").iterdir()}


def test_dvc_shows_an_edit_and_editing_back_runs_nothing(project: Path) -> None:
    assert SAME in shell(project, "dvc repro")
    before, trained = results(project), replicas(project)
    edit(project, **EDIT)
    text = shell(project, "dvc status")
    assert re.search(r"train@quick-tiny:\n\s+changed deps:\n\s+params.yaml:\n.*tiny\.quick", text)
    shell(project, "dvc repro")
    assert len(replicas(project) - trained) == 4, "two settings, two seeds"
    params = shell(project, "dvc params diff")
    assert "tiny.quick.pondernet.lambda_p" in params and "[0.5, 0.9]" in params
    changed = shell(project, "dvc metrics diff")
    assert re.search(r"reports/quick/metrics/tiny\.json +pondernet", changed)
    assert "act" not in changed and "plain" not in changed
    metrics = shell(project, "dvc metrics show")
    assert max(map(len, metrics.splitlines())) <= 120
    for kind, x in (("tables", "difficulty"), ("curves", "update")):
        targets = f"--targets data/results/quick/{kind}"
        spec = json.loads(shell(project, f"dvc plots diff {targets} --show-vega"))
        rows = spec["data"]["values"]
        assert {each["rev"] for each in rows} == {"HEAD", "workspace"}
        axes = spec["spec"]["encoding"]
        assert (axes["x"]["field"], axes["y"]["field"]) == (x, "error")
        assert {each["field"] for each in axes.values()} <= set(rows[0])
    assert {*results(project)} == {*before}
    edit(project)
    back = shell(project, "dvc repro")
    assert "Stage 'evaluate@quick-tiny' is cached - skipping run" in back
    assert results(project) == before
    assert shell(project, "git status --porcelain") == ""


def test_a_remark_runs_no_training_and_an_equation_those_that_have_it(project: Path) -> None:
    act = project / "src/pondering/model/halting/act.py"
    act.write_text(act.read_text() + "# a remark\n")
    text = shell(project, "dvc repro")
    assert re.findall("Running stage '(.*)'", text) == ["values@quick"]
    trained = replicas(project)
    act.write_text(act.read_text() + "A_NEW_NUMBER = 1\n")
    shell(project, "dvc repro")
    assert len(replicas(project) - trained) == 2 * 2, "two penalties, two seeds"


def test_an_experiment_of_dvc_trains_new_replicas_once(project: Path) -> None:
    """An experiment in a temporary folder shares the project's replicas."""
    trained = replicas(project)
    values = "-S 'tiny.quick.pondernet.lambda_p=[0.5,0.9]'"
    shell(project, f"dvc exp run --temp --name aside {values}")
    assert shell(project, "git status --porcelain") == ""
    assert len(replicas(project) - trained) == 4
    shell(project, f"dvc exp run --name here {values}")
    assert len(replicas(project) - trained) == 4
    table = shell(project, "dvc exp show --only-changed --csv")
    assert "aside" in table and "here" in table and "tiny.quick.pondernet.lambda_p" in table


def test_verify_runs_the_commit_again_and_compares(project: Path) -> None:
    table = project / "data/results/quick/tables/tiny.csv"
    table.write_text(table.read_text().replace("0.5", "0.6", 1))
    metrics = project / "reports/quick/metrics/tiny.json"
    metrics.write_text(json.dumps(json.loads(metrics.read_text()) | {"act": 0.9}))
    commit(project)
    text = shell(project, "pondering verify", status=2)
    assert "tables/tiny.csv: here " in text and text.count(": here ") == 1
    assert "reports/quick/metrics/tiny.json: act was 0.9 and is " in text


def test_published_results_are_kept_in_a_clone_without_networks(
    project: Path, tmp_path: Path
) -> None:
    for name in ("claims.json", "index.html"):
        (project / "data/results/quick" / name).touch()
    shutil.copy(ROOT / "claims.yaml", project)
    shell(project, "pondering publish")
    commit(project)
    clone = tmp_path / "clone"
    shell(project, f"git clone --quiet . {clone}")
    shell(clone, "sed -i 's/insist: false/insist: false\\n  published: keep/' params.yaml")
    assert "act, tau 0." in shell(clone, "pondering show tiny --mechanism act --input +-+")
    output = shell(clone, "dvc repro train@quick-tiny")
    assert re.search(r": (\d+) of \1 replicas are trained", output)
    assert not (clone / "data/replicas").exists()
    shell(clone, "dvc repro")
    for kind in ("tables", "curves", "traces", "exits"):
        for path in (project / "data/results/quick" / kind).rglob("*.*"):
            assert (clone / path.relative_to(project)).read_bytes() == path.read_bytes(), path


def test_a_killed_run_continues(tmp_path: Path) -> None:
    folder = new(tmp_path / "project")
    edit(folder, training={"updates": 3000})
    process = subprocess.Popen(
        ["dvc", "repro"], cwd=folder, env=environment(folder), start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    until(lambda: any((folder / ".checkpoints").rglob("*.safetensors")), SECONDS)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(SECONDS)
    (folder / ".dvc/tmp/rwlock").unlink(missing_ok=True)  # a killed dvc may leave it truncated
    assert "going on from update" in shell(folder, "dvc repro")
    assert SAME in shell(folder, "dvc status")
