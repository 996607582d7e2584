"""Replicas: which there are, and what they are called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support import tiny

from pondering.params.ranges import setting_text
from pondering.params.replica import Options, Replica, read_variant, title_of


def test_an_experiment_has_one_of_each_setting_and_seed_settings_outermost(tmp_path: Path) -> None:
    pairs = [(0.3, 0), (0.3, 7), (0.6, 0), (0.6, 7)]
    wanted = tuple(Replica("pondernet", *each) for each in pairs)
    assert tiny.config(tmp_path).replicas("pondernet") == wanted


def test_its_text_finds_it_again_however_its_setting_was_read() -> None:
    for setting in (0.1, 0.10000000149011612):  # as float32 has it
        assert Replica("act", setting, 7).text() == "act, tau 0.1, seed 7"
    assert Replica("repeat", 1, 0) == Replica("repeat", 1.0, 0)
    assert Replica("repeat", 1, 0).text() == Replica("repeat", 1.0, 0).text()
    assert Replica("act", 0.1, 7).row() == {"mechanism": "act", "setting": 0.1, "seed": 7}


@pytest.mark.parametrize(
    ("setting", "text"), [(3, "3"), (3.0, "3"), (0.001, "0.001"), (1e-5, "1e-05"), (0.0, "0")]
)
def test_there_is_one_way_to_write_a_setting(setting: float, text: str) -> None:
    assert setting_text(setting) == text


def test_the_setting_that_is_traced_is_named_and_not_chosen_by_its_results(tmp_path: Path) -> None:
    values = {"act": {"tau": [0.3, 0.1, 0.2]}}
    for tau, traced in ((0.1, 0.1), (0.27, 0.3), (0.25, 0.2)):
        trace = {"examples": 1, "trace": {"tau": tau}}
        config = tiny.config(tmp_path, **values, evaluation=trace)
        assert config.traced("act") == traced
    assert config.traced("pondernet") == 0.3


VARIANTS: list[tuple[Options, str, str]] = [
    ((), "act", "ACT"),
    ((("halt_bias", -3.0),), "act[halt_bias=-3]", "ACT, halt_bias -3"),
    (
        (("beta", 1e-5), ("prior", "geometric")),
        "act[beta=1e-05,prior=geometric]",
        "ACT, beta 1e-05, prior geometric",
    ),
]


@pytest.mark.parametrize(("options", "name", "title"), VARIANTS)
def test_options_stand_in_the_name_of_the_mechanism_and_are_read_back(
    options: Options, name: str, title: str
) -> None:
    replica = Replica("act", 0.001, 7, options)
    assert replica.row() == {"mechanism": name, "setting": 0.001, "seed": 7}
    assert read_variant(name) == ("act", options)
    assert title_of(name) == title
    assert Replica.of_row(*replica.row().values()) == replica
    assert Replica.of_record("act", json.loads(json.dumps(replica.record()))) == replica
    told = title.removeprefix("ACT")
    assert replica.text() == f"act, tau 0.001{told}, seed 7"
    assert replica.setting_name() == f"tau 0.001{told}"


def test_a_record_without_options_is_as_it_was() -> None:
    assert list(Replica("act", 0.1, 7).record().items()) == [("setting", 0.1), ("seed", 7)]
    assert Replica.of_record("act", {"setting": 0.1, "seed": 7}).options == ()


@pytest.mark.parametrize("name", ["act[", "act[]", "[a=1]", "", "act]"])
def test_what_is_no_variants_name_has_no_options(name: str) -> None:
    assert read_variant(name) == (name, ())
