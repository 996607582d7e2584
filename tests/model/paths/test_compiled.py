"""The compiled path against the readable one in twice the precision, and against itself."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from support import tiny
from support.compiled_networks import (
    BIASES,
    HIDDEN,
    INPUTS,
    PRESENT,
    RHO,
    SHAPES,
    STEPS,
    TAU,
    batch_of,
    compare,
    networks,
    readable_twin,
    results,
    stacked,
)
from threadpoolctl import ThreadpoolController
from torch import Tensor, nn

from pondering.model.cells import CELLS
from pondering.model.halting import ACT, FixedRepeat, Halting, PonderNet
from pondering.model.heads import Reads
from pondering.model.network import Network
from pondering.model.paths import PathName, compiled
from pondering.model.paths.compiled import operations
from pondering.model.paths.compiled.loops import backward, forward
from pondering.model.stacking import stack


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A word for each forward and backward pass of the loops."""
    made: list[str] = []
    for module, name in ((forward, "forward"), (backward, "backward")):
        real = getattr(module, name)

        def counted(*given: Any, name: str = name, real: Any = real) -> Any:
            made.append(name)
            return real(*given)

        monkeypatch.setattr(module, name, counted)
    return made


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("biases", BIASES)
@pytest.mark.parametrize(
    ("cell", "flag"), [*itertools.product(("tanh_rnn", "lstm"), (True, False))]
)
def test_it_gives_the_numbers_of_the_readable_path(
    cell: str, flag: bool, biases: str, shape: str, calls: list[str]
) -> None:
    network = stacked(networks(cell, BIASES[biases], flag=flag))
    twin = readable_twin(network)
    for share in PRESENT:
        batch = batch_of(*SHAPES[shape], share)
        calls.clear()
        (got, gradients), (want, exact) = results(network, batch), results(twin, batch)
        assert calls == ["forward", "backward"]
        compare((got, gradients), (want, exact))
        steps = want.ponder_time[batch[2]].long().tolist()
        assert got.computed == sum(steps)
        if shape == "sequences" and share == 1:
            expected = {"all at once": {1}, "never": {STEPS}, "spread": {1, 2, 3, STEPS}}
            assert expected[biases] <= set(steps)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("biases", BIASES)
@pytest.mark.parametrize(
    ("cell", "reads", "mechanism"),
    [("tanh_rnn", "h", "act_last"), ("lstm", "h", "act_last"),
     ("lstm", "state", "act"), ("lstm", "state", "act_last")],
)  # fmt: skip
def test_the_last_state_may_cross_and_the_halting_unit_read_the_cell(
    cell: str, reads: Reads, mechanism: str, biases: str, shape: str, calls: list[str]
) -> None:
    network = stacked(networks(cell, BIASES[biases], reads=reads), mechanism)
    twin = readable_twin(network)
    for share in PRESENT:
        batch = batch_of(*SHAPES[shape], share)
        calls.clear()
        compare(results(network, batch), results(twin, batch))
        assert calls == ["forward", "backward"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm"])
def test_a_fixed_repeat_has_the_numbers_of_the_readable_path_too(
    cell: str, flag: bool, shape: str, calls: list[str]
) -> None:
    network = stacked(networks(cell, (1.0, -2.0, -1.0), flag=flag), "repeat")
    twin = readable_twin(network)
    for share in PRESENT:
        batch = batch_of(*SHAPES[shape], share)
        calls.clear()
        (got, gradients), (want, exact) = results(network, batch), results(twin, batch)
        assert calls == ["forward", "backward"]
        compare((got, gradients), (want, exact))
        there = torch.tensor(RHO)[:, None].expand_as(got.ponder_time[0])
        assert torch.equal(got.ponder_time, torch.where(batch[2], there, 0.0))
        assert got.computed == int(got.ponder_time.sum())
        assert not gradients["heads.weight"][:, -1].any()


def test_the_threads_of_blas_are_the_callers_again_afterwards() -> None:
    network = stack(networks("lstm", (1.0, -2.0, -1.0)), FixedRepeat(2))
    network.path = "compiled"
    blas = ThreadpoolController().select(user_api="blas")
    with blas.limit(limits=2):
        before = [each["num_threads"] for each in blas.info()]
        results(network, batch_of(3, 5, 0.7))
        assert [each["num_threads"] for each in blas.info()] == before
    assert 2 in before


def test_one_count_for_all_replicas_is_a_number(calls: list[str]) -> None:
    solos = networks("lstm", (1.0, -2.0, -1.0))
    found = []
    for halting in (FixedRepeat(3), FixedRepeat(torch.tensor([3.0, 3.0, 3.0]))):
        network = stack(solos, halting)
        network.path = "compiled"
        pondered, gradients = results(network, batch_of(3, 5, 0.7))
        found.append(gradients | {"mixture": pondered.mixture.detach()})
    assert calls == ["forward", "backward"] * 2
    tiny.same_bits(*found)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mechanism", ["act", "act_last", "repeat"])
@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm"])
def test_large_networks_have_the_products_of_torch(
    cell: str, mechanism: str, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "MOST_HIDDEN", HIDDEN - 1)
    products, real = [], operations._product
    monkeypatch.setattr(operations, "_product", lambda *given: products.append(real(*given)))
    monkeypatch.setattr(operations, "_in_python", operations._in_python.__wrapped__)  # nothing kept
    network = stacked(networks(cell, BIASES["spread"]), mechanism)
    twin = readable_twin(network)
    for share in PRESENT:
        batch = batch_of(*SHAPES[shape], share)
        compare(results(network, batch), results(twin, batch))
    assert len(products) > STEPS


@pytest.mark.parametrize("mechanism", ["act", "repeat"])
@pytest.mark.parametrize("count", [1, 3])
def test_more_rows_than_a_block_and_many_outputs(mechanism: str, count: int) -> None:
    """With 180 units of an LSTM a block has 128 rows; fewer have smaller ones."""
    solos = []
    for seed, bias in enumerate((1.0, -2.0, -1.0)):
        generator = torch.Generator().manual_seed(seed)
        cell = CELLS["lstm"](INPUTS, 180, True, generator)
        solos.append(Network(cell, ACT(TAU[seed], 0.05, count), 7, bias, generator))
    assert operations._block(4 * 180, 180) < 150
    network = stacked(solos, mechanism)
    twin = readable_twin(network)
    inputs, _, mask = batch_of(2, 150, 0.7)
    targets = torch.rand(*mask.shape, 7, generator=torch.Generator().manual_seed(1))
    compare(results(network, (inputs, targets, mask)), results(twin, (inputs, targets, mask)))


@pytest.mark.parametrize(
    ("cell", "hidden", "halting"),
    [
        ("gru", 8, ACT(0.1, max_steps=3)),
        ("gru", 8, FixedRepeat(2)),
        ("gru", 8, PonderNet(0.3, max_steps=3)),
        ("tanh_rnn", 8, PonderNet(0.3, max_steps=3)),
    ],
)
def test_elsewhere_the_fast_path_goes_on(
    cell: str, hidden: int, halting: Halting, calls: list[str]
) -> None:
    generator = torch.Generator().manual_seed(0)
    network = stack([Network(CELLS[cell](INPUTS, hidden, True, generator), halting, 2)], halting)
    found = []
    for path in ("fast", "compiled"):
        network.path = path  # type: ignore[assignment]
        found.append(results(network, tuple(p[:, :1] for p in batch_of(2, 5, 0.7)))[1])
    tiny.same_bits(*found)
    assert not calls


class _Sharp(ACT):
    pass


class _SharpRepeat(FixedRepeat):
    pass


def test_no_record_says_that_a_subclass_was_trained_by_it() -> None:
    cpu, lstm = torch.device("cpu"), CELLS["lstm"]
    for kind, other, given in (
        (ACT, _Sharp, {"tau": 0.1}),
        (FixedRepeat, _SharpRepeat, {"rho": 2}),
    ):
        assert compiled.has_loops(lstm, kind(**given), cpu)
        assert not compiled.has_loops(lstm, other(**given), cpu)


def pondered(path: PathName) -> tuple[Network, Tensor]:
    """Two replicas, and what they make of a batch."""
    generator = torch.Generator().manual_seed(0)
    cell: nn.Module = CELLS["tanh_rnn"](4, 8, True, generator)
    solo = Network(cell, ACT(0.1, max_steps=5), 2, 0.0, generator)
    network = stack([solo, solo], solo.halting)
    network.path = path
    return network, network(torch.randn(2, 2, 3, 4, generator=generator)).mixture.pow(2).sum()


@pytest.mark.parametrize("path", ["fast", "compiled"])
def test_a_second_backward_pass_and_changed_weights_are_refused(path: PathName) -> None:
    _, total = pondered(path)
    total.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="second backward pass"):
        total.backward()
    for halting in (ACT(0.1, max_steps=4), FixedRepeat(2), PonderNet(0.3, max_steps=4)):
        network = stack([Network(CELLS["lstm"](3, 8), halting, 2)] * 2, halting)
        network.path = path
        done = network(torch.randn(2, 2, 5, 3))
        with torch.no_grad():
            network.cell.recurrent.add_(1)
        with pytest.raises(RuntimeError, match="inplace operation"):
            (done.mixture.sum() + done.cost.sum()).backward()


def test_it_cannot_be_differentiated_twice() -> None:
    network, total = pondered("compiled")
    (gradient,) = torch.autograd.grad(total, [network.cell.recurrent], create_graph=True)
    with pytest.raises(RuntimeError, match="once_differentiable"):
        gradient.sum().backward()


def test_a_path_of_another_name_is_refused() -> None:
    network, _ = pondered("compiled")
    with pytest.raises(ValueError, match="'compield' is unknown; allowed: readable, fast, comp"):
        network.path = "compield"  # type: ignore[assignment]
    assert network.path == "compiled"
