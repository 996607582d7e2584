"""Glorot's initial weights: every matrix has its bound, every other parameter is zero."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Generator, Tensor, nn

from pondering import ACT, LSTM, Adapted, Network, glorot
from pondering.model.cells import CELLS
from pondering.model.stacking import stack

D, H, C, HALT_BIAS = 2, 16, 5, 1.5
DRAWS = 60  # enough for a matrix's largest weight to come within 1% of its bound
GATES = {"tanh_rnn": 1, "gru": 3, "lstm": 4}
# Parameter -> (fan in, fan out) of matrices without gates; filters count their area.
LAYERS = {
    "cell.filters1": (1 * 25, 10 * 25),
    "cell.filters2": (10 * 25, 20 * 25),
    "cell.embedding.weight": (320, H),
    "cell.recurrent.weight": (H, H),
    "cell.out.weight": (H, H),
}


def make(name: str, flag: bool = True) -> Network:
    inputs = 784 if name == "conv_mlp" else D
    generator = Generator().manual_seed(1)
    return Network(CELLS[name](inputs, H, flag, generator), ACT(0.1), C, HALT_BIAS, generator)


def draws(network: Network) -> dict[str, Tensor]:
    """Every parameter after each of DRAWS calls, (DRAWS, ...)."""
    generator = Generator().manual_seed(2)
    found: list[dict[str, Tensor]] = []
    for _ in range(DRAWS):
        glorot(network, generator)
        found.append({name: p.detach().clone() for name, p in network.named_parameters()})
    return {name: torch.stack([each[name] for each in found]) for name in found[0]}


def assert_uniform(weights: Tensor, fan_in: int, fan_out: int) -> None:
    """Uniform in +-sqrt(6 / (fan_in + fan_out)), whose variance is 2 / (fan_in + fan_out)."""
    bound = math.sqrt(6 / (fan_in + fan_out))
    assert 0.99 * bound < float(weights.abs().max()) <= bound
    assert float(weights.var()) == pytest.approx(2 / (fan_in + fan_out), rel=0.15)
    assert abs(float(weights.mean())) < 0.1 * bound


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("name", CELLS)
def test_every_matrix_has_its_bound_and_every_bias_but_the_halting_units_is_zero(
    name: str, flag: bool
) -> None:
    """Each gate is a matrix; the heads are two, the output and the halting unit."""
    found = draws(make(name, flag))
    for gate in range(GATES.get(name, 0)):
        rows = slice(gate * H, (gate + 1) * H)
        assert_uniform(found["cell.input.weight"][:, rows], D + flag, H)
        assert_uniform(found["cell.recurrent"][:, rows], H, H)
        if flag:
            assert_uniform(found["cell.flag"][:, rows], D + 1, H)
    if name == "conv_mlp":
        for layer, fans in LAYERS.items():
            assert_uniform(found[layer], *fans)
        assert_uniform(found["cell.join.weight"], H + flag, H)
        if flag:
            assert_uniform(found["cell.flag"], H + 1, H)
    assert_uniform(found["heads.weight"][:, :-1], H, C)
    assert_uniform(found["heads.weight"][:, -1], H, 1)
    assert found["heads.bias"].tolist() == [[0.0] * C + [HALT_BIAS]] * DRAWS
    biases = [part for key, part in found.items() if "bias" in key and not key.startswith("heads")]
    assert biases and not any(part.any() for part in biases)


def test_a_chosen_forget_bias_is_not_reset() -> None:
    network = Network(LSTM(D, H, forget_bias=0.75), ACT(0.1), C)
    glorot(network)
    assert network.cell.input.bias.tolist() == [0.0] * H + [0.75] * H + [0.0] * 2 * H


def test_a_cell_of_torch_is_initialised_by_its_shapes() -> None:
    """torch's LSTMCell holds four gates in a matrix (4H, D + 1) and has two biases."""
    found = draws(Network(Adapted(nn.LSTMCell(D + 1, H)), ACT(0.1), C))
    assert_uniform(found["cell.inner.weight_ih"], D + 1, 4 * H)
    assert_uniform(found["cell.inner.weight_hh"], H, 4 * H)
    assert not found["cell.inner.bias_ih"].any() and not found["cell.inner.bias_hh"].any()


def test_a_stack_is_refused() -> None:
    networks = [make("gru"), make("gru")]
    with pytest.raises(ValueError, match=r"^network: stacked replicas are not allowed; "):
        glorot(stack(networks, ACT(torch.tensor([0.1, 0.2]))))
