"""The network against the oracle: every mechanism around every cell, forward and gradient."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from oracle import oracle
from support.comparison import EXACT, check_forward, loss_of, oracle_loss, oracle_rows
from support.pinned import (
    CLASSIC,
    HIDDEN,
    INPUTS,
    MECHANISMS,
    OUTPUTS,
    ROWS,
    Own,
    build,
    fits,
    inputs_for,
    targets_for,
    values_of,
)

from pondering.model.halting import ACT, PonderNet
from pondering.model.network import Network

EVERY = [(cell, name) for cell in CLASSIC for name in MECHANISMS if fits(cell, name)]
MASK = torch.tensor([[True, True, False], [True, False, True], [True, True, True]])


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("cell", "name"), EVERY)
def test_forward_matches_the_oracle(cell: str, name: str, masked: bool) -> None:
    halting = MECHANISMS[name][0]
    network = build(cell, halting)
    inputs = inputs_for(cell, times=3)
    mask = MASK if masked else None
    rows = oracle_rows(cell, name, values_of(network), inputs, mask)
    check_forward(network(inputs, mask), rows, halting)


def test_the_cases_take_every_branch() -> None:
    """The pinned cases mean something only if rows halt at 1, later, at M, and one at a time."""
    steps = {name: [] for name in MECHANISMS}
    for cell, name in EVERY:
        rows = oracle_rows(cell, name, values_of(build(cell, MECHANISMS[name][0])), INPUT3[cell])
        steps[name] += [[done.steps for done in times] for times in zip(*rows, strict=True)]
    for name in ("act", "act_last", "pondernet_eps", "pondernet_last"):
        found = {n for times in steps[name] for n in times}
        assert {1, 2, 3, MECHANISMS[name][0].max_steps} <= found, (name, found)
        assert sum(len(set(times)) > 1 for times in steps[name]) >= 3


INPUT3 = {cell: inputs_for(cell, times=3) for cell in CLASSIC}


@pytest.mark.parametrize(("cell", "name"), EVERY)
def test_gradient_matches_finite_differences_of_the_oracle(cell: str, name: str) -> None:
    """Every parameter, N held constant (Graves Eq. 14), through time and the mean-field state."""
    halting = MECHANISMS[name][0]
    network = build(cell, halting)
    inputs, targets = inputs_for(cell), targets_for()
    mask = torch.ones(2, ROWS, dtype=torch.bool)
    mask[0, 1] = False
    values = values_of(network)
    base = oracle_rows(cell, name, values, inputs, mask)
    loss = loss_of(network, inputs, targets, mask)
    assert float(loss.detach()) == pytest.approx(oracle_loss(halting, base, targets), rel=1e-9)
    loss.backward()

    def slow(changed: dict[str, np.ndarray]) -> float:
        rows = oracle_rows(cell, name, changed, inputs, mask, base)
        return oracle_loss(halting, rows, targets)

    want = oracle.central_differences(slow, values)
    for key, parameter in network.named_parameters():
        assert parameter.grad is not None, key
        got = parameter.grad.numpy()
        np.testing.assert_allclose(got, want[key], rtol=1e-6, atol=2e-8, err_msg=key)


@pytest.mark.parametrize("name", ["act", "pondernet", "repeat"])
def test_images_match_the_oracle_forward_and_gradient(name: str) -> None:
    """ConvMLP: slopes along one random direction per parameter, the oracle's CNN being slow."""
    halting = MECHANISMS[name][0]
    network = build("conv_mlp", halting)
    inputs, targets = inputs_for("conv_mlp", 1, rows=2), targets_for(1, 2)
    values = values_of(network)
    base = oracle_rows("conv_mlp", name, values, inputs)
    check_forward(network(inputs), base, halting)
    loss_of(network, inputs, targets).backward()

    def slow(changed: dict[str, np.ndarray]) -> float:
        rows = oracle_rows("conv_mlp", name, changed, inputs, None, base)
        return oracle_loss(halting, rows, targets)

    generator = np.random.default_rng(0)
    for key, parameter in network.named_parameters():
        direction = generator.normal(size=values[key].shape) / np.sqrt(values[key].size)
        assert parameter.grad is not None, key
        got = float((parameter.grad.numpy() * direction).sum())
        want = oracle.slope_along(slow, values, key, direction)
        assert got == pytest.approx(want, rel=1e-5, abs=2e-8), key


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_users_own_cell_works(name: str) -> None:
    halting, rule = MECHANISMS[name]
    network = Network(Own(), halting, OUTPUTS, 0.0, torch.Generator().manual_seed(2)).double()
    inputs = inputs_for("gru", times=3)
    values = values_of(network)

    def cell(x: np.ndarray, state: oracle.State) -> oracle.State:
        return state[0] * 0.5 + x[:-1] @ values["cell.mix"] + x[-1], state[1] + 1

    heads, bias = values["heads.weight"], values["heads.bias"]
    model = oracle.Model(cell, (HIDDEN, 1), heads[:-1], bias[:-1], heads[-1], float(bias[-1]))
    rows = [oracle.unroll(model, rule, inputs[:, b].numpy()) for b in range(ROWS)]
    check_forward(network(inputs), rows, halting)


def test_halt_bias_and_heads() -> None:
    """b_h starts at 1 in Graves's experiments; it is the last row of the heads."""
    network = Network(Own(), ACT(0.1), OUTPUTS)
    assert network.heads.weight.shape == (OUTPUTS + 1, HIDDEN)
    assert float(network.heads.bias[-1].detach()) == 1.0
    assert network.heads.bias[:-1].abs().max() <= 1 / HIDDEN**0.5
    assert float(Network(Own(), ACT(0.1), OUTPUTS, -2.5).heads.bias[-1].detach()) == -2.5


def test_sampled_prediction_is_the_output_of_the_halting_step() -> None:
    network = build("tanh_rnn", PonderNet(0.3, 0.1, 4))
    inputs = inputs_for("tanh_rnn", times=1).expand(1, ROWS, INPUTS)
    outputs = network(inputs).outputs
    network.halting = network.halting.at_inference(torch.Generator().manual_seed(3))
    seen = set()
    for _ in range(20):
        sampled = network(inputs)
        predicted = network.halting.predict(sampled)
        for b in range(ROWS):
            n = int(sampled.ponder_time[0, b])
            seen.add(n)
            assert sampled.weights[:, 0, b].tolist() == [
                float(i == n) for i in range(1, len(sampled.weights) + 1)
            ]
            torch.testing.assert_close(predicted[0, b], outputs[n - 1, 0, b], **EXACT)
    assert len(seen) > 2
