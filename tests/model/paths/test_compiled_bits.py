"""Compiled loops: threads and neighbours change no bit. Every path's tanh is exact."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from support import tiny
from support.stacks import HIDDEN, RHO, Batch, batch_of, halting_of, networks, stacked
from torch import Tensor

from pondering.model.network import Network
from pondering.model.paths.compiled import operations
from pondering.model.paths.compiled.loops import cells as steps_of
from pondering.model.paths.fast.kernels import LANES, _fast_tanh


@pytest.fixture
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("mechanism", ["act", "repeat"])
@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm"])
@pytest.mark.usefixtures("one_thread")
def test_threads_and_neighbours_change_no_bit(cell: str, mechanism: str) -> None:
    """The loops alone, on one to five threads, and each replica alone or beside a NaN replica."""
    solos, batch = networks(cell), batch_of(3, 33, 0.7)
    want = run_loops(stacked(solos, halting_of(mechanism)), batch)
    for threads in (2, 3, 5):
        torch.set_num_threads(threads)
        tiny.same_bits(run_loops(stacked(solos, halting_of(mechanism)), batch), want)
    torch.set_num_threads(1)
    for k in (0, 2):
        pair = [solos[k], copy.deepcopy(solos[1])]
        with torch.no_grad():
            for parameter in pair[1].parameters():
                parameter.fill_(torch.nan)
        for company in ([solos[k]], pair):
            some = [k, 1][: len(company)]
            columns = tuple(part[:, some] for part in batch)
            rho = tuple(RHO[each] for each in some)
            halting = halting_of(mechanism, len(some), rho)
            got = run_loops(stacked(company, halting), columns)
            tiny.same_bits(of_replica(got, 0), of_replica(want, k))


def of_replica(found: dict[str, Tensor], k: int) -> dict[str, Tensor]:
    times_first = ("features", "steps", "drives")
    return {name: value.select(int(name in times_first), k) for name, value in found.items()}


def run_loops(network: Network, batch: Batch) -> dict[str, Tensor]:
    """What the loops return, and the gradients that they pass on for a fixed loss."""
    inputs, labels, mask = batch
    drives = network._embed(inputs).detach().contiguous().requires_grad_()
    network.zero_grad()
    done = operations.ponder(network.cell, network.heads, network.halting, drives, mask)
    pull = torch.linspace(-1, 1, HIDDEN)
    loss = (done.features * pull).sum() + (done.cost * labels).sum()
    loss.backward()
    found = {"features": done.features.detach(), "steps": done.ponder_time}
    found |= {name: p.grad for name, p in network.cell.named_parameters() if p.grad is not None}
    assert drives.grad is not None and network.heads.weight.grad is not None
    return found | {"drives": drives.grad, "heads": network.heads.weight.grad}


def test_tanh_and_sigmoid_are_exact_to_a_few_units_in_the_last_place() -> None:
    x = np.linspace(-12, 12, 200_001, dtype=np.float32)
    wide = x.astype(np.float64)
    ours = np.array([steps_of.tanh(v) for v in x[::50]])
    np.testing.assert_allclose(ours, np.tanh(wide[::50]), rtol=5e-7, atol=0)
    ours = np.array([steps_of.sigmoid(v) for v in x[::50]])
    np.testing.assert_allclose(ours, 1 / (1 + np.exp(-wide[::50])), rtol=0, atol=2e-7)
    assert all(np.isnan(each(np.float32("nan"))) for each in (steps_of.tanh, steps_of.sigmoid))
    ends = [steps_of.tanh(np.float32(v)) for v in (np.inf, -np.inf)]
    np.testing.assert_allclose(ends, [1, -1], rtol=3e-7)


@pytest.mark.parametrize("width", [LANES, 3 * LANES, LANES + 1, 5])
def test_the_fast_tanh_is_exact_within_rounding_and_the_same_at_every_place(width: int) -> None:
    x = torch.linspace(-3, 3, 40 * width, dtype=torch.float64).pow(3).view(40, width)
    for dtype, close in ((torch.float32, 3e-7), (torch.float64, 1e-15)):
        values = x.to(dtype)
        exact = np.tanh(values.double().numpy())
        alone = torch.stack([_fast_tanh(row.clone()) for row in values])
        assert _fast_tanh(values).equal(alone)
        assert np.abs(alone.double().numpy() - exact).max() < close
    odd = torch.tensor([[0.0, torch.inf, -torch.inf, torch.nan]]).repeat(1, width)
    found = _fast_tanh(odd)[0, :4]
    assert found[:3].tolist() == [0.0, 1.0, -1.0] and found[3].isnan()
