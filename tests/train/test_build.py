"""The table of mechanisms: sound as it is, and one line where an entry is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from support import tiny

from pondering.cli.main import main
from pondering.model import halting
from pondering.params.mechanisms import MECHANISMS, SHARED
from pondering.params.schema import NAME, ExperimentConfig
from pondering.project.errors import UserError
from pondering.train.build import make_halting

ROOT = Path(__file__).parents[2]


class Mute:
    """Answers nothing of the contract but a class variable."""

    learns = False

    def __init__(self, tau: Any, epsilon: float, max_steps: int) -> None:
        self.max_steps = max_steps


def test_names_become_keys_files_and_signs_of_their_own() -> None:
    entries = MECHANISMS.values()
    for name, entry in MECHANISMS.items():
        assert NAME.fullmatch(name) and name not in ExperimentConfig.model_fields
        fields = [entry.setting, *entry.own]
        assert len(set(fields)) == len(fields)
        assert not set(fields) & set(SHARED)
    for part in ("title", "symbol"):
        assert len({getattr(entry, part) for entry in entries}) == len(entries)


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_gets_its_settings_and_values(tmp_path: Path, name: str) -> None:
    config = tiny.config(tmp_path, halting={"epsilon": 0.25}, pondernet={"beta": 0.5})
    settings = config.settings(name)
    made: Any = make_halting(config, name, settings)
    assert type(made) is getattr(halting, MECHANISMS[name].path.partition(":")[2])
    assert torch.equal(getattr(made, MECHANISMS[name].setting), torch.tensor(settings))
    assert made.max_steps == (2 if name == "repeat" else 4)
    if name == "act":
        assert made.epsilon == 0.25
    if name == "pondernet":
        assert (made.beta, made.epsilon) == (0.5, None)  # ACT's epsilon is not for PonderNet


def test_own_values_win_over_the_shared_ones(tmp_path: Path) -> None:
    config = tiny.config(tmp_path, pondernet={"max_steps": 3, "epsilon": 0.1})
    made: Any = make_halting(config, "pondernet", 0.5)
    assert (made.max_steps, made.epsilon) == (3, 0.1)
    assert make_halting(config, "act", 0.5).max_steps == 4


WRONG: dict[str, dict[str, Any]] = {
    "No module named 'pondering.haltin'": {"path": "pondering.haltin:ACT"},
    "module 'pondering.model.halting' has no attribute 'ACTS'": {
        "path": "pondering.model.halting:ACTS"
    },
    "'HaltingConfig' object has no attribute 'epsilom'": {"shares": ("epsilom",)},
    "unexpected keyword argument 'halt_bias'": {"shares": ("epsilon", "max_steps", "halt_bias")},
    "unexpected keyword argument 'tau'": {"path": "pondering.model.halting:PonderNet"},
}


@pytest.mark.parametrize("said", WRONG)
def test_a_wrong_entry_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setitem(MECHANISMS, "act", replace(MECHANISMS["act"], **WRONG[said]))
    with pytest.raises(UserError) as caught:
        make_halting(tiny.config(tmp_path), "act", 0.1)
    line = str(caught.value)
    assert line.startswith("src/pondering/params/mechanisms.py: act: ") and said in line
    assert len(line.splitlines()) == 1


def test_a_class_that_does_not_answer_the_contract_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MECHANISMS, "act", replace(MECHANISMS["act"], path=f"{__name__}:Mute"))
    with pytest.raises(UserError) as caught:
        make_halting(tiny.config(tmp_path), "act", 0.1)
    lacks = "start, step, carry, objective, predict, ponder_time, at_inference, scores_every_step"
    assert str(caught.value).startswith(f"{__name__}:Mute: {lacks}: missing")


def test_check_finds_it_before_any_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = tiny.document()
    values["tiny"]["reduced"] = values["tiny"]["paper"]
    tiny.write(tmp_path, values)
    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(main, ["check"]).exit_code == 0
    entry = replace(MECHANISMS["repeat"], path="pondering.model.halting:Repeat")
    monkeypatch.setitem(MECHANISMS, "repeat", entry)
    done = CliRunner().invoke(main, ["check"])
    assert done.exit_code == 2
    assert done.output.startswith("error: src/pondering/params/mechanisms.py: repeat: ")
    assert done.output.count("\n") == 1
