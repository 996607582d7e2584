"""A replica's hash covers the values that it reads and its data; and a replica's file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as save_numbers
from support import tiny

from pondering.params import schema
from pondering.params.mechanisms import MECHANISMS
from pondering.params.read import load_params
from pondering.params.schema import ExperimentConfig
from pondering.project.errors import UserError
from pondering.tasks import make_task
from pondering.train import replica
from pondering.train.build import make_network

ROOT = Path(__file__).parents[2]


def readers_of(change: dict[str, Any]) -> set[str]:
    """The mechanisms that read a changed value."""
    before, after = tiny.config(), tiny.config(**change)
    return {each for each in MECHANISMS if values_of(before, each) != values_of(after, each)}


def values_of(config: ExperimentConfig, mechanism: str) -> list[dict[str, Any]]:
    """The values that each replica of a mechanism reads."""
    return [replica.values(config, each) for each in config.replicas(mechanism)]


EVERY = set(MECHANISMS)
LEARN = {name for name, each in MECHANISMS.items() if each.learns}
CHANGES: list[tuple[dict[str, Any], set[str]]] = [
    ({"evaluation": {"examples": 11}}, set()),
    ({"training": {"clip": 2.0}}, EVERY),
    ({"training": {"updates": 31}}, EVERY),
    ({"training": {"draws": "host"}}, set()),
    ({"training": {"draws": "device"}}, EVERY),
    ({"network": {"hidden": 32}}, EVERY),
    ({"task": {"bits": 4}}, EVERY),
    ({"halting": {"halt_bias": 1.0}}, LEARN),  # a fixed repeat does not learn to halt
    ({"training": {"halting_rate": 0.1}}, LEARN),
    ({"halting": {"carry": "last"}}, {"act", "pondernet"}),
    ({"halting": {"carry": "mean_field", "reads": "h"}}, set()),
    ({"halting": {"reads": "state"}}, LEARN),
    ({"act": {"tau_warmup": 0}, "pondernet": {"kl": "p_prior"}}, set()),
    ({"act": {"tau_warmup": 3}}, {"act"}),
    ({"halting": {"first_step_flag": False}}, EVERY),
    ({"halting": {"max_steps": 5}}, EVERY - {"repeat"}),
    ({"halting": {"epsilon": 0.1}}, {"act"}),
    ({"act": {"tau": [0.01, 0.2]}}, {"act"}),
    ({"act": {"updates": 30, "learning_rate": 0.01}}, set()),  # the experiment's values
    ({"pondernet": {"beta": 0.02}}, {"pondernet"}),
    ({"pondernet": {"epsilon": 0.05}}, {"pondernet"}),
    ({"pondernet": {"max_steps": 5}}, {"pondernet"}),
]


@pytest.mark.parametrize(("change", "reached"), CHANGES)
def test_a_value_reaches_the_trainings_that_read_it(
    change: dict[str, Any], reached: set[str]
) -> None:
    assert readers_of(change) == reached
    before, after = tiny.config(), tiny.config(**change)
    task = make_task(before.task, "tiny")
    for mechanism in EVERY - reached:  # of one hash, so of the same shapes
        made = [make_network(c, task, c.replicas(mechanism)) for c in (before, after)]
        usual, other = ([p.shape for p in each.parameters()] for each in made)
        assert usual == other


def test_an_overridden_value_is_not_read() -> None:
    block = {"max_steps": 3, "updates": 7}
    before = tiny.config(pondernet=block)
    after = tiny.config(pondernet=block, halting={"max_steps": 5}, training={"updates": 31})
    assert values_of(before, "pondernet") == values_of(after, "pondernet")
    assert values_of(before, "act") != values_of(after, "act")


@pytest.mark.parametrize("profile", ["quick", "reduced", "paper"])
def test_no_two_networks_of_the_project_have_one_hash(profile: str) -> None:
    """Two networks of one hash would share a file, and one would be lost."""
    params = load_params(ROOT / "params.yaml", profile)
    for name, config in params.experiments.items():
        for mechanism in config.mechanisms:
            found = replica.by_hash(params, name, mechanism)
            assert len(found) == len(config.replicas(mechanism)), (name, mechanism)


def test_a_tasks_default_may_be_written_out() -> None:
    config = load_params(ROOT / "params.yaml", "paper").experiment("addition")
    short = {"name": "addition"}
    long = short | {"digits": 5, "length": [1, 5], "test_length": 3}
    first, second, third = (
        values_of(config.model_copy(update={"task": task}), "act")
        for task in (short, long, long | {"digits": 4})
    )
    assert first == second != third


def test_defaults_have_not_changed() -> None:
    """No hash covers a default, so a changed default would train nothing again."""
    blocks = (schema.NetworkConfig, schema.HaltingConfig, schema.TrainingConfig)
    fields = {
        name: field.default
        for block in blocks
        for name, field in block.model_fields.items()
        if not field.is_required()
    }
    assert fields == {
        "init": "torch", "forget_bias": None, "reads": "h", "carry": "mean_field",
        "clip": None, "log_points": 200, "validation": None,
        "decay": "none", "halting_rate": None, "draws": "host",
    }  # fmt: skip
    options = {
        name: {n: d for n, (_, d) in each.arguments.items()} for name, each in MECHANISMS.items()
    }
    assert {name: each for name, each in options.items() if each} == {
        "act": {"tau_warmup": 0},
        "pondernet": {"beta": ..., "max_steps": None, "epsilon": None, "kl": "p_prior"},
        "correctness": {"explore": 0.1, "detach": False},
        "random_depth": {"progressive": True},
    }


DONE = replica.Finished(
    {"cell.weight": np.ones((2, 3), np.float32)},
    np.array([[1.0, 0.5, np.nan, 2.0, 0.1, 30.0]]),
    "diverged",
    {"commit": "c", "wall_seconds": 1.5},
)


def test_a_file_holds_the_whole_replica(tmp_path: Path) -> None:
    path = replica.file_of(tmp_path, "ab")
    assert replica.read(path) is None
    replica.write(path, DONE)
    found = replica.read(path)
    assert found is not None and found[2:] == DONE[2:]
    np.testing.assert_array_equal(found.curve, DONE.curve)
    np.testing.assert_array_equal(found.parameters["cell.weight"], np.ones((2, 3)))


def test_a_damaged_file_is_refused_by_name(tmp_path: Path) -> None:
    path = replica.file_of(tmp_path, "ab")
    replica.write(path, DONE)
    for content in (path.read_bytes()[:-9], b"", save_numbers({"more": np.zeros(1)})):
        path.write_bytes(content)
        with pytest.raises(UserError, match=r"ab\.safetensors: truncated or damaged .*; delete it"):
            replica.read(path)


def test_a_copy_inside_a_project_shares_its_replicas(tmp_path: Path) -> None:
    """`dvc exp run --temp` makes such a copy. A folder without dvc.yaml shares nothing."""
    copy = tmp_path / ".dvc/tmp/exps/one"
    copy.mkdir(parents=True)
    assert replica.file_of(copy, "ab") == copy / "data/replicas/ab.safetensors"
    for each in (tmp_path, copy):
        (each / "dvc.yaml").touch()
    ours = tmp_path / "data/replicas/ab.safetensors"
    assert replica.file_of(copy, "ab") == replica.file_of(tmp_path, "ab") == ours
