"""Cells against the oracle and torch's own cells, and `Adapted` cells of torch and of users."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from oracle import oracle_cells
from support.pinned import CLASSIC, HIDDEN, INPUTS, ROWS, build, inputs_for, model_of, values_of
from torch import Tensor, nn

from pondering.model.cells import CELLS, GRU, LSTM, Adapted, Cell, ConvMLP, State, TanhRNN
from pondering.model.halting import ACT, FixedRepeat, PonderNet
from pondering.model.network import Network
from pondering.model.stacking import stack

EXACT = {"rtol": 1e-12, "atol": 1e-12}


def _states(cell: Cell, rows: int, seed: int = 9) -> tuple[torch.Tensor, ...]:
    generator = torch.Generator().manual_seed(seed)
    return tuple(
        torch.randn(rows, size, generator=generator, dtype=torch.float64)
        for size in cell.state_sizes
    )


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("name", CELLS)
def test_steps_match_the_oracle(name: str, flag: bool) -> None:
    network = build(name, FixedRepeat(1), flag=flag)
    x = inputs_for(name, times=1, rows=2)[0]
    start = _states(network.cell, 2)
    with torch.no_grad():
        drive = network.cell.embed(x)
        first = network.cell.step(drive, start, True)
        second = network.cell.step(drive, first, False)
    model = model_of(name, values_of(network))
    for row in range(2):
        state = tuple(part[row].numpy() for part in start)
        expected = model.steps(x[row].numpy(), state, 2).states
        for got, want in zip((first, second), expected, strict=True):
            for part, wanted in zip(got, want, strict=True):
                np.testing.assert_allclose(part[row].numpy(), wanted, **EXACT)


@pytest.mark.parametrize(
    ("ours", "torchs"), [(TanhRNN, nn.RNNCell), (GRU, nn.GRUCell), (LSTM, nn.LSTMCell)]
)
def test_cells_equal_torchs_with_its_weights(ours: type, torchs: type) -> None:
    cell = ours(INPUTS, HIDDEN, False, torch.Generator().manual_seed(3)).double()
    other = torchs(INPUTS, HIDDEN).double()
    with torch.no_grad():
        other.weight_ih.copy_(cell.input.weight)
        other.bias_ih.copy_(cell.input.bias)
        other.weight_hh.copy_(cell.recurrent)
        other.bias_hh.zero_()
        if ours is GRU:
            other.bias_hh[2 * HIDDEN :] = cell.candidate_bias
        x, state = inputs_for("gru", 1)[0], _states(cell, 3)
        got = cell.step(cell.embed(x), state, False)
        want = other(x, state if ours is LSTM else state[0])
    for part, wanted in zip(got, want if ours is LSTM else (want,), strict=True):
        torch.testing.assert_close(part, wanted, **EXACT)


@pytest.mark.parametrize("name", CLASSIC)
def test_integers_stand_for_one_hot_rows(name: str) -> None:
    network = build(name, FixedRepeat(1))
    index = torch.tensor([[1, 0, 1], [0, 0, 1]])
    one_hot = nn.functional.one_hot(index, INPUTS).double()
    for kind in (torch.int64, torch.uint8):
        got, want = network(index.to(kind)), network(one_hot)
        torch.testing.assert_close(got.mixture, want.mixture, **EXACT)
    stacked = stack([build(name, FixedRepeat(1), seed) for seed in range(3)], FixedRepeat(1))
    index = torch.tensor([[[1, 0], [0, 1], [1, 1]], [[0, 0], [1, 0], [0, 1]]])  # T, K, B
    one_hot = nn.functional.one_hot(index, INPUTS).double()
    got, want = stacked(index), stacked(one_hot)
    torch.testing.assert_close(got.mixture, want.mixture, **EXACT)
    got.mixture.square().sum().backward()
    by_index = stacked.cell.input.weight.grad.clone()
    stacked.zero_grad()
    want.mixture.square().sum().backward()
    torch.testing.assert_close(by_index, stacked.cell.input.weight.grad, **EXACT)


def test_an_index_outside_the_vocabulary_never_reads_the_next_replica() -> None:
    stacked = stack([build("tanh_rnn", FixedRepeat(1), seed) for seed in (0, 1)], FixedRepeat(1))
    for outside in (INPUTS, -1):
        with pytest.raises(IndexError, match=rf"outside 0 \.\. {INPUTS - 1}$"):
            stacked(torch.tensor([[[outside], [0]]]))
        with pytest.raises(IndexError):
            build("tanh_rnn", FixedRepeat(1))(torch.full((1, 2), outside))


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_has_a_flag_only_if_it_is_chosen(name: str) -> None:
    """By default the cells of Graves 2016 have a flag, PonderNet's cell for images has none."""
    inputs = 784 if name == "conv_mlp" else INPUTS
    assert CELLS[name](inputs, HIDDEN, first_step_flag=True).flag is not None
    assert CELLS[name](inputs, HIDDEN, first_step_flag=False).flag is None
    assert (CELLS[name](inputs, HIDDEN).flag is None) == (name == "conv_mlp")


def test_parameters_start_uniform_within_one_over_the_root_of_the_fan_in() -> None:
    """As in torch, a recurrent layer counts its hidden size."""
    generator = torch.Generator().manual_seed(0)
    parameters = dict(ConvMLP(784, 400, True, generator).named_parameters())
    parameters["candidate_bias"] = GRU(2, 400, True, generator).candidate_bias
    parameters |= dict(LSTM(8, 400, True, generator).named_parameters())
    sums = {
        "filters1": 25,
        "bias1": 25,
        "filters2": 250,
        "bias2": 250,
        "embedding": 320,
        "input": 8,
    }
    for name, parameter in parameters.items():
        bound = sums.get(name.split(".")[0], 400) ** -0.5
        largest = float(parameter.detach().abs().max()) / bound
        # Few values may all be small, but hardly below half of the bound.
        assert (0.98 if parameter.numel() >= 250 else 0.5) < largest <= 1.0, name


def test_conv_mlp_refuses_other_images() -> None:
    with pytest.raises(ValueError, match="784"):
        ConvMLP(64, HIDDEN)


def test_the_oracles_max_pool_and_convolution_are_torchs() -> None:
    """A mistake that the oracle shared with the package would hide."""
    generator = torch.Generator().manual_seed(0)
    image = torch.randn(2, 9, 9, generator=generator, dtype=torch.float64)
    kernel = torch.randn(3, 2, 5, 5, generator=generator, dtype=torch.float64)
    bias = torch.randn(3, generator=generator, dtype=torch.float64)
    want = nn.functional.conv2d(image[None], kernel, bias)[0]
    got = oracle_cells.convolve(image.numpy(), kernel.numpy(), bias.numpy())
    np.testing.assert_allclose(got, want.numpy(), **EXACT)
    pooled = oracle_cells.max_pool(image.numpy())
    np.testing.assert_allclose(pooled, nn.functional.max_pool2d(image[None], 2)[0].numpy())


def test_a_chosen_forget_bias_changes_no_other_parameter() -> None:
    """Gates lie in torch's order i, f, g, o."""
    usual, chosen = (
        LSTM(INPUTS, HIDDEN, True, torch.Generator().manual_seed(3), forget_bias=bias)
        for bias in (None, 1.0)
    )
    for (name, old), new in zip(usual.named_parameters(), chosen.parameters(), strict=True):
        same = old == new
        if name == "input.bias":
            forget = slice(HIDDEN, 2 * HIDDEN)
            assert new[forget].tolist() == [1.0] * HIDDEN
            same[forget] = True
        assert same.all() and new.requires_grad, name


# --- Adapted ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [nn.RNNCell, nn.GRUCell, nn.LSTMCell])
@pytest.mark.parametrize("flag", [True, False])
def test_torchs_cells_are_called_at_every_step_with_the_flag(kind: type, flag: bool) -> None:
    inner = kind(INPUTS + flag, HIDDEN)
    network = Network(Adapted(inner, first_step_flag=flag), FixedRepeat(2), 1)
    x, state = torch.randn(1, ROWS, INPUTS), None
    for first in (1.0, 0.0):
        marked = torch.cat([x[0], torch.full((ROWS, 1), first)], -1) if flag else x[0]
        state = inner(marked, state)
    hidden = state[0] if kind is nn.LSTMCell else state
    wanted = network.heads(hidden)[..., :-1]
    torch.testing.assert_close(network(x).mixture[0], wanted)


class Block(nn.Module):
    """A transformer block whose state is `TOKENS` tokens; the input is added to each."""

    TOKENS = 3

    def __init__(self) -> None:
        super().__init__()
        self.read = nn.Linear(INPUTS + 1, 4)
        self.layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)

    def forward(self, x: Tensor, state: State) -> State:
        tokens = state[0].unflatten(-1, (self.TOKENS, 4)) + self.read(x).unsqueeze(1)
        return (self.layer(tokens).flatten(1),)


@pytest.mark.parametrize("halting", [ACT(0.01, max_steps=4), PonderNet(0.4, max_steps=4)])
def test_a_transformer_block_ponders_and_learns(halting: ACT | PonderNet) -> None:
    torch.manual_seed(0)
    network = Network(Adapted(Block(), state_sizes=[4 * Block.TOKENS]), halting, 1)
    inputs = torch.randn(2, ROWS, INPUTS)
    pondered = network(inputs)
    assert pondered.ponder_time.max() > 1
    halting.objective(lambda outputs: outputs.square().mean(-1), pondered).sum().backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None and parameter.grad.isfinite().all(), name
    assert network.cell.inner.read.weight.grad.any()


def test_a_users_step_must_name_its_state_sizes() -> None:
    with pytest.raises(TypeError, match="state_sizes: missing"):
        Adapted(lambda x, state: state)
