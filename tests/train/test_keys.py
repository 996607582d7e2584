"""The values that a training's key holds: those that it reads, where they are not the default."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import Field, create_model
from support import tiny

from pondering.params import schema
from pondering.params.mechanisms import MECHANISMS
from pondering.params.ranges import Count
from pondering.params.read import ExperimentConfig, load_params
from pondering.project.errors import UserError
from pondering.train import keys

ROOT = Path(__file__).parents[2]


def changed(folder: Path, change: dict[str, Any]) -> set[str]:
    """The mechanisms whose keys a change of values reaches."""
    before, after = tiny.config(folder), tiny.config(folder, **change)
    return {
        each
        for each in MECHANISMS
        if keys.training_key(before, each) != keys.training_key(after, each)
    }


EVERY = set(MECHANISMS)
LEARN = {name for name, each in MECHANISMS.items() if each.learns}
CHANGES: list[tuple[dict[str, Any], set[str]]] = [
    ({"evaluation": {"examples": 11}}, set()),
    ({"evaluation": {"trace": {"tau": 0.1, "sequences": 3}}}, set()),
    ({"training": {"clip": 2.0}}, EVERY),
    ({"training": {"clip": None}}, EVERY),
    ({"training": {"updates": 31}}, EVERY),
    ({"training": {"validation": None}}, set()),
    ({"network": {"hidden": 32}}, EVERY),
    ({"task": {"bits": 4}}, EVERY),
    ({"seeds": [0, 7, 8]}, EVERY),
    ({"halting": {"halt_bias": 1.0}}, LEARN),  # a fixed repeat's does not learn
    ({"training": {"halting_rate": 0.1}}, LEARN),
    ({"halting": {"carry": "last"}}, {"act", "pondernet"}),
    ({"halting": {"carry": "mean_field", "reads": "h"}}, set()),
    ({"network": {"init": "torch", "forget_bias": None}}, set()),
    ({"act": {"tau_warmup": 0}, "pondernet": {"kl": "p_prior"}}, set()),
    ({"act": {"tau_warmup": 3}}, {"act"}),
    ({"halting": {"first_step_flag": False}}, EVERY),
    ({"halting": {"max_steps": 5}}, EVERY - {"repeat"}),
    ({"halting": {"epsilon": 0.1}}, {"act"}),
    ({"act": {"tau": [0.01, 0.2]}}, {"act"}),
    ({"act": {"updates": None, "learning_rate": None}}, set()),
    ({"act": {"updates": 30, "learning_rate": 0.01}}, set()),  # what the experiment has
    ({"act": {"updates": 29}}, {"act"}),
    ({"pondernet": {"beta": 0.02}}, {"pondernet"}),
    ({"pondernet": {"epsilon": 0.05}}, {"pondernet"}),
    ({"pondernet": {"max_steps": 4}}, set()),  # what the experiment has
    ({"pondernet": {"max_steps": 5}}, {"pondernet"}),
]


@pytest.mark.parametrize(("change", "reached"), CHANGES)
def test_a_value_reaches_the_trainings_that_read_it(
    tmp_path: Path, change: dict[str, Any], reached: set[str]
) -> None:
    assert changed(tmp_path, change) == reached


def test_what_a_mechanisms_own_value_overrides_is_not_read(tmp_path: Path) -> None:
    own = {"pondernet": {"max_steps": 3, "updates": 7}}
    before = tiny.config(tmp_path, **own)
    after = tiny.config(tmp_path, **own, halting={"max_steps": 5}, training={"updates": 31})
    assert keys.training_key(before, "pondernet") == keys.training_key(after, "pondernet")
    assert keys.training_key(before, "act") != keys.training_key(after, "act")


def test_a_replicas_key_does_not_know_of_the_others(tmp_path: Path) -> None:
    few = keys.replica_keys(tiny.config(tmp_path, act={"tau": [0.1]}), "act", "data")
    more = keys.replica_keys(tiny.config(tmp_path, seeds=[7, 1, 0]), "act", "data")
    assert few == (more[5], more[3])  # tau 0.1 with seeds 0 and 7
    assert len(set(more)) == 6
    other = keys.replica_keys(tiny.config(tmp_path, seeds=[7, 1, 0]), "act", "others")
    assert not set(more) & set(other)


def test_a_field_that_is_new_and_has_its_default_changes_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = tiny.config(tmp_path)
    after = newer(before)
    monkeypatch.setattr(keys, "ExperimentConfig", type(after))
    assert after.of_mechanism("act")["training"]["warmth"] == 3
    assert before.of_mechanism("act") != after.of_mechanism("act")
    for mechanism in MECHANISMS:
        assert keys.training_key(before, mechanism) == keys.training_key(after, mechanism)
        record = json.loads(json.dumps(before.of_mechanism(mechanism)))
        assert keys.agrees(record, after, mechanism)
    warmer = newer(before, warmth=4)
    assert keys.training_key(before, "act") != keys.training_key(warmer, "act")


def test_an_option_counts_as_the_value_that_it_stands_for(tmp_path: Path) -> None:
    """What the block says anyway is no option, and a value of the block that is overridden none."""

    def keyed(own: float, taus: list[Any]) -> tuple[str, ...]:
        config = tiny.config(tmp_path, halting={"halt_bias": own}, act={"tau": taus})
        return keys.replica_keys(config, "act", "")

    plain = keyed(0.0, [0.1, 0.2])
    assert keyed(0.0, [0.1, {"tau": 0.2, "halt_bias": 0}]) == plain
    other = keyed(1.0, [0.1, {"tau": 0.2, "halt_bias": 0}])
    count = len(plain) // 2
    assert other[count:] == plain[count:] and not set(other[:count]) & set(plain)
    with pytest.raises(UserError, match=r"act, tau 0.1, seed 0: is named twice"):
        keyed(0.0, [0.1, {"tau": 0.1, "halt_bias": 0}])


def test_an_option_that_the_halting_block_has_too_is_the_mechanisms(tmp_path: Path) -> None:
    def keyed(mechanism: str, block: dict[str, Any]) -> tuple[str, ...]:
        config = tiny.config(tmp_path, halting={"epsilon": 0.01}, **{mechanism: block})
        return keys.replica_keys(config, mechanism, "")

    mixed = keyed("pondernet", {"lambda_p": [0.2, {"lambda_p": 0.2, "epsilon": 0.05}]})
    count = len(mixed) // 2
    assert mixed[:count] == keyed("pondernet", {"lambda_p": [0.2]})
    assert mixed[count:] == keyed("pondernet", {"lambda_p": [0.2], "epsilon": 0.05})
    assert not set(mixed[:count]) & set(mixed[count:])


@pytest.mark.parametrize("profile", ["quick", "reduced", "paper"])
def test_every_network_of_the_project_has_a_key_of_its_own(profile: str) -> None:
    """Two with one key would be taken for the same network, and one be lost."""
    for name, config in load_params(ROOT / "params.yaml", profile).experiments.items():
        for mechanism in config.mechanisms:
            found = keys.replica_keys(config, mechanism, "")
            assert len({*found}) == len(found), (name, mechanism)


def newer(config: ExperimentConfig, **more: Any) -> ExperimentConfig:
    """An experiment after a field `warmth` with a default has come to the training loop."""
    field = (Count, Field(3, description="of it"))
    training = create_model("Training", __base__=schema.TrainingConfig, warmth=field)
    experiment = create_model("Experiment", __base__=ExperimentConfig, training=(training, ...))
    values = {name: getattr(config, name) for name in ExperimentConfig.model_fields}
    given = training.model_validate(config.training.model_dump() | more)
    return experiment.model_construct(**values | {"training": given})


def test_a_tasks_own_default_is_the_same_written_or_not() -> None:
    config = load_params(ROOT / "params.yaml", "paper").experiment("addition")
    silent = {"name": "addition"}
    said = silent | {"digits": 5, "length": [1, 5], "test_length": 3}
    first, second, third = (
        keys.training_key(config.model_copy(update={"task": task}), "act")
        for task in (silent, said, said | {"digits": 4})
    )
    assert first == second != third


def test_defaults_stay_what_they_were() -> None:
    """No key holds them, so a changed one would leave trainings up to date that it reaches."""
    blocks = (schema.NetworkConfig, schema.HaltingConfig, schema.TrainingConfig)
    fields = {
        name: field.default
        for block in blocks
        for name, field in block.model_fields.items()
        if not field.is_required()
    }
    fixed = {"clip": None, "log_points": 200, "validation": None}
    assert fixed.items() <= fields.items()
    own = {n: {k: d for k, (_, d) in each.block.items()} for n, each in MECHANISMS.items()}
    assert {k: own["pondernet"][k] for k in ("beta", "max_steps", "epsilon")} == {
        "beta": ..., "max_steps": None, "epsilon": None,
    }  # fmt: skip


def test_a_record_agrees_with_the_values_that_the_training_reads(tmp_path: Path) -> None:
    config = tiny.config(tmp_path)
    record = json.loads(json.dumps(config.of_mechanism("repeat")))
    assert keys.agrees(record, tiny.config(tmp_path, halting={"epsilon": 0.2}), "repeat")
    assert not keys.agrees(record, tiny.config(tmp_path, seeds=[0]), "repeat")
    assert not keys.agrees(record, tiny.config(tmp_path, network={"hidden": 8}), "repeat")
    for damaged in (None, [], {}, record | {"repeat": {"rho": [0]}}, record | {"more": 1}):
        assert not keys.agrees(damaged, config, "repeat")
