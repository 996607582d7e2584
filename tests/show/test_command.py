"""Which replica `pondering show` takes, and what it refuses."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest
from support.trained_project import SIGNS, TRAINED, refused, shown, stacked, trained

from pondering.evaluate.load import choose
from pondering.project.errors import UserError
from pondering.project.paths import Layout


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


def test_diverged_replicas_are_passed_over() -> None:
    found, _ = stacked(trained(), "parity", "act", SIGNS)  # two settings, two seeds of each

    def choice(status: str, *wish: float) -> int:
        names = {"d": "diverged", "r": "running", "f": "finished"}
        return choose(found._replace(status=[names[each] for each in status]), {}, *wish)

    for status, wanted in (("dfff", 1), ("rfff", 1), ("rdff", 0), ("ddff", 2)):
        assert choice(status) == wanted
    with pytest.raises(UserError, match=r"seed: 0 diverged for tau 0\.001; allowed: 1"):
        choice("dfff", 0.001, 0)
    with pytest.raises(UserError, match=r"tau 0\.001 diverged with every seed"):
        choice("ddff", 0.001)


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


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), ("EXPERIMENT", "parity, logic, mnist", "--list")),
        (("prity",), ("'prity'", "did you mean 'parity'?")),
        (("sorting",), ("'sorting'", "allowed: parity, logic, mnist")),
        (("parity", "--profile", "quik"), ("'quik'", "did you mean 'quick'?")),
        (("parity", "--profile", "paper"), ("no network here in profile paper", "--profile quick")),
        (("parity", "--profile", "paper"), ("with `profile: paper` in params.yaml run `dvc",)),
        (("logic", "--mechanism", "repeat"), ("train@quick-logic-repeat", "--mechanism act")),
        (("parity", "--mechanism", "acts"), ("'acts'", "did you mean 'act'?")),
        (("parity", "--setting", "0.5"), ("tau 0.5", "0.001, 0.1")),
        (("parity", "--setting", "x"), ("--setting", "'x'")),
        (("parity", "--seed", "7"), ("--seed: 7", "allowed: 0, 1")),
        (("parity", "--count", "0"), ("--count", "0 is not in the range 1<=x<=1000")),
        (("parity", "--difficulty", "9"), ("--difficulty: 9", "allowed: 1 to 8")),
        (("parity", "--difficulty", "1", "--input", "+"), ("--difficulty", "--input")),
        (("parity", "--input", "+-+0x"), ("'+-+0x'", "+ - 0")),
        (("mnist", "--mechanism", "pondernet", "--input", "no.png"), ("no.png: no such file",)),
        (("--list", "prity"), ("'prity'", "did you mean 'parity'?")),
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


def test_an_input_unlike_those_of_training_is_warned_of(project: Path) -> None:
    foreign, own = shown("parity", "--input", SIGNS), shown("parity", "--input", "10110")
    assert "\nwarning: not as in training: a 0 before a + or -, in training all 0 come" in foreign
    assert "warning" not in own and "input       +-++-000\n" in own
    assert "warning" not in shown("parity")
