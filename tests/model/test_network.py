"""The network against the oracle: every mechanism around every cell, forward and gradient."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from oracle import oracle
from support.comparison import check_forward, checked_loss, oracle_rows
from support.pinned import (
    CLASSIC,
    HIDDEN,
    OUTPUTS,
    ROWS,
    STOPPING,
    TRAINED,
    UserCell,
    build,
    fits,
    inputs_for,
    values_of,
)

from pondering.model.network import Network
from pondering.params import mechanisms

EVERY = [(cell, name) for cell in CLASSIC for name in TRAINED if fits(cell, name)]
RUN = [*EVERY, *((cell, name) for cell in CLASSIC for name in STOPPING)]
SEED = 2  # of networks whose rows halt at 1, later, and at the last step
MASK = torch.tensor([[1, 1, 0, 1, 1, 0], [1, 0, 1, 1, 1, 1], [1, 1, 1, 0, 1, 1]]) > 0


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("cell", "name"), RUN)
def test_forward_matches_the_oracle(cell: str, name: str, masked: bool) -> None:
    case = (TRAINED | STOPPING)[name]
    network, inputs = build(cell, case.halting, SEED), inputs_for(cell, *MASK.shape)
    mask = MASK if masked else None
    rows = oracle_rows(cell, case, values_of(network), inputs, mask)
    check_forward(network(inputs, mask, keep_state=True), rows, case)


def test_the_cases_have_every_mechanism_and_take_every_branch() -> None:
    """The comparison needs rows that halt at 1, later, at M, and at different steps."""
    classes = {entry.path.partition(":")[2] for entry in mechanisms.MECHANISMS.values()}
    assert classes == {type(each.halting).__name__ for each in TRAINED.values()}
    together: dict[str, list[list[int]]] = {}
    for cell, name in RUN:
        case, inputs = (TRAINED | STOPPING)[name], inputs_for(cell, *MASK.shape)
        rows = oracle_rows(cell, case, values_of(build(cell, case.halting, SEED)), inputs)
        steps = [[done.steps for done in times if done] for times in zip(*rows, strict=True)]
        together[name] = together.get(name, []) + steps
    for name in ("act", "act_last", "pondernet_eps", "pondernet_last", "correctness", *STOPPING):
        found = {n for times in together[name] for n in times}
        last = (TRAINED | STOPPING)[name].halting.max_steps
        assert last in found and len(found) > 3, (name, found)
        assert sum(len(set(times)) > 1 for times in together[name]) >= 3, name


@pytest.mark.parametrize(("cell", "name"), EVERY)
def test_gradient_matches_finite_differences_of_the_oracle(cell: str, name: str) -> None:
    """Every parameter, N held constant (Graves Eq. 14), through time and the mean-field state."""
    network = build(cell, TRAINED[name].halting, SEED)
    values, mask = values_of(network), torch.ones(2, ROWS, dtype=torch.bool)
    mask[0, 1] = False
    slow = checked_loss(cell, TRAINED[name], network, inputs_for(cell), mask, values)
    want = oracle.central_differences(slow, values)
    for key, parameter in network.named_parameters():
        assert parameter.grad is not None, key
        got = parameter.grad.numpy()
        np.testing.assert_allclose(got, want[key], rtol=1e-6, atol=2e-8, err_msg=key)


@pytest.mark.parametrize("name", ["act", "pondernet", "repeat"])
def test_images_match_the_oracle_forward_and_gradient(name: str) -> None:
    """Slopes of ConvMLP along one random direction per parameter: the oracle's CNN is slow."""
    case = TRAINED[name]
    network, inputs = build("conv_mlp", case.halting), inputs_for("conv_mlp", 1, rows=2)
    values = values_of(network)
    check_forward(
        network(inputs, keep_state=True), oracle_rows("conv_mlp", case, values, inputs), case
    )
    slow = checked_loss("conv_mlp", case, network, inputs, None, values)
    generator = np.random.default_rng(0)
    for key, parameter in network.named_parameters():
        direction = generator.normal(size=values[key].shape) / np.sqrt(values[key].size)
        assert parameter.grad is not None, key
        got = float((parameter.grad.numpy() * direction).sum())
        want = oracle.slope_along(slow, values, key, direction)
        assert got == pytest.approx(want, rel=1e-5, abs=2e-8), key


@pytest.mark.parametrize("name", ["act", "pondernet_last"])
def test_a_users_cell_matches_the_oracle(name: str) -> None:
    case, generator = TRAINED[name], torch.Generator().manual_seed(2)
    network = Network(UserCell(), case.halting, OUTPUTS, 0.0, generator).double()
    inputs, values = inputs_for("gru", times=3), values_of(network)

    def cell(x: np.ndarray, state: oracle.State) -> oracle.State:
        return state[0] * 0.5 + x[:-1] @ values["cell.mix"] + x[-1], state[1] + 1

    heads, bias = values["heads.weight"], values["heads.bias"]
    model = oracle.Model(cell, (HIDDEN, 1), heads[:-1], bias[:-1], heads[-1], float(bias[-1]))
    rows = [oracle.unroll(model, case.rule, inputs[:, b].numpy()) for b in range(ROWS)]
    check_forward(network(inputs, keep_state=True), rows, case)
