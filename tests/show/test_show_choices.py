"""Which replica and which inputs `pondering show` takes, and what it refuses."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from support.trained_project import SIGNS, TRAINED, refused, shown, stacked, trained

from pondering.evaluate.load import Trained, choose
from pondering.params.read import load_params
from pondering.project.errors import UserError
from pondering.project.paths import Layout
from pondering.show.replay import evaluation_sets, pick
from pondering.tasks import make_task
from pondering.tasks.digits.task import Digits


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the trained project, which is the working folder."""
    shutil.copytree(trained(), tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return tmp_path


def test_list_says_what_is_trained(project: Path) -> None:
    rows = [
        {
            "experiment": "parity", "mechanism": "act", "setting": 0.001, "seed": seed,
            "split": split, "difficulty": level, "prediction": "mixture", "error": error,
            "ponder_time": 2.0 + seed, "status": "finished",
        }
        for seed in (0, 1)
        for split, level, error in (("test", 1, 0.0), ("test", 2, 0.2 + seed / 5), ("other", 3, 1))
    ]  # fmt: skip
    path = project / "reports" / "quick" / "tables" / "parity.csv"
    path.parent.mkdir(parents=True)
    pd.DataFrame(rows).to_csv(path, index=False)
    output = shown("--list")
    found = re.findall(r"^quick · (\w+) · (\w+)$", output, re.MULTILINE)
    assert sorted(found) == sorted(TRAINED)
    assert "data/runs/quick/parity/act" in output
    line = next(line for line in output.splitlines() if "tau 0.001" in line)
    told = "tau 0.001 seeds 0, 1 finished error 15.0% (10.0 to 20.0), 2.50 steps"
    assert " ".join(line.split()) == told
    assert "rho 3            seeds 0, 1  finished   not evaluated" in output
    assert "parity" not in shown("--list", "mnist")
    assert "nothing is trained" in shown("--list", "--profile", "paper")


def test_list_and_show_notice_other_parameters(project: Path) -> None:
    path = project / "params.yaml"
    path.write_text(path.read_text().replace("hidden: 6", "hidden: 7", 1))
    assert shown("--list").count("of other parameters than params.yaml") == 3
    assert "other parameters than params.yaml" in refused("parity")
    record = project / "data/runs/quick/logic/act/run.json"
    for damaged in ("{", record.read_text().replace('"seed": 0', '"seed": Infinity')):
        record.write_text(damaged)
        assert "run.json is damaged" in shown("--list")
        assert "damaged" in refused("logic")


def test_the_setting_of_least_error_is_the_default(project: Path) -> None:
    def table(errors: dict[float, float]) -> None:
        rows = [
            {
                "mechanism": "act", "setting": setting, "seed": seed, "split": "test",
                "prediction": "mixture", "error": error, "ponder_time": 2.0,
            }
            for setting, error in errors.items()
            for seed in (0, 1)
        ]  # fmt: skip
        path = project / "reports" / "quick" / "tables" / "parity.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(rows).to_csv(path, index=False)

    assert "act, tau 0.001, seed 0\n" in shown("parity", "--count", "1")
    table({0.001: 0.4, 0.1: 0.25})
    assert "act, tau 0.1, seed 0; evaluated: error 25.0%" in shown("parity", "--count", "1")
    table({0.1: 0.3, 0.001: 0.3})
    assert "act, tau 0.001, seed 0" in shown("parity", "--count", "1")


@pytest.fixture
def sweep() -> Callable[..., Trained]:
    """A sweep of two settings and two seeds with the states one names."""

    def make(*status: str) -> Trained:
        found, _ = stacked(trained(), "parity", "act", SIGNS)
        return found._replace(status=list(status))

    return make


def test_diverged_replicas_are_passed_over(sweep: Callable[..., Trained]) -> None:
    assert choose(sweep("diverged", "finished", "finished", "finished"), {}) == 1
    assert choose(sweep("running", "finished", "finished", "finished"), {}) == 1
    assert choose(sweep("running", "diverged", "finished", "finished"), {}) == 0
    assert choose(sweep("diverged", "diverged", "finished", "finished"), {}) == 2
    with pytest.raises(UserError, match=r"seed: 0 diverged for tau 0\.001; allowed: 1"):
        choose(sweep("diverged", "finished", "finished", "finished"), {}, 0.001, 0)
    with pytest.raises(UserError, match=r"tau 0\.001 diverged with every seed"):
        choose(sweep("diverged", "diverged", "finished", "finished"), {}, 0.001)


def test_a_fresh_clone_shows_the_published_replicas(project: Path) -> None:
    before = {name: shown(*name) for name in [("parity",), ("mnist", "--mechanism", "pondernet")]}
    layout = Layout(project, "quick")
    for experiment, mechanism in TRAINED:
        target = layout.models(experiment, mechanism)
        assert target == project / "reports" / "quick" / "models" / experiment / mechanism
        shutil.move(layout.run(experiment, mechanism), target)
    shutil.rmtree(project / "data")
    for name, output in before.items():
        assert shown(*name) == output  # the evaluation sets drawn again are those that were frozen
    assert "reports/quick/models/parity/act" in shown("--list")


def test_without_the_data_only_inputs_of_ones_own(tmp_path: Path) -> None:
    task = Digits(0.0, (), (), "mnist", 5000)
    with pytest.raises(UserError, match=r"mnist\.npz: no such file; run `.*`.*--input$"):
        evaluation_sets(task, Layout(tmp_path, "reduced"), "mnist", 10)


def test_picked_examples_come_from_every_split() -> None:
    config = load_params(trained() / "params.yaml").experiment("parity")
    values = config.task | {"test_nonzero": {"near": [1, 2], "far": [7, 8]}}
    sets = make_task(values, "parity").evaluation_sets(3)
    found = pick(sets, 4)
    assert [(each.split, each.difficulty) for each in found] == [
        ("near", 1), ("near", 2), ("far", 7), ("far", 8),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("EXPERIMENT", "parity, logic, mnist", "--list")),
        (("prity",), ("'prity'", "allowed: parity, logic, mnist")),
        (("parity", "--profile", "quik"), ("'quik'", "quick, reduced, paper")),
        (("parity", "--profile", "paper"), ("not trained in profile paper", "--profile quick")),
        (("logic", "--mechanism", "repeat"), ("train@quick-logic-repeat", "--mechanism act")),
        (("parity", "--mechanism", "acts"), ("'acts'", "repeat, act, pondernet")),
        (("parity", "--setting", "0.5"), ("tau 0.5", "0.001, 0.1")),
        (("parity", "--setting", "x"), ("--setting", "'x'")),
        (("parity", "--seed", "7"), ("--seed: 7", "allowed: 0, 1")),
        (("parity", "--count", "0"), ("--count: 0", "1 to 1000")),
        (("parity", "--count", "two"), ("--count: 'two'",)),
        (("parity", "--difficulty", "9"), ("--difficulty: 9", "allowed: 1 to 8")),
        (("parity", "--difficulty", "1", "--input", "+"), ("--difficulty", "--input")),
        (("parity", "--input", "+-+0x"), ("'+-+0x'", "+ - 0")),
        (("parity", "--input", "+" * 9), ("1 to 8",)),
        (("logic", "--input", "01 NAN"), ("logic",)),
        (("mnist", "--mechanism", "pondernet", "--input", "no.png"), ("no.png: no such file",)),
        (("--list", "prity"), ("'prity'",)),
        (("--list", "--profile", "quik"), ("'quik'",)),
    ],
)
def test_a_mistake_is_one_line(
    project: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    line = refused(*arguments)
    for word in words:
        assert word in line


def test_damaged_files_are_one_line(project: Path) -> None:
    path = project / "data" / "runs" / "quick" / "parity" / "act" / "parameters.safetensors"
    path.write_bytes(path.read_bytes()[:100])
    assert str(path.relative_to(project)) in refused("parity")
    table = project / "reports" / "quick" / "tables" / "logic.csv"
    table.parent.mkdir(parents=True)
    table.write_text("mechanism,setting\nact,0.1\n")
    assert "logic.csv" in refused("logic")
