"""The fast path against the readable one, where rows and replicas halt at very different steps."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from support.pinned import Geometric, score_against
from torch import Tensor

from pondering.model.cells import CELLS
from pondering.model.halting import (
    ACT,
    FixedRepeat,
    Halting,
    PonderNet,
    PonderRecord,
    SampledHalting,
)
from pondering.model.network import Network, PathName
from pondering.model.paths import skipping
from pondering.model.paths.fast import forward
from pondering.model.paths.fast.kernels import LANES
from pondering.model.stacking import gradient_norms, stack

TIMES, REPLICAS, ROWS, HIDDEN, OUTPUTS = 3, 3, 48, LANES, 2
RECORDS = ("mixture", "ponder_time", "remainder", "cost", "expected_steps")
HALTING: dict[str, Halting] = {
    "act": ACT(torch.tensor([0.25, 0.0, 0.5]), 0.05, 30),
    "act_last": ACT(torch.tensor([0.25, 0.0, 0.5]), 0.05, 30, "last"),
    "repeat": FixedRepeat(torch.tensor([1.0, 5.0, 3.0])),
}


def stacked_network(
    cell: str, halting: Halting, dtype: torch.dtype, hidden: int = HIDDEN
) -> Network:
    """Three replicas with halting biases that make N spread from 1 to M."""
    solos = []
    for seed, bias in enumerate((4.0, -2.0, -1.0)):
        generator = torch.Generator().manual_seed(seed)
        solo = Network(CELLS[cell](4, hidden, True, generator), halting, OUTPUTS, bias, generator)
        with torch.no_grad():
            solo.heads.weight[-1] *= 6
        solos.append(solo)
    return stack(solos, halting).to(dtype)


def a_batch(dtype: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(9)
    inputs = 2 * torch.randn(TIMES, REPLICAS, ROWS, 4, generator=generator)
    targets = torch.randint(0, 2, (TIMES, REPLICAS, ROWS, OUTPUTS), generator=generator)
    mask = torch.rand(TIMES, REPLICAS, ROWS, generator=generator) < 0.7
    return inputs.to(dtype), targets.to(dtype), mask


def run(network: Network, batch: tuple[Tensor, Tensor, Tensor], path: PathName) -> PonderRecord:
    network.path = path
    network.zero_grad()
    inputs, targets, mask = batch
    pondered = network(inputs, mask)
    losses = network.halting.objective(score_against(targets), pondered)
    torch.where(mask, losses, 0.0).sum(0).mean(-1).sum().backward()
    return pondered


@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm"])
@pytest.mark.parametrize("name", HALTING)
def test_both_paths_give_the_same_numbers(
    cell: str, name: str, padded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Padded to equal counts, too: nothing but that tells a GPU's layout from a CPU's."""
    monkeypatch.setattr(forward, "all_rows", lambda mask, **_: skipping.all_rows(mask, padded))
    network = stacked_network(cell, HALTING[name], torch.float64)
    batch = a_batch(torch.float64)
    slow = run(network, batch, "readable")
    want = {key: p.grad.clone() for key, p in network.named_parameters() if p.grad is not None}
    fast = run(network, batch, "fast")
    if name == "act":
        assert {1, 2, 3, 30} <= set(slow.ponder_time[batch[2]].long().tolist())
    exact: dict[str, Any] = {"rtol": 1e-11, "atol": 1e-12}
    for field in RECORDS:
        torch.testing.assert_close(getattr(fast, field), getattr(slow, field), **exact)
    for key, parameter in network.named_parameters():
        torch.testing.assert_close(parameter.grad, want[key], **exact, msg=key)


class _Sharp(ACT):
    def step(self, n: int, halt_logit: Tensor, state: Any) -> Any:
        return super().step(n, 2 * halt_logit, state)


class _SharpPonderNet(PonderNet):
    def step(self, n: int, halt_logit: Tensor, state: Any) -> Any:
        return super().step(n, 2 * halt_logit, state)


@pytest.mark.parametrize("halting", [_Sharp(0.25, 0.05, 30), _SharpPonderNet(0.3, 0.1, 5)])
def test_a_subclass_has_the_gradient_of_its_own_steps(halting: Halting) -> None:
    """The paths with a gradient by hand know ACT, fixed repeat and PonderNet as they stand."""
    network, batch = stacked_network("lstm", halting, torch.float64), a_batch(torch.float64)
    run(network, batch, "readable")
    want = {key: p.grad.clone() for key, p in network.named_parameters() if p.grad is not None}
    run(network, batch, "fast")
    for key, parameter in network.named_parameters():
        torch.testing.assert_close(parameter.grad, want[key], rtol=1e-11, atol=1e-12, msg=key)


@pytest.mark.parametrize("hidden", [1, 7, 18, 250])
@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm"])
def test_any_number_of_hidden_units_trains_in_single_precision(cell: str, hidden: int) -> None:
    """torch's grouped product takes float32 alone, and only rows of whole 16 bytes."""
    network = stacked_network(cell, HALTING["repeat"], torch.float32, hidden)
    batch = a_batch(torch.float32)
    fast = run(network, batch, "fast")
    got = {key: p.grad for key, p in network.named_parameters() if p.grad is not None}
    twin = copy.deepcopy(network).double()
    slow = run(twin, (batch[0].double(), batch[1].double(), batch[2]), "readable")
    close: dict[str, Any] = {"rtol": 1e-4, "atol": 1e-5, "check_dtype": False}
    torch.testing.assert_close(fast.mixture, slow.mixture, **close)
    for key, parameter in twin.named_parameters():
        if key in got:
            torch.testing.assert_close(got[key], parameter.grad, **close, msg=key)
    assert set(got) >= {"cell.recurrent", "cell.input.weight"}
    with torch.no_grad():
        alone = network(batch[0], batch[2])
    torch.testing.assert_close(alone.mixture, slow.mixture, **close)


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("cell", ["tanh_rnn", "gru", "lstm"])
@pytest.mark.parametrize("name", [*HALTING, "sampled"])
def test_without_a_gradient_too(cell: str, name: str, masked: bool) -> None:
    found = []
    paths: tuple[PathName, ...] = ("readable", "fast")
    for path in paths:
        sampled = SampledHalting(30, torch.Generator().manual_seed(5))
        network = stacked_network(cell, HALTING.get(name, sampled), torch.float64)
        network.path = path
        inputs, _, mask = a_batch(torch.float64)
        with torch.no_grad():
            found.append(network(inputs, mask if masked else None))
    slow, quick = found
    assert quick.computed < 0.8 * slow.computed or (name == "repeat" and not masked)
    for field in RECORDS:
        ours, theirs = getattr(quick, field), getattr(slow, field)
        torch.testing.assert_close(ours, theirs, rtol=1e-11, atol=1e-12, msg=field)


@pytest.mark.parametrize("masked", [True, False])
def test_the_fast_path_computes_less_but_not_less_than_needed(masked: bool) -> None:
    network = stacked_network("lstm", HALTING["act"], torch.float32)
    inputs, targets, mask = a_batch(torch.float32)
    batch = (inputs, targets, mask if masked else torch.ones_like(mask))
    slow, fast = run(network, batch, "readable"), run(network, batch, "fast")
    assert int(slow.ponder_time.sum()) <= fast.computed < 0.8 * slow.computed


def test_nobody_there_is_nothing_to_compute() -> None:
    network = stacked_network("lstm", HALTING["act"], torch.float64)
    inputs, _, mask = a_batch(torch.float64)
    pondered = network(inputs, torch.zeros_like(mask))
    assert pondered.computed == 0
    assert not pondered.ponder_time.any()
    assert not pondered.cost.any()


@pytest.fixture(autouse=True)
def pack_even_tiny_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(skipping, "WORTH", 0)


def same_bits(a: Tensor, b: Tensor) -> None:
    torch.testing.assert_close(a, b, rtol=0, atol=0)


@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm"])
@pytest.mark.parametrize("name", HALTING)
def test_a_nan_replica_leaves_packed_ones_alone(cell: str, name: str) -> None:
    network = stacked_network(cell, HALTING[name], torch.float32)
    sick = copy.deepcopy(network)
    with torch.no_grad():
        for parameter in sick.parameters():
            parameter[1] = torch.nan
    batch = a_batch(torch.float32)
    good, bad = run(network, batch, "fast"), run(sick, batch, "fast")
    for field in RECORDS:
        same_bits(getattr(good, field)[:, [0, 2]], getattr(bad, field)[:, [0, 2]])
    for a, b in zip(network.parameters(), sick.parameters(), strict=True):
        assert a.grad is not None and b.grad is not None
        same_bits(a.grad[[0, 2]], b.grad[[0, 2]])
    norms = gradient_norms(network.parameters()), gradient_norms(sick.parameters())
    same_bits(norms[0][[0, 2]], norms[1][[0, 2]])
    assert norms[1][1].isnan()


@pytest.mark.parametrize("path", ["readable", "fast"])
def test_sampled_steps_do_not_depend_on_the_neighbours(path: PathName) -> None:
    """The same generator draws the same for replica 0 whatever replica 1 does."""
    network = stacked_network("gru", SampledHalting(20, torch.Generator()), torch.float64)
    other = stacked_network("gru", network.halting, torch.float64)
    with torch.no_grad():
        other.heads.bias[1, -1] -= 3.0
    inputs, _, mask = a_batch(torch.float64)
    steps = []
    for one in (network, other):
        one.path = path
        one.halting = SampledHalting(20, torch.Generator().manual_seed(4))
        steps.append(one(inputs, mask).ponder_time)
    assert not torch.equal(steps[0][:, 1], steps[1][:, 1])
    assert torch.equal(steps[0][:, [0, 2]], steps[1][:, [0, 2]])


def test_a_halted_row_that_is_carried_along_and_overflows_spoils_nothing() -> None:
    """One row of ten halts at once: too few to pack, so it is computed on."""
    solo = Network(Geometric(), ACT(0.1, 0.01, 20), 1)
    with torch.no_grad():
        solo.heads.weight.fill_(1.0)
        solo.heads.bias.copy_(torch.tensor([0.0, -7.0]))
        network = stack([solo], solo.halting)
        pondered = network(torch.tensor([[[[1e30, 20.0]] + [[1.0, 1.0]] * 9]]), path="fast")
    assert pondered.ponder_time.tolist() == [[[1.0] + [20.0] * 9]]
    assert pondered.mixture.flatten().tolist() == [20.0, *[pytest.approx(1.0)] * 9]
