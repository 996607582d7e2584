"""Settings with options are evaluated and shown as mechanisms of another name."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from support.argv import output, refusal
from support.untrained import stage_of, table_of, traces_of

from pondering.evaluate.stage import Evaluation
from pondering.results.tables import best_setting, headline, per_seed

ACT = {"tau": 0.01, "halt_bias": -3.0}
PONDERNET = {"lambda_p": 0.3, "beta": 0.5, "halt_bias": 1.0}
VARIANTS = {
    "act": ("act[halt_bias=-3]", 0.01),
    "pondernet": ("pondernet[beta=0.5,halt_bias=1]", 0.3),
}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    settings = {"act": {"tau": [0.01, ACT, 0.1]}, "pondernet": {"lambda_p": [0.3, PONDERNET]}}
    return stage_of(tmp_path_factory.mktemp("options"), {}, **settings)


@pytest.fixture(scope="module")
def table(stage: Evaluation) -> pd.DataFrame:
    return table_of(stage)


def test_settings_with_options_have_rows_and_no_traces(
    stage: Evaluation, table: pd.DataFrame
) -> None:
    for name, (variant, setting) in VARIANTS.items():
        rows = table[table["mechanism"] == variant]
        assert set(zip(rows["setting"], rows["seed"], strict=True)) == {(setting, 0), (setting, 7)}
        plain = table[(table["mechanism"] == name) & (table["setting"] == setting)]
        assert (rows["loss"].to_numpy() != plain["loss"].to_numpy()).all()
        assert {each["mechanism"] for each in traces_of(stage, name)} == {name}
        assert traces_of(stage, variant) == [], "settings with options are not traced"
    metrics = json.loads(stage.layout.metrics("tiny").read_text())
    plain = per_seed(headline(table[table["mechanism"] == "act"]))
    best = plain[plain["setting"] == best_setting(plain, "act")]["error"].mean()
    assert metrics["act"] == pytest.approx(best, abs=1e-4), "metrics leave options out"


def test_show_takes_a_name_with_options(
    stage: Evaluation, table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(stage.layout.root))
    show = ("show", "tiny", "--mechanism")
    assert "act, tau 0.01, seed 0" in output(*show, "act", "--setting", "0.01")
    named = output(*show, "act[halt_bias=-3]")
    assert "act, tau 0.01, halt_bias -3, seed 0, running; on the test set: error" in named
    assert ": act, act[halt_bias=-3]\n" in refusal(*show, "act[halt_bias=-4]")
    line = refusal(*show, "pondernet[halt_bias=1.0,beta=0.50]", "--setting", "0.6")
    assert line.startswith("error: tiny/pondernet[beta=0.5,halt_bias=1]: no such network; ")
