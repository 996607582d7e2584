"""A replica's hash: the values that it reads and its data; and its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save as save_numbers
from support import tiny

from pondering.params import schema
from pondering.params.mechanisms import MECHANISMS, Mechanism
from pondering.params.read import ExperimentConfig, load_params
from pondering.project.errors import UserError
from pondering.train import replica

ROOT = Path(__file__).parents[2]


def changed(change: dict[str, Any]) -> set[str]:
    """The mechanisms whose keys a change of values reaches."""
    before, after = tiny.config(), tiny.config(**change)
    return {each for each in MECHANISMS if read_by(before, each) != read_by(after, each)}


def read_by(config: ExperimentConfig, mechanism: str) -> list[dict[str, Any]]:
    """What each replica of a mechanism reads."""
    return [replica.values(config, each) for each in config.replicas(mechanism)]


EVERY = set(MECHANISMS)
LEARN = {name for name, each in MECHANISMS.items() if each.learns}
CHANGES: list[tuple[dict[str, Any], set[str]]] = [
    ({"evaluation": {"examples": 11}}, set()),
    ({"training": {"clip": 2.0}}, EVERY),
    ({"training": {"updates": 31}}, EVERY),
    ({"network": {"hidden": 32}}, EVERY),
    ({"task": {"bits": 4}}, EVERY),
    ({"halting": {"halt_bias": 1.0}}, LEARN),  # a fixed repeat's does not learn
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
    ({"act": {"updates": 30, "learning_rate": 0.01}}, set()),  # what the experiment has
    ({"pondernet": {"beta": 0.02}}, {"pondernet"}),
    ({"pondernet": {"epsilon": 0.05}}, {"pondernet"}),
    ({"pondernet": {"max_steps": 5}}, {"pondernet"}),
]


@pytest.mark.parametrize(("change", "reached"), CHANGES)
def test_a_value_reaches_the_trainings_that_read_it(
    change: dict[str, Any], reached: set[str]
) -> None:
    assert changed(change) == reached


def test_what_a_mechanisms_own_value_overrides_is_not_read() -> None:
    own = {"pondernet": {"max_steps": 3, "updates": 7}}
    before = tiny.config(**own)
    after = tiny.config(**own, halting={"max_steps": 5}, training={"updates": 31})
    assert read_by(before, "pondernet") == read_by(after, "pondernet")
    assert read_by(before, "act") != read_by(after, "act")


def test_a_replicas_hash_does_not_know_of_the_others(tmp_path: Path) -> None:
    few = hashes(tmp_path, act={"tau": [0.1]})
    more = hashes(tmp_path, seeds=[7, 1, 0])
    assert few == [more[5], more[3]]  # tau 0.1 with seeds 0 and 7
    assert len(set(more)) == 6


def hashes(folder: Path, mechanism: str = "act", **quick: Any) -> list[str]:
    """Of the tiny experiment's replicas, in their order."""
    params = load_params(tiny.write(folder, tiny.document(**quick)))
    return [*replica.by_hash(params, "tiny", mechanism)]


def test_an_option_counts_as_the_value_that_it_stands_for(tmp_path: Path) -> None:
    """What the block says anyway is no option, and a value of the block that is overridden none."""

    def keyed(own: float, taus: list[Any]) -> list[str]:
        return hashes(tmp_path, halting={"halt_bias": own}, act={"tau": taus})

    plain = keyed(0.0, [0.1, 0.2])
    assert keyed(0.0, [0.1, {"tau": 0.2, "halt_bias": 0}]) == plain
    other = keyed(1.0, [0.1, {"tau": 0.2, "halt_bias": 0}])
    count = len(plain) // 2
    assert other[count:] == plain[count:] and not set(other[:count]) & set(plain)
    assert keyed(0.0, [0.1, {"tau": 0.1, "halt_bias": 0}]) == plain[:count]


@pytest.mark.parametrize("profile", ["quick", "reduced", "paper"])
def test_every_network_of_the_project_has_a_hash_of_its_own(profile: str) -> None:
    """Two with one hash would be taken for the same network, and one be lost."""
    params = load_params(ROOT / "params.yaml", profile)
    for name, config in params.experiments.items():
        for mechanism in config.mechanisms:
            found = replica.by_hash(params, name, mechanism)
            assert len(found) == len(config.replicas(mechanism)), (name, mechanism)


def test_a_tasks_own_default_is_the_same_written_or_not() -> None:
    config = load_params(ROOT / "params.yaml", "paper").experiment("addition")
    silent = {"name": "addition"}
    said = silent | {"digits": 5, "length": [1, 5], "test_length": 3}
    first, second, third = (
        read_by(config.model_copy(update={"task": task}), "act")
        for task in (silent, said, said | {"digits": 4})
    )
    assert first == second != third


def test_defaults_stay_what_they_were() -> None:
    """No hash holds them, so a changed one would leave trainings up to date that it reaches."""
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
    own = {name: {n: d for n, (_, d) in each.own.items()} for name, each in MECHANISMS.items()}
    assert {name: each for name, each in own.items() if each} == {
        "act": {"tau_warmup": 0},
        "pondernet": {"beta": ..., "max_steps": None, "epsilon": None, "kl": "p_prior"},
        "correctness": {"explore": 0.1, "detach": False},
        "random_depth": {"progressive": True},
    }


def test_a_mechanism_shares_only_what_others_do_not_read() -> None:
    """Else the value would leave the hash of networks that read it."""
    with pytest.raises(ValueError, match="Own shares halt_bias; allowed: "):
        Mechanism("Own", "x", "x", int, "own:Own", shares=("halt_bias",))  # type: ignore[arg-type]


DONE = replica.Finished(
    {"cell.weight": np.ones((2, 3), np.float32)},
    np.array([[1.0, 0.5, np.nan, 2.0, 0.1, 30.0]]),
    "diverged",
    {"commit": "c", "wall_seconds": 1.5},
)


def test_a_file_holds_all_of_a_replica(tmp_path: Path) -> None:
    path = replica.file_of(tmp_path, "ab")
    assert replica.read(path) is None
    replica.write(path, DONE)
    found = replica.read(path)
    assert found is not None and found[2:] == DONE[2:]
    np.testing.assert_array_equal(found.curve, DONE.curve)
    np.testing.assert_array_equal(found.parameters["cell.weight"], np.ones((2, 3)))


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = replica.file_of(tmp_path, "ab")
    replica.write(path, DONE)
    for content in (path.read_bytes()[:-9], b"", save_numbers({"more": np.zeros(1)})):
        path.write_bytes(content)
        with pytest.raises(UserError, match=r"ab\.safetensors: truncated or damaged .*; delete it"):
            replica.read(path)


def test_a_copy_within_a_project_has_its_replicas(tmp_path: Path) -> None:
    """As `dvc exp run --temp` makes it; a folder without dvc.yaml has its own."""
    copy = tmp_path / ".dvc/tmp/exps/one"
    copy.mkdir(parents=True)
    assert replica.file_of(copy, "ab") == copy / "data/replicas/ab.safetensors"
    for each in (tmp_path, copy):
        (each / "dvc.yaml").touch()
    ours = tmp_path / "data/replicas/ab.safetensors"
    assert replica.file_of(copy, "ab") == replica.file_of(tmp_path, "ab") == ours
