"""Every path against the readable path in float64, and what no path may do."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import pytest
import torch
from support import tiny
from support.stacks import (
    BIASES,
    HIDDEN,
    IMAGE,
    INPUTS,
    PRESENT,
    RECORDS,
    SHAPES,
    STEPS,
    batch_of,
    compare,
    halting_of,
    networks,
    readable_twin,
    results,
    stacked,
)
from threadpoolctl import ThreadpoolController
from torch import Tensor

from pondering.model.cells import CELLS, LSTM
from pondering.model.halting import ACT, FixedRepeat, Halting, PonderNet, SampledHalting
from pondering.model.network import Network
from pondering.model.paths import PathName, compiled, fast, readable, skipping
from pondering.model.paths.compiled import operations
from pondering.model.paths.fast import forward
from pondering.model.paths.fast.kernels import LANES
from pondering.model.stacking import gradient_norms

KNOWN = ("tanh_rnn", "lstm")  # cells with a gradient by hand
BY_HAND = [
    *itertools.product(
        ["fast"], KNOWN, [True], ["act", "act_last", "act_once", "repeat", "plain", "pondernet",
                                  "pondernet_once", "pondernet_eps", "pondernet_last"],
    ),
    *itertools.product(["fast"], ["conv_mlp"], [True, False], ["pondernet", "pondernet_once"]),
    *itertools.product(["compiled"], KNOWN, [True, False], ["act", "repeat"]),
    *itertools.product(["compiled"], [*KNOWN, "lstm+state"], [True], ["act_last"]),
    ("compiled", "lstm+state", True, "act"),
]  # fmt: skip
CASES = [
    (*case, biases)
    for case in BY_HAND
    for biases in (BIASES if case[3] in ("act", "act_last") else ["spread"])
]


@pytest.fixture(autouse=True)
def pack_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pack rows even in tiny networks."""
    monkeypatch.setattr(skipping, "WORTH", 0)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("path", "cell", "flag", "mechanism", "biases"), CASES)
def test_a_path_gives_the_numbers_of_the_readable_one(
    path: PathName, cell: str, flag: bool, mechanism: str, biases: str, shape: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Rows halt together, apart or never; inputs are masked. No other path is there to be taken."""
    network = stacked(networks(cell, BIASES[biases], flag), halting_of(mechanism), path)
    network = network.double() if path == "fast" else network
    twin, most = readable_twin(network), int(network.halting.max_steps)
    times, rows = SHAPES[shape] if cell != "conv_mlp" else (SHAPES[shape][0], 2)
    for share in PRESENT:
        batch = batch_of(times, rows, share, IMAGE if cell == "conv_mlp" else INPUTS)
        want, exact = results(twin, batch)
        with monkeypatch.context() as others:
            others.delattr(readable, "ponder")
            if path == "compiled":
                others.delattr(fast, "ponder")
            got, gradients = results(network, batch)
        with torch.no_grad():
            alone = network(batch[0].to(network.heads.weight.dtype), batch[2])
        compare((got, gradients), (want, exact))
        compare((alone, {}), (want, {}))
        steps = want.ponder_time[batch[2]].long().tolist()
        if path == "compiled":
            assert got.computed == sum(steps)
        elif not network.halting.scores_every_step:  # else all N steps are computed
            assert sum(steps) <= got.computed <= want.computed
        if shape == "sequences" and share == 1 and mechanism in ("act", "act_last"):
            expected = {"all at once": {1}, "never": {most}, "spread": {1, 2, 3, most}}
            assert expected[biases] <= set(steps)
            assert got.computed < 0.8 * want.computed or biases != "spread"


@pytest.mark.parametrize("cell", KNOWN)
@pytest.mark.parametrize("mechanism", ["act", "act_last", "repeat"])
def test_the_layout_of_a_gpu_gives_the_same_numbers(
    cell: str, mechanism: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replicas padded to equal counts of rows."""
    monkeypatch.setattr(forward, "all_rows", lambda mask, **_: skipping.all_rows(mask, True))
    network = stacked(networks(cell), halting_of(mechanism), "fast").double()
    batch = batch_of(3, 48, 0.7)
    compare(results(network, batch), results(readable_twin(network), batch))


@pytest.mark.parametrize("hidden", [1, 7, 18, 250])
@pytest.mark.parametrize("cell", KNOWN)
def test_any_number_of_hidden_units_trains_in_single_precision(cell: str, hidden: int) -> None:
    """torch's grouped product takes float32 alone, and only rows of whole 16 bytes."""
    network = stacked(networks(cell, hidden=hidden), halting_of("repeat"), "fast")
    batch = batch_of(3, 48, 0.7)
    compare(results(network, batch), results(readable_twin(network), batch))


def test_the_compiled_path_leaves_double_precision_to_the_fast_one() -> None:
    network, batch = stacked(networks("lstm"), halting_of("act")).double(), batch_of(3, 48, 0.7)
    compare(results(network, batch), results(readable_twin(network), batch))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mechanism", ["act", "act_last", "repeat"])
@pytest.mark.parametrize("cell", KNOWN)
def test_large_networks_multiply_by_torch(
    cell: str, mechanism: str, shape: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operations, "MOST_HIDDEN", HIDDEN - 1)
    products, real = [], operations._product
    monkeypatch.setattr(operations, "_product", lambda *parts: products.append(real(*parts)))
    monkeypatch.setattr(operations, "_in_python", operations._in_python.__wrapped__)  # no cache
    network = stacked(networks(cell), halting_of(mechanism))
    twin = readable_twin(network)
    for share in PRESENT:
        batch = batch_of(*SHAPES[shape], share)
        compare(results(network, batch), results(twin, batch))
    assert len(products) > STEPS


@pytest.mark.parametrize("mechanism", ["act_once", "act_thrice", "repeat"])
def test_more_rows_than_a_block(mechanism: str) -> None:
    """A block of an LSTM of 180 units has 128 rows."""
    assert operations._block(4 * 180, 180) < 150
    network = stacked(networks("lstm", hidden=180), halting_of(mechanism))
    batch = batch_of(2, 150, 0.7)
    compare(results(network, batch), results(readable_twin(network), batch))


def test_one_count_for_all_replicas_may_be_a_number() -> None:
    found = []
    for halting in (FixedRepeat(3), FixedRepeat(torch.tensor([3.0, 3.0, 3.0]))):
        pondered, gradients = results(stacked(networks("lstm"), halting), batch_of(3, 5, 0.7))
        found.append(gradients | {"mixture": pondered.mixture.detach()})
    tiny.same_bits(*found)


@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("mechanism", ["act", "act_last", "repeat", "sampled"])
def test_without_a_gradient_any_cell_skips_halted_rows(mechanism: str, masked: bool) -> None:
    found, (inputs, _, mask) = [], batch_of(3, 48, 0.7)
    mask[1] = False  # no row has this input
    for path in ("readable", "fast"):
        sampled = SampledHalting(STEPS, torch.Generator().manual_seed(5))
        halting = sampled if mechanism == "sampled" else halting_of(mechanism)
        network = stacked(networks("gru"), halting, path).double()
        with torch.no_grad():
            found.append(network(inputs.double(), mask if masked else None))
    slow, quick = found
    assert quick.computed < 0.8 * slow.computed or (mechanism == "repeat" and not masked)
    compare((quick, {}), (slow, {}))
    assert quick.weights is None and slow.weights is not None


class _Sharp(ACT):
    def step(self, n: int, halt_logit: Tensor, state: Any) -> Any:
        return super().step(n, 2 * halt_logit, state)


class _SharpPonderNet(PonderNet):
    def step(self, n: int, halt_logit: Tensor, state: Any) -> Any:
        return super().step(n, 2 * halt_logit, state)


class _OtherRepeat(FixedRepeat):
    def step(self, n: int, halt_logit: Tensor, state: Any) -> Any:
        return super().step(n + 1, halt_logit, state)


@pytest.mark.parametrize("path", ["fast", "compiled"])
@pytest.mark.parametrize(
    "halting", [_Sharp(0.25, 0.05, 30), _SharpPonderNet(0.3, 0.1, 5), _OtherRepeat(3)]
)
def test_a_subclass_has_the_gradient_of_its_steps(halting: Halting, path: PathName) -> None:
    """Gradients by hand hold for ACT, fixed repeat and PonderNet, not for their subclasses."""
    network, batch = stacked(networks("lstm"), halting, path), batch_of(3, 48, 0.7)
    compare(results(network, batch), results(readable_twin(network), batch))
    assert not compiled.has_loops(LSTM, halting, torch.device("cpu"))
    assert compiled.has_loops(LSTM, halting_of("act"), torch.device("cpu"))


@pytest.mark.parametrize("cell", KNOWN)
@pytest.mark.parametrize("mechanism", ["act", "act_last", "repeat"])
def test_a_nan_replica_changes_no_packed_neighbour(cell: str, mechanism: str) -> None:
    network = stacked(networks(cell, hidden=LANES), halting_of(mechanism), "fast")
    sick = copy.deepcopy(network)
    with torch.no_grad():
        for parameter in sick.parameters():
            parameter[1] = torch.nan
    others, found = [0, 2], []
    for each in (network, sick):
        record, _ = results(each, batch_of(3, 48, 0.7))
        part = {field: getattr(record, field)[:, others] for field in RECORDS}
        part |= {name: p.grad[others] for name, p in each.named_parameters() if p.grad is not None}
        found.append(part | {"norms": gradient_norms(each.parameters())[others]})
    tiny.same_bits(*found)
    assert gradient_norms(sick.parameters())[1].isnan()


@pytest.mark.parametrize("cell", KNOWN)
def test_a_replica_whose_rows_all_go_on_has_the_bits_of_itself_alone(cell: str) -> None:
    """Beside replicas whose halted rows are left out."""
    solos, found = networks(cell, (-30.0, 4.0, -1.0), hidden=LANES), []
    for count in (1, 3):
        network = stacked(solos[:count], halting_of("act", count), "fast")
        inputs, labels, mask = (part[:, :count] for part in batch_of(3, LANES, 1))
        results(network, (inputs, labels, mask))
        found.append({name: p.grad[0] for name, p in network.named_parameters()})
    tiny.same_bits(*found)


@pytest.mark.parametrize("path", ["readable", "fast"])
def test_sampled_steps_do_not_depend_on_the_neighbours(path: PathName) -> None:
    """Replica 1 changes no draw of replicas 0 and 2."""
    inputs, _, mask = batch_of(3, 48, 0.7)
    steps = []
    for bias in (0.0, -3.0):
        solos = networks("gru", (4.0, -2.0 + bias, -1.0))
        halting = SampledHalting(20, torch.Generator().manual_seed(4))
        steps.append(stacked(solos, halting, path)(inputs, mask).ponder_time)
    assert not torch.equal(steps[0][:, 1], steps[1][:, 1])
    assert torch.equal(steps[0][:, [0, 2]], steps[1][:, [0, 2]])


def test_the_number_of_blas_threads_is_restored() -> None:
    network = stacked(networks("lstm"), FixedRepeat(2))
    blas = ThreadpoolController().select(user_api="blas")
    with blas.limit(limits=2):
        before = [each["num_threads"] for each in blas.info()]
        results(network, batch_of(3, 5, 0.7))
        assert [each["num_threads"] for each in blas.info()] == before
    assert 2 in before


@pytest.mark.parametrize("path", ["fast", "compiled"])
@pytest.mark.parametrize("mechanism", ["act", "repeat", "pondernet"])
def test_a_second_backward_pass_and_changed_weights_are_refused(
    path: PathName, mechanism: str
) -> None:
    """The message names the path that allows them."""
    network, inputs = stacked(networks("lstm"), halting_of(mechanism), path), batch_of(2, 5, 1)[0]
    if mechanism != "pondernet":
        total = network(inputs).mixture.sum()
        torch.autograd.grad(total, network.cell.recurrent, retain_graph=True)
        with pytest.raises(RuntimeError, match=r"second backward pass.*path='readable'"):
            torch.autograd.grad(total, network.heads.weight, retain_graph=True)
    done = network(inputs)
    with torch.no_grad():
        network.cell.recurrent.add_(1)
    with pytest.raises(RuntimeError, match="inplace operation"):
        (done.mixture.sum() + done.cost.sum()).backward()


@pytest.mark.parametrize("mechanism", ["act", "pondernet"])
@pytest.mark.parametrize("path", ["readable", "fast", "compiled"])
def test_a_gradient_of_a_gradient_is_right_or_refused(mechanism: str, path: PathName) -> None:
    network = stacked(networks("lstm"), halting_of(mechanism), path)
    pondered = network(batch_of(2, 4, 1)[0])
    loss = network.halting.objective(lambda outputs: outputs.square().mean(-1), pondered).sum()
    parameters = [network.cell.recurrent, network.heads.weight]
    first = torch.autograd.grad(loss, parameters, create_graph=True)
    penalty = sum(each.square().sum() for each in first)
    if path == "readable":
        penalty.backward()
        assert all(each.grad.isfinite().all() and each.grad.any() for each in parameters)
    else:
        with pytest.raises(RuntimeError, match="differentiate twice"):
            penalty.backward()


def test_an_unknown_path_is_refused() -> None:
    network, inputs = Network(CELLS["lstm"](2, 3), ACT(0.1), 1), torch.zeros(1, 4, 2)
    message = "^path: compield is not allowed; readable or fast or compiled is"
    with pytest.raises(ValueError, match=message):
        network(inputs, path="compield")
    network.path = "compield"  # type: ignore[assignment]
    with pytest.raises(ValueError, match=message):
        network(inputs)
