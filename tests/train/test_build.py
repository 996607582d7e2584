"""Networks and mechanisms built from the parameters, and values that are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from support import tiny

from pondering.model import halting
from pondering.model.cells import LSTM
from pondering.model.initial import glorot
from pondering.model.network import Network
from pondering.params.mechanisms import MECHANISMS
from pondering.params.read import load_params
from pondering.params.replica import Replica
from pondering.params.schema import PROFILES
from pondering.project.errors import UserError
from pondering.tasks import make_task
from pondering.train.build import make_halting, make_network
from pondering.train.fit import check_fit


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_gets_its_settings_and_values(name: str) -> None:
    config = tiny.config(halting={"epsilon": 0.25}, pondernet={"beta": 0.5})
    settings = config.mechanism(name).settings
    made: Any = make_halting(config, config.replicas(name)[::2])
    assert type(made) is getattr(halting, MECHANISMS[name].path.partition(":")[2])
    assert made.learns == MECHANISMS[name].learns
    assert torch.equal(getattr(made, MECHANISMS[name].setting), torch.tensor(settings))
    assert made.max_steps == (2 if name == "repeat" else 4)
    if name == "act":
        assert (made.epsilon, made.tau_warmup) == (0.25, 0)
    if name == "pondernet":
        assert (made.beta, made.epsilon) == (0.5, None)  # ACT's epsilon is not for PonderNet


def test_carry_reads_and_kl_come_from_the_parameters() -> None:
    """A value in a mechanism's block overrides the shared value."""
    values = {"halting": {"reads": "state", "carry": "last"}, "network": {"cell": "lstm"}}
    sweep = tiny.sweep(tiny.config(**values))
    assert sweep.network.heads.rest is not None and sweep.network.halting.carry == "last"
    config = tiny.config(pondernet={"kl": "prior_p", "max_steps": 3, "epsilon": 0.1})
    made: Any = make_halting(config, Replica("pondernet", 0.5, 0))
    assert (made.kl, made.carry) == ("prior_p", "mean_field")
    assert (made.max_steps, made.epsilon) == (3, 0.1)
    assert make_halting(config, Replica("act", 0.5, 0)).max_steps == 4


def test_init_and_forget_bias_come_from_the_parameters() -> None:
    """Each replica depends on its seed alone; Glorot continues with the cell's generator."""
    chosen = {"cell": "lstm", "init": "glorot", "forget_bias": 0.5}
    config = tiny.config(network=chosen)
    task = make_task(config.task, "tiny")
    stacked = make_network(config, task, config.replicas("act"))
    for k, replica in enumerate(config.replicas("act")):
        generator = torch.Generator().manual_seed(replica.seed)
        cell = LSTM(task.input_size, 16, True, generator, forget_bias=0.5)
        single = Network(cell, make_halting(config, Replica("act", 0.1, 0)), 1, 0.0, generator)
        glorot(single, generator)
        for name, parameter in single.named_parameters():
            assert torch.equal(stacked.get_parameter(name)[k], parameter), name


def test_a_cell_whose_state_is_h_alone_has_no_more_to_read() -> None:
    expected = r"^params\.yaml: halting\.reads: 'state' is not allowed; the cell's st"
    with pytest.raises(UserError, match=expected):
        tiny.sweep(tiny.config(halting={"reads": "state"}))


def test_an_entry_of_the_wrong_class_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = replace(MECHANISMS["act"], path="pondering.model.halting.pondernet:PonderNet")
    monkeypatch.setitem(MECHANISMS, "act", wrong)
    with pytest.raises(UserError, match=r"act: .* unexpected keyword argument 'tau'"):
        make_halting(tiny.config(), Replica("act", 0.1, 0))


BETAS = (0.0, 0.01, 0.5, 0.1)
BIASES = (-3.0, None, 1.0, None)  # None: that of the experiment


def variants() -> list[Replica]:
    """Four PonderNets; the last has no option."""
    options = [{"beta": beta, "halt_bias": bias} for beta, bias in zip(BETAS, BIASES, strict=True)]
    options[3] = {}
    pairs = [tuple(sorted((n, v) for n, v in each.items() if v is not None)) for each in options]
    places = ((0.3, 0), (0.6, 0), (0.3, 7), (0.3, 0))
    return [Replica("pondernet", *at, each) for at, each in zip(places, pairs, strict=True)]


def test_an_option_becomes_one_value_for_each_replica() -> None:
    config = tiny.config(pondernet={"beta": 0.1})
    made: Any = make_halting(config, variants())
    assert torch.equal(made.beta, torch.tensor(BETAS))
    assert made.max_steps == 4
    assert make_halting(config, variants()[3:]).beta == 0.1  # type: ignore[attr-defined]
    assert make_halting(config, variants()[0]).beta == 0.0  # type: ignore[attr-defined]
    words = [Replica("pondernet", 0.5, 0, each) for each in ((), (("kl", "prior_p"),))]
    assert make_halting(config, words).kl == ("p_prior", "prior_p")  # type: ignore[attr-defined]


def test_replicas_of_one_seed_start_alike_except_for_the_halting_bias() -> None:
    config, replicas = tiny.config(halting={"halt_bias": 0.5}), variants()
    task = make_task(config.task, "tiny")
    stacked = dict(make_network(config, task, replicas).named_parameters())
    bias = stacked["heads.bias"][:, -1]
    usual = bias[3] - 0.5
    assert torch.allclose(bias[:2] - usual, torch.tensor([-3.0, 0.5]))
    for k, replica in enumerate(replicas):
        for name, alone in make_network(config, task, [replica]).named_parameters():
            assert torch.equal(stacked[name][k], alone[0]), (replica, name)
    for name, parameter in stacked.items():
        assert torch.equal(parameter[0], parameter[3]) == (name != "heads.bias"), name
        assert torch.equal(parameter[1], parameter[3]), name


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("profile", PROFILES)
def test_every_experiment_of_the_parameters_can_be_built(profile: str) -> None:
    for name, config in load_params(ROOT / "params.yaml", profile).experiments.items():
        task = make_task(config.task, name)
        check_fit(f"{name}.{profile}", config, task)
        make_network(config, task, config.replicas(next(iter(config.mechanisms)))[:1])
        for mechanism in config.mechanisms:
            make_halting(config, config.replicas(mechanism))


def test_an_epoch_has_the_validations_of_the_parameters(tmp_path: Path) -> None:
    """Its 1,237 training images are 154 updates of 8."""
    training = {"validation": VALIDATION | {"per_epoch": 5}}
    values = tiny.document(task=tiny.DIGITS, training=training, network={"cell": "conv_mlp"})
    tiny.write(tmp_path, values)
    plateau = tiny.shard(tiny.freeze_all(tmp_path)).trainer().plateau
    assert plateau is not None and plateau.every == 154 // 5
    assert plateau.batch.targets.shape[1] == 200


VALIDATION = {"per_epoch": 1, "factor": 0.5, "patience": 1, "stop_patience": 1}
GRU = {"cell": "gru", "forget_bias": 2.0}
NEGATIVE = {"lambda_p": 0.2, "beta": -1.0}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"network": {"cell": "conv_mlp"}}, r"network\.cell: 'conv_mlp' cannot read parity; allo"),
        ({"network": {"cell": "rnn"}}, r"network\.cell: 'rnn' cannot read parity; allowed: tanh"),
        ({"network": GRU}, r"network\.forget_bias: 2 .*: gru has no forget gate; allowed: null"),
        ({"task": tiny.DIGITS}, r"network\.cell: '\w+' cannot read digits; allowed: conv_mlp$"),
        ({"training": {"validation": VALIDATION}}, r"training\.validation: parity has no valid"),
        ({"act": {"tau": [0.01, -0.1]}}, r"act\.tau: -0\.1.* is not allowed"),
        ({"pondernet": {"lambda_p": [0.2, 1.0]}}, r"pondernet\.lambda_p: 1\.0 is not allowed; a n"),
        ({"pondernet": {"lambda_p": [0.2, NEGATIVE]}}, r"pondernet\.beta: -1.* not allowed"),
        ({"certainty": {"theta": [1.5]}}, r"certainty\.theta: 1\.5 is not allowed"),
    ],
)
def test_what_a_task_or_a_mechanism_cannot_take_is_refused_before_training(
    change: dict[str, Any], expected: str
) -> None:
    config = tiny.config(**change)
    with pytest.raises(UserError, match=rf"^params\.yaml: tiny\.quick\.{expected}"):
        check_fit("tiny.quick", config, make_task(config.task, "tiny"))
