"""A sweep in which some settings name options: evaluated, told and shown as one of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from support.argv import refused, shown
from support.untrained import stage_of, table_of, traces_of

from pondering.evaluate.stage import Evaluation
from pondering.results.tables import best_setting, headline, per_seed

PARITY = {
    "name": "parity", "layout": "leading", "bits": 3, "train_nonzero": [1, 3],
    "test_nonzero": {"test": [1, 3]},
}  # fmt: skip
ACT = {"tau": 0.01, "halt_bias": -3.0}
PONDERNET = {"lambda_p": 0.3, "beta": 0.5, "halt_bias": 1.0}
VARIANTS = {
    "act": ("act[halt_bias=-3]", 0.01),
    "pondernet": ("pondernet[beta=0.5,halt_bias=1]", 0.3),
}


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Evaluation:
    settings = {"act": {"tau": [0.01, ACT, 0.1]}, "pondernet": {"lambda_p": [0.3, PONDERNET]}}
    return stage_of(tmp_path_factory.mktemp("options"), PARITY, **settings)


@pytest.fixture(scope="module")
def table(stage: Evaluation) -> pd.DataFrame:
    return table_of(stage)


def test_rows_with_options_stand_beside_the_others(stage: Evaluation, table: pd.DataFrame) -> None:
    for name, (variant, setting) in VARIANTS.items():
        own = table[table["mechanism"] == variant]
        assert set(zip(own["setting"], own["seed"], strict=True)) == {(setting, 0), (setting, 7)}
        plain = table[(table["mechanism"] == name) & (table["setting"] == setting)]
        assert (own["loss"].to_numpy() != plain["loss"].to_numpy()).all()
        assert {each["mechanism"] for each in traces_of(stage, name)} == {name}
        assert traces_of(stage, variant) == [], "only what has no options is traced"
    metrics = json.loads(stage.layout.metrics("tiny").read_text())
    plain = per_seed(headline(table[table["mechanism"] == "act"]))
    best = plain[plain["setting"] == best_setting(plain, "act")]["error"].mean()
    assert metrics["act"] == pytest.approx(best, abs=1e-4), "options are another mechanism"


def test_one_with_options_is_shown_by_its_name(
    stage: Evaluation, table: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(stage.layout.root))
    show = ("show", "tiny", "--mechanism")
    assert "act, tau 0.01, seed 0" in shown(*show, "act", "--setting", "0.01")
    named = shown(*show, "act[halt_bias=-3]")
    assert "act, tau 0.01, halt_bias -3, seed 0, running; on the test set: error" in named
    said = "act[halt_bias=-4] is not trained; there are: act, act[halt_bias=-3]"
    assert refused(*show, "act[halt_bias=-4]") == f"error: {said}\n"
    said = "tiny/pondernet[beta=0.5,halt_bias=1]: no such network; there are: 0.3 seed 0, "
    none = refused(*show, "pondernet[halt_bias=1.0,beta=0.50]", "--setting", "0.6")
    assert none == f"error: {said}0.3 seed 7\n"
