"""`pondering check` on copies of the real params.yaml with one mistake each."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from pondering.cli.main import main

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


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("cell: tanh_rnn", "cell: rnn",
         r"network\.cell: 'rnn' is unknown; allowed: tanh_rnn, gru, lstm, conv_mlp$"),
        ("cell: tanh_rnn", "cell: conv_mlp", r"parity\.\w+\.network\.cell: 'conv_mlp' cannot read"),
        ("cell: conv_mlp", "cell: lstm", r"mnist\.\w+\.network\.cell: 'lstm' cannot read digits"),
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
