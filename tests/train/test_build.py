"""Networks and mechanisms as the parameters ask for them, one replica or many."""

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
from pondering.params.replica import Replica
from pondering.project.errors import UserError
from pondering.tasks import make_task
from pondering.train.build import make_halting, make_network


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_mechanism_gets_its_settings_and_values(tmp_path: Path, name: str) -> None:
    config = tiny.config(tmp_path, halting={"epsilon": 0.25}, pondernet={"beta": 0.5})
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


def test_what_crosses_what_is_read_and_which_kl_come_from_the_parameters(tmp_path: Path) -> None:
    """A mechanism's own values win over the shared ones."""
    values = {"halting": {"reads": "state", "carry": "last"}, "network": {"cell": "lstm"}}
    sweep = tiny.sweep(tiny.config(tmp_path, **values))
    assert sweep.network.heads.rest is not None and sweep.network.halting.carry == "last"
    config = tiny.config(tmp_path, pondernet={"kl": "prior_p", "max_steps": 3, "epsilon": 0.1})
    made: Any = make_halting(config, Replica("pondernet", 0.5, 0))
    assert (made.kl, made.carry) == ("prior_p", "mean_field")
    assert (made.max_steps, made.epsilon) == (3, 0.1)
    assert make_halting(config, Replica("act", 0.5, 0)).max_steps == 4


def test_initial_weights_and_the_forget_bias_are_those_asked_for(tmp_path: Path) -> None:
    """Every replica from its own seed alone, by the generator that torch's rule has used."""
    chosen = {"cell": "lstm", "init": "glorot", "forget_bias": 0.5}
    config = tiny.config(tmp_path, network=chosen)
    task = make_task(config.task, "tiny")
    stacked = make_network(config, task, config.replicas("act"))
    for k, replica in enumerate(config.replicas("act")):
        generator = torch.Generator().manual_seed(replica.seed)
        cell = LSTM(task.input_size, 16, True, generator, forget_bias=0.5)
        single = Network(cell, make_halting(config, Replica("act", 0.1, 0)), 1, 0.0, generator)
        glorot(single, generator)
        for name, parameter in single.named_parameters():
            assert torch.equal(stacked.get_parameter(name)[k], parameter), name


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"halting": {"reads": "state"}},
            "halting.reads: 'state' is not allowed; the cell's state is h alone",
        ),
        (
            {"network": {"cell": "gru", "forget_bias": 2.0}},
            "network.forget_bias: 2 is not allowed: gru has no forget gate; allowed: null, or "
            "network.cell: lstm",
        ),
    ],
)
def test_what_a_cell_cannot_have_is_refused(
    tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    with pytest.raises(UserError) as caught:
        tiny.sweep(tiny.config(tmp_path, **change))
    assert str(caught.value) == f"params.yaml: {said}"


def test_a_wrong_entry_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = replace(MECHANISMS["act"], path="pondering.model.halting.pondernet:PonderNet")
    monkeypatch.setitem(MECHANISMS, "act", wrong)
    with pytest.raises(UserError, match=r"act: .* unexpected keyword argument 'tau'"):
        make_halting(tiny.config(tmp_path), Replica("act", 0.1, 0))


BETAS = (0.0, 0.01, 0.5, 0.1)
BIASES = (-3.0, None, 1.0, None)  # None: that of the experiment


def variants() -> list[Replica]:
    """PonderNets of four kinds, the last with neither option."""
    named = [{"beta": beta, "halt_bias": bias} for beta, bias in zip(BETAS, BIASES, strict=True)]
    named[3] = {}
    pairs = [tuple(sorted((n, v) for n, v in each.items() if v is not None)) for each in named]
    places = ((0.3, 0), (0.6, 0), (0.3, 7), (0.3, 0))
    return [Replica("pondernet", *at, each) for at, each in zip(places, pairs, strict=True)]


def test_an_option_becomes_a_value_for_each_replica_and_nothing_else_does(tmp_path: Path) -> None:
    config = tiny.config(tmp_path, pondernet={"beta": 0.1})
    made: Any = make_halting(config, variants())
    assert torch.equal(made.beta, torch.tensor(BETAS))
    assert made.max_steps == 4
    assert make_halting(config, variants()[3:]).beta == 0.1  # type: ignore[attr-defined]
    assert make_halting(config, variants()[0]).beta == 0.0  # type: ignore[attr-defined]
    words = [Replica("pondernet", 0.5, 0, each) for each in ((), (("kl", "prior_p"),))]
    assert make_halting(config, words).kl == ("p_prior", "prior_p")  # type: ignore[attr-defined]


def test_replicas_of_one_seed_start_alike_but_for_the_bias_that_an_option_names(
    tmp_path: Path,
) -> None:
    config, replicas = tiny.config(tmp_path, halting={"halt_bias": 0.5}), variants()
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
