"""`pondering check`: the real params.yaml with one mistake each, and mechanisms with one."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from click.testing import CliRunner
from support import tiny
from torch import Tensor

from pondering.cli.main import main
from pondering.model.halting import ACT
from pondering.params.mechanisms import MECHANISMS

ROOT = Path(__file__).parents[2]


def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> tuple[int, str]:
    text = (ROOT / "params.yaml").read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "params.yaml").write_text(text.replace(old, new, 1), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(main, ["check"])
    return result.exit_code, result.output


def test_the_real_parameters_are_sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    status, output = check(tmp_path, monkeypatch, "", "")
    assert status == 0, output


def test_mechanisms_without_seeds_are_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one, or all of an experiment."""
    monkeypatch.chdir(tmp_path)
    for without in (["repeat"], ["repeat", "act", "pondernet"]):
        document = tiny.document(**{name: {"seeds": []} for name in without})
        document["tiny"]["reduced"] = document["tiny"]["quick"]
        tiny.write(tmp_path, document)
        done = CliRunner().invoke(main, ["check"])
        assert done.exit_code == 0, (without, done.output, done.exception)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("cell: tanh_rnn", "cell: rnn",
         r"network\.cell: 'rnn' is unknown; allowed: tanh_rnn, gru, lstm, conv_mlp$"),
        ("cell: tanh_rnn", "cell: conv_mlp", r"parity\.\w+\.network\.cell: 'conv_mlp' cannot read"),
        ("cell: conv_mlp", "cell: lstm", r"\w+\.network\.cell: 'lstm' cannot read digits"),
        ("cell: tanh_rnn", "cell: tanh_rnn, forget_bias: 1.0",
         r"network\.forget_bias: 1 is not allowed: tanh_rnn has no forget gate; allowed: null, or "
         r"network\.cell: lstm$"),
        ("layout: leading", "layout: leadin", r"parity\.task.*leadin"),
        ("log_points: 50}", "log_points: 50, validation: {per_epoch: 1, factor: 0.5, patience: 1, "
         "stop_patience: 1}}", r"training\.validation: parity has no validation set"),
        ("tau: [0.001, 0.01, 0.1]", "tau: [0.001, -0.01]", r"parity\.quick\.act\.tau\.1: -0\.01"),
    ],
)  # fmt: skip
def test_a_mistake_is_one_line_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, said: str
) -> None:
    status, output = check(tmp_path, monkeypatch, old, new)
    assert status == 2
    assert len(output.strip().splitlines()) == 1
    assert re.search(said, output), output


class Wrong(ACT):
    """Its step makes the mistake that `mistake` names."""

    mistake: ClassVar[str] = ""

    def step(self, n: int, halt_logit: Tensor, state: Any) -> Any:
        weight, after = super().step(n, halt_logit, state)
        match self.mistake:
            case "one weight":
                return weight.sum(), after
            case "less than all":
                return weight / 2, after
            case "no state":
                return weight, None
            case "a setting without its axis":
                return weight * torch.as_tensor(self.tau).sign(), after
        return weight, after


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        ("one weight", r"p_n is \(\); \(K, B\) is due, here \(4, 5\)$"),
        ("less than all", r"p_n sums to 0\.5 in a row, and to 0 in one without input; 1 and 0"),
        ("no state", r"'NoneType' object has no attribute 'running' \(.*check\.py, line \d+\)$"),
        (
            "a setting without its axis",
            r"size of tensor a \(5\) .* \(.*test_check\.py, line \d+\)$",
        ),
    ],
)
def test_a_wrong_step_of_a_mechanism_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mistake: str, said: str
) -> None:
    document = tiny.document()
    document["tiny"]["reduced"] = document["tiny"]["quick"]
    tiny.write(tmp_path, document)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Wrong, "mistake", mistake)
    monkeypatch.setitem(MECHANISMS, "act", replace(MECHANISMS["act"], path=f"{__name__}:Wrong"))
    done = CliRunner().invoke(main, ["check"])
    assert (done.exit_code, len(done.output.splitlines())) == (2, 1), done.output
    assert done.output.startswith(f"error: {__name__}:Wrong: step: ")
    assert re.search(said, done.output.strip()), done.output
