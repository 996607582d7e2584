"""Rows of a batch: independent of each other, computed until the last one halts, maskable."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.comparison import EXACT, loss_of
from support.pinned import (
    CLASSIC,
    INPUTS,
    MECHANISMS,
    ROWS,
    Geometric,
    Own,
    build,
    inputs_for,
    score_against,
    targets_for,
)
from torch import Tensor, nn

from pondering.model import stacking
from pondering.model.cells import Cell, State
from pondering.model.halting import ACT, Halting, PonderNet
from pondering.model.network import Network
from pondering.model.paths import readable
from pondering.model.paths.readable import InputRecord, add_share

MASK = torch.tensor([[True, True, False], [True, False, True], [True, True, True]])


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_row_does_not_depend_on_the_others(name: str) -> None:
    network = build("lstm", MECHANISMS[name][0])
    inputs = inputs_for("lstm", times=3)
    together, other = network(inputs), inputs.clone()
    other[:, 0] = 50 * torch.randn(3, INPUTS, generator=torch.Generator().manual_seed(1)).double()
    beside = network(other)
    for b in (1, 2):
        alone = network(inputs[:, b : b + 1])
        for field in ("mixture", "ponder_time", "remainder", "cost", "expected_steps"):
            value = getattr(together, field)
            torch.testing.assert_close(value[:, b], getattr(alone, field)[:, 0], **EXACT)
            assert torch.equal(value[:, b], getattr(beside, field)[:, b]), field


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_rows_loss_has_no_gradient_in_other_rows(name: str) -> None:
    network = build("gru", MECHANISMS[name][0])
    inputs = inputs_for("gru", times=2).requires_grad_()
    losses = network.halting.objective(score_against(targets_for()), network(inputs))
    losses[:, 1].sum().backward()
    assert inputs.grad is not None
    assert not inputs.grad[:, [0, 2]].any()
    assert inputs.grad[:, 1].any()


def full_unroll(
    cell: Any, heads: Any, halting: Any, drive: Tensor, state: State, present: Tensor
) -> InputRecord:
    """All max_steps steps, whoever has halted."""
    progress = halting.start(present)
    totals = tuple(torch.zeros_like(part) for part in state)
    weights, outputs, mixture = [], [], torch.zeros(())
    for n in range(1, halting.max_steps + 1):
        state = cell.step(drive, state, n == 1)
        y, logit = heads.read(state)
        weight, progress = halting.step(n, logit, progress)
        totals = tuple(add_share(a, weight, b) for a, b in zip(totals, state, strict=True))
        weights.append(weight)
        outputs.append(y)
        mixture = add_share(mixture, weight, y)
    if not halting.scores_every_step:
        return InputRecord(torch.stack(weights), None, None, totals[0], totals, progress, 0)
    every = torch.stack(weights), torch.stack(outputs), mixture
    return InputRecord(*every, totals[0], totals, progress, 0)


@pytest.mark.parametrize("cell", CLASSIC)
@pytest.mark.parametrize("halting", [ACT(0.25, 0.1, 40), PonderNet(0.25, 0.5, 40, 0.2)])
def test_early_exit_equals_the_full_unroll(
    cell: str, halting: Halting, monkeypatch: pytest.MonkeyPatch
) -> None:
    short = build(cell, halting)
    full = build(cell, halting)
    inputs, targets = inputs_for(cell, times=3), targets_for(times=3)
    early = short(inputs, MASK)
    loss_of(short, inputs, targets, MASK).backward()
    monkeypatch.setattr(readable, "ponder", full_unroll)
    late = full(inputs, MASK)
    most = len(early.weights)
    assert most < len(late.weights) == 40
    assert torch.equal(early.weights, late.weights[:most])
    assert not late.weights[most:].any()
    for field in ("mixture", "ponder_time", "remainder", "cost", "expected_steps"):
        assert torch.equal(getattr(early, field), getattr(late, field)), field
    loss_of(full, inputs, targets, MASK).backward()
    for (key, a), b in zip(short.named_parameters(), full.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, rtol=1e-12, atol=1e-15, msg=key)


class Counting(nn.Module):
    """A cell that counts its steps."""

    def __init__(self, cell: Cell) -> None:
        super().__init__()
        self.inner, self.state_sizes, self.calls = cell, cell.state_sizes, 0

    def embed(self, x: Tensor) -> Tensor:
        return self.inner.embed(x)

    def step(self, drive: Tensor, state: State, first: bool) -> State:
        self.calls += 1
        return self.inner.step(drive, state, first)


@pytest.mark.parametrize(
    "halting", [ACT(0.1, 0.1, 50), PonderNet(0.3, 0.1, 50), PonderNet(0.3, 0.1, 50, 0.2)]
)
def test_computation_ends_when_every_row_has_halted(halting: Halting) -> None:
    network = build("gru", halting.at_inference(torch.Generator().manual_seed(0)))
    counting = network.cell = Counting(network.cell)
    with torch.no_grad():
        pondered = network(inputs_for("gru", times=3), MASK, path="readable")
    longest = [int(steps.max()) for steps in pondered.ponder_time]
    assert counting.calls == sum(longest) < 3 * 50
    assert pondered.computed == sum(longest) * ROWS
    assert len(pondered.weights) == max(longest)


@pytest.mark.parametrize("name", MECHANISMS)
def test_masked_positions_stand_still(name: str) -> None:
    """What is written at a masked position changes nothing, and the next input does not see it."""
    network = build("lstm", MECHANISMS[name][0])
    inputs = inputs_for("lstm", times=3)
    mask = torch.tensor([[True] * 3, [True, False, True], [True] * 3])
    pondered = network(inputs, mask)
    garbage = inputs.clone()
    garbage[1, 1] = torch.nan
    for field in ("weights", "mixture", "cost", "ponder_time", "remainder", "expected_steps"):
        got = getattr(network(garbage, mask), field)
        assert torch.equal(got, getattr(pondered, field)), field
    shorter = network(inputs[[0, 2]])
    torch.testing.assert_close(pondered.mixture[2, 1], shorter.mixture[1, 1], **EXACT)
    assert not pondered.ponder_time[1, 1].any()
    assert not pondered.cost[1, 1].any()


def test_a_batch_that_is_all_masked_has_no_ponder() -> None:
    network = build("gru", ACT(0.1, 0.01, 5))
    pondered = network(inputs_for("gru", times=2), torch.zeros(2, ROWS, dtype=torch.bool))
    assert not pondered.weights.any()
    assert not pondered.ponder_time.any()


def test_a_row_that_overflows_after_halting_spoils_nothing() -> None:
    """Row 0 halts at once and is only carried along; its state overflows while row 1 ponders."""
    network = Network(Geometric(), ACT(0.1, 0.01, 20), 1)
    with torch.no_grad():
        network.heads.weight.fill_(1.0)
        network.heads.bias.copy_(torch.tensor([0.0, -7.0]))
    pondered = network(torch.tensor([[[1e30, 20.0], [1.0, 1.0]]]))
    assert pondered.ponder_time.tolist() == [[1.0, 20.0]]
    assert pondered.mixture.squeeze().tolist() == [20.0, pytest.approx(1.0)]
    pondered.mixture.sum().backward()
    assert network.heads.weight.grad is not None
    assert network.heads.weight.grad.flatten().tolist() == [pytest.approx(21.0), pytest.approx(0.0)]


def test_an_infinite_output_without_weight_spoils_no_mixture() -> None:
    network = Network(Geometric(), PonderNet(0.2, max_steps=6), 1)
    with torch.no_grad():
        network.heads.weight.fill_(1.0)
        network.heads.bias.copy_(torch.tensor([0.0, 200.0]))
    pondered = network(torch.tensor([[[1e30, 20.0], [1.0, 1.0]]]))
    assert pondered.outputs is not None and torch.isinf(pondered.outputs).any()
    assert pondered.mixture.squeeze().tolist() == [20.0, 1.0]


class Forgetful(Own):
    """A cell that gives back one part of its state too few."""

    def step(self, drive: Tensor, state: State, first: bool) -> State:
        return super().step(drive, state, first)[:1]


def test_a_cell_that_loses_a_part_of_its_state_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"shorter|longer"):
        Network(Forgetful(), ACT(0.1, 0.01, 3), 1).double()(inputs_for("gru"))


@pytest.mark.parametrize("times", [1, 3])
def test_a_mask_of_another_length_is_an_error(times: int) -> None:
    """Too short a one would leave the last inputs out."""
    network = build("gru", ACT(0.1, 0.01, 3))
    with pytest.raises(ValueError, match=r"^mask: shape"):
        network(inputs_for("gru", times=2), torch.ones(times, ROWS, dtype=torch.bool))


def test_inputs_without_an_axis_are_named() -> None:
    network = build("gru", ACT(0.1, 0.01, 5))
    for inputs in (inputs_for("gru", times=2)[0], torch.zeros(2, dtype=torch.long)):
        with pytest.raises(ValueError, match=r"^inputs: shape .* \(T, B, D\) floats"):
            network(inputs)
    stacked = stacking.stack([network, network], ACT(torch.tensor([0.1, 0.2]), 0.01, 5))
    with pytest.raises(ValueError, match=r"\(T, K, B, D\) floats"):
        stacked(inputs_for("gru", times=2))
