"""`Adapted`: cells of torch and of users ponder."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from pondering.model.cells import Adapted, State
from pondering.model.halting import ACT, FixedRepeat, PonderNet
from pondering.model.network import Network

INPUTS, HIDDEN, ROWS = 2, 5, 4


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
