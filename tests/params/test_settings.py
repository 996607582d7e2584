"""Replicas: their settings, options, seeds and names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import tiny

from pondering.params.mechanisms import MECHANISMS
from pondering.params.ranges import GRIDS
from pondering.params.read import load_params
from pondering.params.replica import Options, Replica, read_variant, setting_text, title_of
from pondering.project.errors import UserError

BIAS = {"tau": 0.001, "halt_bias": -3}
BETA = {"lambda_p": 0.2, "halt_bias": 1, "beta": 0.1}


def test_a_mapping_adds_replicas_with_options() -> None:
    config = tiny.config(act={"tau": [0.001, BIAS]}, pondernet={"lambda_p": [0.2, BETA]})
    assert config.replicas("act") == (
        Replica("act", 0.001, 0),
        Replica("act", 0.001, 7),
        Replica("act", 0.001, 0, (("halt_bias", -3.0),)),
        Replica("act", 0.001, 7, (("halt_bias", -3.0),)),
    )
    assert config.replicas("pondernet")[2].options == (("beta", 0.1), ("halt_bias", 1.0))
    assert config.plain()["act"]["tau"] == config.of_mechanism("act")["act"]["tau"] == [0.001, BIAS]


def test_a_replica_that_is_listed_twice_trains_once() -> None:
    again = {"tau": [0.001, 0.1], "seeds": [7, 6]}
    config = tiny.config(act={"tau": [0.001, 0.001, again]})
    pairs = [(0.001, 0), (0.001, 7), (0.001, 6), (0.1, 7), (0.1, 6)]
    assert config.replicas("act") == tuple(Replica("act", *each) for each in pairs)


def test_an_option_equal_to_the_usual_value_is_no_option() -> None:
    plain = tiny.config(act={"tau": [0.001, 0.1]})
    again = [{"tau": 0.001}, {"tau": 0.1, "halt_bias": 0.0, "tau_warmup": 0}]
    assert tiny.config(act={"tau": again}) == plain


def test_a_setting_may_have_other_seeds() -> None:
    again = {"tau": 0.1, "halt_bias": [-3, 0], "seeds": {"from": 5, "count": 2}}
    config = tiny.config(act={"tau": [0.1, again]})
    names = [(each.seed, dict(each.options)) for each in config.replicas("act")]
    low = {"halt_bias": -3.0}
    assert names == [(0, {}), (7, {}), (5, low), (6, low), (5, {}), (6, {})]
    assert config.plain()["act"]["tau"][1] == {"tau": 0.1, "halt_bias": -3.0, "seeds": [5, 6]}


def test_a_setting_with_options_is_never_traced() -> None:
    trace = {"examples": 1, "trace": {"tau": 0.001}}
    act = {"tau": [BIAS, 0.1, 0.3]}
    config = tiny.config(act=act, pondernet={"lambda_p": [BETA, 0.6]}, evaluation=trace)
    assert (config.traced("act"), config.traced("pondernet")) == (0.1, 0.6)


# mechanism, its list, the error line after "tiny."
WRONG: list[tuple[str, list[Any], str]] = [
    ("act", [0.1, {"halt_bias": -3}], "act.tau.1.tau: missing"),
    ("act", [{"tau": 1, "halt_bias": "x"}], "act.tau.0.halt_bias: 'x' is not allowed: Input sho"),
    ("act", [{"tau": 1, "halt_bais": 0}], "act.tau.0.halt_bais: unknown key; allowed: tau, halt_"),
    ("act", [{"tau": 1, "max_steps": 3}], "act.tau.0.max_steps: unknown key; allowed: tau, halt_"),
    ("act", [BIAS], "act: {'tau': [{'tau': 0.001, 'halt_bias': -3}]} is not allowed: a sett"),
    ("pondernet", [0.5, {"lambda_p": 0.5, "kl": "p"}], "pondernet.lambda_p.1.kl: 'p' is not al"),
    ("repeat", [1, {"rho": 2, "halt_bias": 1}], "repeat.rho.1.halt_bias: unknown key; allowed: "),
]


@pytest.mark.parametrize(("mechanism", "values", "expected"), WRONG)
def test_a_wrong_list_is_one_error_line(
    tmp_path: Path, mechanism: str, values: list[Any], expected: str
) -> None:
    block = {MECHANISMS[mechanism].setting: values}
    path = tiny.write(tmp_path, tiny.document(**{mechanism: block}))
    with pytest.raises(UserError) as caught:
        load_params(path)
    assert str(caught.value).startswith(f"{path}: tiny.{expected}")


def test_lists_of_options_are_combined_the_last_fastest() -> None:
    product = {"lambda_p": 0.2, "beta": [0.01, 0.1], "kl": ["p_prior", "prior_p"]}
    config = tiny.config(pondernet={"beta": 0.01, "lambda_p": [product, 0.3]})
    assert config.mechanism("pondernet").settings == (
        0.2,
        {"lambda_p": 0.2, "kl": "prior_p"},
        {"lambda_p": 0.2, "beta": 0.1},
        {"lambda_p": 0.2, "beta": 0.1, "kl": "prior_p"},
        0.3,
    )


def test_a_papers_list_may_be_given_by_name() -> None:
    config = tiny.config(
        act={"tau": "graves_text"},
        pondernet={"lambda_p": ["banino_priors", {"lambda_p": "banino_priors", "beta": 0.5}]},
    )
    assert config.mechanism("act").settings == GRIDS["graves_text"]
    priors, again = GRIDS["banino_priors"], config.mechanism("pondernet").settings
    assert again == (*priors, *({"lambda_p": each, "beta": 0.5} for each in priors))


def test_every_option_is_a_value_of_the_block_or_the_halting_bias() -> None:
    for entry in MECHANISMS.values():
        assert set(entry.sweeps) <= {"halt_bias", *entry.arguments}
        assert not set(entry.sweeps) & {entry.setting, "max_steps"}


def test_a_replicas_text_does_not_depend_on_the_type_of_its_setting() -> None:
    for setting in (0.1, 0.10000000149011612):  # the second is float32's
        assert Replica("act", setting, 7).text() == "act, tau 0.1, seed 7"
    assert Replica("repeat", 1, 0) == Replica("repeat", 1.0, 0)


@pytest.mark.parametrize(
    ("setting", "text"), [(3, "3"), (3.0, "3"), (0.001, "0.001"), (1e-5, "1e-05"), (0.0, "0")]
)
def test_a_setting_as_text(setting: float, text: str) -> None:
    assert setting_text(setting) == text


def test_the_traced_setting_is_the_nearest_to_the_value_in_params() -> None:
    values = {"act": {"tau": [0.3, 0.1, 0.2]}}
    for tau, traced in ((0.1, 0.1), (0.27, 0.3), (0.25, 0.2)):
        trace = {"examples": 1, "trace": {"tau": tau}}
        config = tiny.config(**values, evaluation=trace)
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
def test_options_are_written_in_the_mechanisms_name_and_read_back(
    options: Options, name: str, title: str
) -> None:
    replica = Replica("act", 0.001, 7, options)
    assert replica.row() == {"mechanism": name, "setting": 0.001, "seed": 7}
    assert read_variant(name) == ("act", options)
    assert title_of(name) == title
    assert Replica.of_row(*replica.row().values()) == replica
    assert Replica.of_record("act", json.loads(json.dumps(replica.record()))) == replica
    words = title.removeprefix("ACT")
    assert replica.text() == f"act, tau 0.001{words}, seed 7"


def test_a_record_without_options_has_setting_and_seed_alone() -> None:
    assert list(Replica("act", 0.1, 7).record().items()) == [("setting", 0.1), ("seed", 7)]


@pytest.mark.parametrize("name", ["act[", "act[]", "[a=1]", "", "act]"])
def test_names_without_brackets_have_no_options(name: str) -> None:
    assert read_variant(name) == (name, ())
