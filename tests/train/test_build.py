"""The table of mechanisms: sound as it is, and one line where an entry is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest
import torch
from support import tiny

from pondering.model import halting
from pondering.model.cells import CELLS, LSTM, TanhRNN
from pondering.model.initial import glorot
from pondering.model.network import Network
from pondering.model.paths import PathName
from pondering.params.blocks import Block, block_of
from pondering.params.mechanisms import MECHANISMS
from pondering.params.replica import Replica
from pondering.params.schema import ExperimentConfig
from pondering.project.errors import UserError
from pondering.tasks import make_task
from pondering.train.build import make_halting, make_network

ROOT = Path(__file__).parents[2]


class Spoken(halting.ACT):
    """ACT that is told a word, or one for each replica."""

    def __init__(self, side: Any, **others: Any) -> None:
        super().__init__(**others)
        object.__setattr__(self, "side", side)


class Mute:
    """Answers nothing of the contract but a class variable."""

    learns = False

    def __init__(self, tau: Any, **arguments: Any) -> None:
        self.max_steps = arguments["max_steps"]


def test_names_become_keys_files_and_signs_of_their_own() -> None:
    entries = MECHANISMS.values()
    for name, entry in MECHANISMS.items():
        assert name.isidentifier() and name not in ExperimentConfig.model_fields
        fields = [entry.setting, *entry.own]
        assert len(set(fields)) == len(fields)
        assert not set(fields) & set(Block.model_fields)
    for part in ("title", "symbol"):
        assert len({getattr(entry, part) for entry in entries}) == len(entries)


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
    values = {"halting": {"reads": "state", "carry": "last"}, "network": {"cell": "lstm"}}
    sweep = tiny.sweep(tiny.config(tmp_path, **values))
    assert sweep.network.heads.rest is not None and sweep.network.halting.carry == "last"
    config = tiny.config(tmp_path, pondernet={"kl": "prior_p"})
    made: Any = make_halting(config, Replica("pondernet", 0.5, 0))
    assert (made.kl, made.carry) == ("prior_p", "mean_field")


def test_a_cell_without_memory_has_nothing_else_to_read(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        tiny.sweep(tiny.config(tmp_path, halting={"reads": "state"}))
    line = "params.yaml: halting.reads: 'state' is not allowed; the cell's state is h alone"
    assert str(caught.value) == line


def test_own_values_win_over_the_shared_ones(tmp_path: Path) -> None:
    config = tiny.config(tmp_path, pondernet={"max_steps": 3, "epsilon": 0.1})
    made: Any = make_halting(config, Replica("pondernet", 0.5, 0))
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


class Forgetful(TanhRNN):
    """A cell of one's own that has a forget gate, or says so."""

    def __init__(self, *arguments: Any, forget_bias: float | None = None) -> None:
        super().__init__(*arguments)
        assert forget_bias == 2.0


def test_a_forget_bias_is_for_the_cells_that_take_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny.config(tmp_path, network={"cell": "gru", "forget_bias": 2.0})
    task = make_task(config.task, "tiny")
    with pytest.raises(UserError) as caught:
        make_network(config, task, config.replicas("act"))
    assert str(caught.value) == (
        "params.yaml: network.forget_bias: 2 is not allowed: gru has no forget gate; allowed: "
        "null, or network.cell: lstm"
    )
    monkeypatch.setitem(CELLS, "gru", Forgetful)
    make_network(config, task, config.replicas("act"))


WRONG: dict[str, dict[str, Any]] = {
    "No module named 'pondering.haltin'": {"path": "pondering.haltin:ACT"},
    "module 'pondering.model.halting' has no attribute 'ACTS'": {
        "path": "pondering.model.halting:ACTS"
    },
    "'HaltingConfig' object has no attribute 'epsilom'": {"shares": ("epsilom",)},
    "unexpected keyword argument 'halt_bias'": {"shares": ("epsilon", "max_steps", "halt_bias")},
    "unexpected keyword argument 'tau'": {"path": "pondering.model.halting:PonderNet"},
}


@pytest.mark.parametrize("said", WRONG)
def test_a_wrong_entry_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    monkeypatch.setitem(MECHANISMS, "act", replace(MECHANISMS["act"], **WRONG[said]))
    with pytest.raises(UserError) as caught:
        make_halting(tiny.config(tmp_path), Replica("act", 0.1, 0))
    line = str(caught.value)
    assert line.startswith("src/pondering/params/mechanisms.py: act: ") and said in line
    assert len(line.splitlines()) == 1


def test_a_class_that_does_not_answer_the_contract_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MECHANISMS, "act", replace(MECHANISMS["act"], path=f"{__name__}:Mute"))
    with pytest.raises(UserError) as caught:
        make_halting(tiny.config(tmp_path), Replica("act", 0.1, 0))
    lacks = (
        "start, look, step, carry, cuts, objective, at_update, predict, ponder_time, at_inference"
    )
    lacks += ", scores_every_step, exits"
    assert str(caught.value).startswith(f"{__name__}:Mute: {lacks}: missing")


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


def test_words_become_a_tuple_of_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = MECHANISMS["act"]
    own = {"side": (Literal["left", "right"], "left")}
    spoken = replace(entry, path=f"{__name__}:Spoken", own=own, sweeps=("side",))
    monkeypatch.setitem(MECHANISMS, "act", spoken)
    config = tiny.config(tmp_path)
    config.mechanisms["act"] = block_of(spoken).model_validate({"tau": [0.1], "side": "left"})
    plain, right = Replica("act", 0.1, 0), Replica("act", 0.1, 0, (("side", "right"),))
    sides = {(plain, right): ("left", "right"), (plain, plain): "left"}
    for several, side in sides.items():
        assert make_halting(config, several).side == side  # type: ignore[attr-defined]
    assert make_halting(config, right).side == "right"  # type: ignore[attr-defined]


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


@pytest.mark.parametrize("path", ["readable", "fast", "compiled"])
def test_replicas_of_other_options_train_as_each_does_alone(tmp_path: Path, path: PathName) -> None:
    config = tiny.config(tmp_path, pondernet={"beta": 0.1})

    def trained(replicas: list[Replica]) -> Network:
        sweep = tiny.sweep(config, "pondernet", replicas)
        sweep.network.path = path
        return tiny.train(sweep, 10).network

    stacked = dict(trained(variants()).named_parameters())
    for k, replica in enumerate(variants()):
        for name, alone in trained([replica]).named_parameters():
            torch.testing.assert_close(stacked[name][k], alone[0], rtol=1e-4, atol=1e-5)
    assert not torch.allclose(stacked["heads.weight"][1], stacked["heads.weight"][3], atol=1e-3)
