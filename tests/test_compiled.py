"""The compiled path against the readable one in twice the precision, and against itself."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from pinned import score_against
from torch import Tensor

from pondering import compiled, unrolled
from pondering.cells import CELLS
from pondering.halting import ACT, FixedRepeat, Halting, Pondered, PonderNet
from pondering.loops import act, steps
from pondering.loops import cells as steps_of
from pondering.network import Network
from pondering.replicas import stack

REPLICAS, INPUTS, HIDDEN, STEPS = 3, 4, 20, 12
RECORDS = ("mixture", "ponder_time", "remainder", "cost", "expected_steps")
CLOSE: dict[str, Any] = {"rtol": 2e-5, "atol": 2e-6, "check_dtype": False}
TAU = (0.25, 0.0, 0.5)
BIASES = {
    "spread": (4.0, -2.0, -1.0),
    "all at once": (20.0, 20.0, 20.0),
    "never": (-30.0, -30.0, -30.0),
}
SHAPES = {"vectors": (1, 40), "sequences": (4, 40), "one row": (3, 1)}
PRESENT = (1.0, 0.7, 0.1, 0.0)  # the share of inputs that are there


def networks(
    cell: str,
    biases: tuple[float, ...],
    steps: int = STEPS,
    flag: bool = True,
) -> list[Network]:
    """One replica a bias, so different that their rows halt at very different steps."""
    solos = []
    for seed, bias in enumerate(biases):
        generator = torch.Generator().manual_seed(seed)
        made = CELLS[cell](INPUTS, HIDDEN, flag, generator)
        solo = Network(made, ACT(TAU[seed], 0.05, steps), 2, bias, generator)
        with torch.no_grad():
            solo.heads.weight[-1] *= 6
        solos.append(solo)
    return solos


def stacked(solos: list[Network], mechanism: str = "act") -> Network:
    """The replicas on the compiled path."""
    settings, steps = torch.tensor(TAU[: len(solos)]), solos[0].halting.max_steps
    halting = {
        "act": ACT(settings, 0.05, steps),
        "pondernet": PonderNet(settings / 2 + 0.2, 0.3, steps),
    }[mechanism]
    network = stack(solos, halting)
    network.path = "compiled"
    return network


Batch = tuple[Tensor, Tensor, Tensor]
Gradients = dict[str, Tensor]


def batch_of(times: int, rows: int, share: float) -> Batch:
    generator = torch.Generator().manual_seed(9)
    shape = (times, REPLICAS, rows)
    inputs = 2 * torch.randn(*shape, INPUTS, generator=generator)
    targets = torch.randint(0, 2, (*shape, 2), generator=generator).float()
    return inputs, targets, torch.rand(shape, generator=generator) < share


def results(network: Network, batch: Batch) -> tuple[Pondered, dict[str, Tensor]]:
    """The record, and the gradients of the inputs and of every parameter."""
    network.zero_grad()
    dtype = network.heads.weight.dtype
    inputs = batch[0].to(dtype, copy=True).requires_grad_()
    targets, mask = batch[1].to(dtype), batch[2]
    pondered = network(inputs, mask)
    losses = network.halting.objective(score_against(targets), pondered)
    torch.where(mask, losses, 0.0).sum(0).mean(-1).sum().backward()
    gradients = {
        name: torch.zeros_like(p) if p.grad is None else p.grad.clone()
        for name, p in network.named_parameters()
    }
    found = inputs.grad
    return pondered, gradients | {"inputs": torch.zeros_like(inputs) if found is None else found}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A word for each forward and backward pass of the loops."""
    made: list[str] = []
    for module, name in itertools.product((act, steps), ("forward", "backward")):
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
    twin = copy.deepcopy(network).double()
    twin.path = "readable"
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


def compare(found: tuple[Pondered, Gradients], exact: tuple[Pondered, Gradients]) -> None:
    """Records and gradients, to what single precision has."""
    for field in RECORDS:
        torch.testing.assert_close(getattr(found[0], field), getattr(exact[0], field), **CLOSE)
    for name, gradient in found[1].items():
        scale = float(exact[1][name].abs().max())
        close = CLOSE | {"atol": 2e-6 * max(1.0, scale)}
        torch.testing.assert_close(
            gradient, exact[1][name], **close, msg=lambda m, n=name: f"{n}: {m}"
        )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm"])
def test_large_networks_have_the_products_of_torch(
    cell: str, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled, "LARGEST", HIDDEN - 1)
    products, real = [], compiled._product
    monkeypatch.setattr(compiled, "_product", lambda *given: products.append(real(*given)))
    monkeypatch.setattr(compiled, "_in_python", compiled._in_python.__wrapped__)  # nothing kept
    network = stacked(networks(cell, BIASES["spread"]))
    twin = copy.deepcopy(network).double()
    twin.path = "readable"
    for share in PRESENT:
        batch = batch_of(*SHAPES[shape], share)
        compare(results(network, batch), results(twin, batch))
    assert len(products) > STEPS


@pytest.mark.parametrize("mechanism", ["act", "pondernet"])
@pytest.mark.parametrize("count", [1, 3])
def test_more_rows_than_a_block_and_many_outputs(mechanism: str, count: int) -> None:
    """With 180 units of an LSTM a block has 128 rows; fewer have smaller ones."""
    solos = []
    for seed, bias in enumerate((1.0, -2.0, -1.0)):
        generator = torch.Generator().manual_seed(seed)
        cell = CELLS["lstm"](INPUTS, 180, True, generator)
        solos.append(Network(cell, ACT(TAU[seed], 0.05, count), 7, bias, generator))
    assert compiled._block(4 * 180, 180) < 150
    network = stacked(solos, mechanism)
    twin = copy.deepcopy(network).double()
    twin.path = "readable"
    inputs, _, mask = batch_of(2, 150, 0.7)
    targets = torch.rand(*mask.shape, 7, generator=torch.Generator().manual_seed(1))
    compare(results(network, (inputs, targets, mask)), results(twin, (inputs, targets, mask)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm"])
def test_pondernet_has_the_numbers_of_the_readable_path_too(
    cell: str, flag: bool, shape: str, calls: list[str]
) -> None:
    network = stacked(networks(cell, (1.0, -2.0, -1.0), flag=flag), "pondernet")
    twin = copy.deepcopy(network).double()
    twin.path = "readable"
    times, rows = SHAPES[shape]
    for share in PRESENT:
        batch = batch_of(times, rows, share)
        calls.clear()
        found, exact = results(network, batch), results(twin, batch)
        assert sorted(calls) == ["backward"] * times + ["forward"] * times
        compare(found, exact)
        there = batch[2][:, None, ..., None]
        if there.any():  # else the readable path takes no step
            torch.testing.assert_close(found[0].weights, exact[0].weights, **CLOSE)
            ours, theirs = (torch.where(there, each[0].outputs, 0.0) for each in (found, exact))
            torch.testing.assert_close(ours, theirs, **CLOSE)


def test_pondernet_where_only_the_state_is_scored() -> None:
    """The heads' gradient is none, the states' is some."""
    network = stacked(networks("lstm", (1.0, -2.0, -1.0)), "pondernet")
    twin = copy.deepcopy(network).double()
    found = []
    for each, unroll in ((network, compiled.unroll), (twin, unrolled.unroll)):
        drive = torch.linspace(-1, 1, REPLICAS * 40 * 4 * HIDDEN).view(REPLICAS, 40, -1)
        drive = drive.to(each.heads.weight.dtype).requires_grad_()
        state = tuple(torch.zeros_like(drive[..., :HIDDEN]) for _ in range(2))
        states, _ = unroll(each.cell, each.heads, 5, drive, state)
        states[1][:, 2:].square().sum().backward()
        found.append(drive.grad)
    torch.testing.assert_close(*found, **CLOSE)


@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm"])
@pytest.mark.parametrize("steps", [1, 2])
def test_the_last_step_takes_what_is_left(cell: str, steps: int) -> None:
    network = stacked(networks(cell, BIASES["spread"], steps))
    twin = copy.deepcopy(network).double()
    twin.path = "readable"
    batch = batch_of(2, 10, 0.8)
    (got, gradients), (want, exact) = results(network, batch), results(twin, batch)
    assert int(got.ponder_time.max()) == steps
    torch.testing.assert_close(got.remainder, want.remainder, **CLOSE)
    for name, gradient in gradients.items():
        torch.testing.assert_close(gradient, exact[name], **CLOSE)


def assert_same_bits(a: dict[str, Tensor], b: dict[str, Tensor]) -> None:
    for name in a:
        torch.testing.assert_close(
            a[name], b[name], rtol=0, atol=0, equal_nan=True, msg=lambda m, n=name: f"{n}: {m}"
        )


@pytest.fixture
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("mechanism", ["act", "pondernet"])
@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm"])
@pytest.mark.usefixtures("one_thread")
def test_threads_and_neighbours_change_no_bit(cell: str, mechanism: str) -> None:
    """The loops alone: three replicas on one, two and three threads, and each by itself."""
    solos, batch = networks(cell, BIASES["spread"]), batch_of(3, 33, 0.7)
    by_loops = pondered_by_loops if mechanism == "act" else unrolled_by_loops
    want = by_loops(stacked(solos, mechanism), batch)
    for threads in (2, 3, 5):
        torch.set_num_threads(threads)
        assert_same_bits(by_loops(stacked(solos, mechanism), batch), want)
    torch.set_num_threads(1)
    for k in (0, 2):
        pair = [solos[k], copy.deepcopy(solos[1])]
        with torch.no_grad():
            for parameter in pair[1].parameters():
                parameter.fill_(torch.nan)
        for company in ([solos[k]], pair):
            some = [k, 1][: len(company)]
            own = tuple(part[:, some] for part in batch)
            got = by_loops(stacked(company, mechanism), own)
            assert_same_bits(of_replica(got, 0), of_replica(want, k))


def of_replica(found: dict[str, Tensor], k: int) -> dict[str, Tensor]:
    times_first = ("features", "steps", "drives")
    return {name: value.select(int(name in times_first), k) for name, value in found.items()}


def pondered_by_loops(network: Network, batch: Batch) -> dict[str, Tensor]:
    """What the loops return, and the gradients of what they read, under fixed ones of theirs."""
    inputs, targets, mask = batch
    drives = network._embed(inputs).detach().contiguous().requires_grad_()
    network.zero_grad()
    done = compiled.ponder(network.cell, network.heads, network.halting, drives, mask)
    pull = torch.linspace(-1, 1, HIDDEN)
    loss = (done.features * pull).sum() + (done.progress.cost * targets[..., 0]).sum()
    loss.backward()
    found = {"features": done.features.detach(), "steps": done.progress.steps}
    found |= {name: p.grad for name, p in network.cell.named_parameters() if p.grad is not None}
    assert drives.grad is not None and network.heads.weight.grad is not None
    return found | {"drives": drives.grad, "heads": network.heads.weight.grad}


def unrolled_by_loops(network: Network, batch: Batch) -> dict[str, Tensor]:
    """The same of PonderNet's steps on the first input."""
    inputs, targets, _ = batch
    drives = network._embed(inputs).detach()[0].contiguous().requires_grad_()
    network.zero_grad()
    state = [torch.full((len(drives), drives.shape[1], HIDDEN), 0.5).requires_grad_()]
    state *= len(network.cell.state_sizes)
    states, heads = compiled.unroll(network.cell, network.heads, STEPS, drives, tuple(state))
    pull = torch.linspace(-1, 1, HIDDEN)
    ((states[-1] * pull).sum() + (heads * targets[0, :, None, :, :1]).sum()).backward()
    found = {"every": states[0].detach(), "made": heads.detach()}
    found |= {name: p.grad for name, p in network.cell.named_parameters() if p.grad is not None}
    assert drives.grad is not None and state[0].grad is not None
    assert network.heads.weight.grad is not None
    return found | {
        "drive": drives.grad,
        "state": state[0].grad,
        "heads": network.heads.weight.grad,
    }


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


@pytest.mark.parametrize(
    ("cell", "hidden", "halting"),
    [
        ("gru", 8, ACT(0.1, max_steps=3)),
        ("tanh_rnn", 8, FixedRepeat(2)),
        ("lstm", 8, PonderNet(0.3, max_steps=3, epsilon=0.05)),
        ("gru", 8, PonderNet(0.3, max_steps=3)),
        ("tanh_rnn", compiled.LARGEST + 4, PonderNet(0.3, max_steps=3)),
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
    assert_same_bits(*found)
    assert not calls


class _Sharp(ACT):
    pass


class _SharpPonderNet(PonderNet):
    pass


@pytest.mark.parametrize("halting", [_Sharp(0.1, max_steps=3), _SharpPonderNet(0.1, max_steps=3)])
def test_a_subclass_has_its_own_steps(halting: Halting, calls: list[str]) -> None:
    network = stack([Network(CELLS["lstm"](INPUTS, 8), halting, 2)], halting)
    network.path = "compiled"
    results(network, tuple(p[:, :1] for p in batch_of(2, 5, 0.7)))
    assert not calls
