"""What a shell completes, and that it does not wait for torch, pandas or MLflow."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from pondering.claims.claims import load_register
from pondering.cli.main import COMMANDS, main
from pondering.params.read import MECHANISMS, PROFILES, load_params
from pondering.report.figures import FIGURES

ROOT = Path(__file__).parents[2]
SLOW = {"torch", "pandas", "mlflow", "dvc", "matplotlib", "numpy", "sklearn"}
REGISTER = load_register(ROOT / "claims.yaml")
IDS = [each.id for each in (*REGISTER.claims, *REGISTER.questions)]


def completed(*words: str) -> list[str]:
    """What is offered for the last of some words."""
    shell = BashComplete(main, {}, "pondering", "_PONDERING_COMPLETE")
    return [each.value for each in shell.get_completions(list(words[:-1]), words[-1])]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ([""], list(COMMANDS)),
        (["c"], ["claims", "compare"]),
        (["--v"], ["--version"]),
        (["show", ""], list(load_params(ROOT / "params.yaml").experiments)),
        (["show", "parity_i"], ["parity_interpolation"]),
        (["show", "parity", "--mechanism", ""], list(MECHANISMS)),
        (["show", "parity", "--profile", "r"], ["reduced"]),
        (["provenance", "graves-04", "--profile", ""], list(PROFILES)),
        (["claims", ""], IDS),
        (["claims", "G1", "Q"], [name for name in IDS if name.startswith("Q")]),
        (["claims", "--profile", ""], list(PROFILES)),
        (["judge", "--profile", "q"], ["quick"]),
        (["power", "G1"], [name for name in IDS if name.startswith("G1")]),
        (["power", ""], [claim.id for claim in REGISTER.claims]),
        (["power", "G1", "--profile", ""], list(PROFILES)),
        (["compare", "HEAD", "parity_i"], ["parity_interpolation"]),
        (["report", "--profile", "p"], ["paper"]),
    ],
)
def test_names_that_begin_as_typed(
    words: list[str], names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    assert sorted(completed(*words)) == sorted(names)


def test_figures_are_offered_by_their_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    asked = {f"question-{each.id}" for each in REGISTER.questions}
    assert {*completed("provenance", "")} - asked == {spec.id for spec in FIGURES}
    folder = tmp_path / "reports/quick/figures"
    folder.mkdir(parents=True)
    for name in ("beyond-exits", "beyond-exits-wide", "question-Q1"):
        (folder / f"{name}.png").touch()
    monkeypatch.chdir(tmp_path)
    assert completed("provenance", "") == ["beyond-exits", "question-Q1"]


@pytest.mark.parametrize("words", [["show", ""], ["provenance", ""], ["claims", ""], ["power", ""]])
def test_nothing_is_offered_outside_of_a_project(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert completed(*words) == []
    (tmp_path / "claims.yaml").write_text("claims: 3\n")
    (tmp_path / "params.yaml").write_text("experiments: [\n")
    assert completed(*words) == []


def test_nothing_slow_is_imported_while_completing() -> None:
    """One process for all: what any command imports would be seen."""
    lines = [
        ["show", "par"],
        ["claims", "G"],
        ["power", "G"],
        ["provenance", "g"],
        ["report", "--profile", ""],
    ]
    lines += [[name, "--"] for name in COMMANDS] + [[""]]
    code = (
        "import sys\n"
        "from click.shell_completion import BashComplete\n"
        "from pondering.cli.main import main\n"
        "shell = BashComplete(main, {}, 'pondering', '_PONDERING_COMPLETE')\n"
        f"for *words, typed in {lines!r}:\n"
        "    assert shell.get_completions(words, typed), words\n"
        f"    assert not {SLOW!r} & set(sys.modules), words\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_a_script_that_it_can_read(shell: str) -> None:
    environment = os.environ | {"_PONDERING_COMPLETE": f"{shell}_source"}
    command = [sys.executable, "-m", "pondering.cli"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert f"_PONDERING_COMPLETE={shell}_complete" in done.stdout
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=done.stdout, text=True, check=True)
