"""Arguments, states, precisions, masks and modes of a network; torch.func and Numba's cache."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch
from support.comparison import EXACT
from support.pinned import (
    MECHANISMS,
    ROWS,
    Geometric,
    UserCell,
    build,
    inputs_for,
    labels_for,
    score_of,
)
from torch import Tensor

from pondering.model.cells import LSTM, Adapted, State, TanhRNN
from pondering.model.halting import ACT, FixedRepeat, Halting, PonderNet, PonderRecord
from pondering.model.network import Network
from pondering.model.paths import PathName, compiled
from pondering.model.stacking import stack

FIELDS = tuple(name for name in PonderRecord._fields if name not in ("computed", "state"))
every_mechanism = pytest.mark.parametrize("halting", MECHANISMS.values(), ids=MECHANISMS)


# --- a sequence in parts ------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm"])
@every_mechanism
@pytest.mark.parametrize("gradient", [True, False])
def test_a_sequence_in_two_parts_equals_the_whole(
    cell: str, halting: Halting, gradient: bool
) -> None:
    network, inputs = build(cell, halting), inputs_for(cell, times=4)
    mask = torch.ones(4, ROWS, dtype=torch.bool)
    mask[2:, 0] = False
    with torch.set_grad_enabled(gradient):
        whole = network(inputs, mask, keep_state=True)
        first = network(inputs[:1], mask[:1], keep_state=True)
        second = network(inputs[1:], mask[1:], state=first.state)
    torch.testing.assert_close(second.mixture, whole.mixture[1:], **EXACT)
    assert torch.equal(second.ponder_time, whole.ponder_time[1:])
    for ours, theirs in zip(second.state, whole.state, strict=True):
        torch.testing.assert_close(ours, theirs, **EXACT)
    if gradient and halting is MECHANISMS["act"]:
        found = torch.autograd.grad(second.mixture.sum(), network.cell.recurrent)
        wanted = torch.autograd.grad(whole.mixture[1:].sum(), network.cell.recurrent)
        torch.testing.assert_close(found, wanted, **EXACT)


@pytest.mark.parametrize("path", ["readable", "fast", "compiled"])
@pytest.mark.parametrize("name", ["act", "pondernet", "repeat"])
def test_stacked_replicas_continue_from_a_state_on_every_path(path: PathName, name: str) -> None:
    single = build("lstm", MECHANISMS[name])
    network = stack([single, single], MECHANISMS[name])
    inputs = inputs_for("lstm", times=3)
    each = inputs.unsqueeze(1).expand(-1, 2, -1, -1)
    first = network(each[:2], keep_state=True, path=path)
    second = network(each[2:], state=first.state, path=path)
    torch.testing.assert_close(second.mixture[0, 1], single(inputs).mixture[2], **EXACT)


# --- under a mask, and after a halt -------------------------------------------------------------


@every_mechanism
def test_a_masked_input_costs_nothing_and_its_nan_reaches_no_gradient(halting: Halting) -> None:
    network, inputs, gradients = build("gru", halting), inputs_for("gru", times=2), []
    mask = torch.ones(2, ROWS, dtype=torch.bool)
    mask[1, 0] = False
    for padding in (0.0, torch.nan):
        inputs[1, 0] = padding
        network.zero_grad()
        for mechanism in (halting.at_inference(torch.Generator().manual_seed(0)), halting):
            loss = mechanism.objective(
                score_of(labels_for(2)), network(inputs, mask, halting=mechanism)
            )
            assert loss[1, 0] == 0 and (loss[mask] > 0).all()
        loss[mask].sum().backward()
        gradients.append([p.grad.clone() for p in network.parameters() if p.grad is not None])
    for clean, dirty in zip(*gradients, strict=True):
        assert torch.equal(clean, dirty)


def test_a_row_that_overflows_after_halting_changes_no_number() -> None:
    """Row 0 halts at once; its state overflows while row 1 ponders."""
    network = Network(Geometric(), ACT(0.1, 0.01, 20), 1)
    with torch.no_grad():
        network.heads.weight.fill_(1.0)
        network.heads.bias.copy_(torch.tensor([0.0, -7.0]))
    inputs = torch.tensor([[[1e30, 20.0], *[[1.0, 1.0]] * 9]])
    pondered = network(inputs)
    assert pondered.ponder_time.tolist() == [[1.0, *[20.0] * 9]]
    assert pondered.mixture.flatten().tolist() == [20.0, *[pytest.approx(1.0)] * 9]
    pondered.mixture[:, :2].sum().backward()
    assert network.heads.weight.grad.flatten().tolist() == [pytest.approx(21.0), pytest.approx(0.0)]
    with torch.no_grad():  # one row of ten has halted: too few to pack, so it is computed on
        fast = stack([network], network.halting)(inputs.unsqueeze(1), path="fast")
    torch.testing.assert_close(fast.mixture[:, 0], pondered.mixture)


def test_an_infinite_output_without_weight_changes_no_mixture() -> None:
    network = Network(Geometric(), PonderNet(0.2, max_steps=6), 1)
    with torch.no_grad():
        network.heads.weight.fill_(1.0)
        network.heads.bias.copy_(torch.tensor([0.0, 200.0]))
    pondered = network(torch.tensor([[[1e30, 20.0], [1.0, 1.0]]]))
    assert pondered.outputs is not None and torch.isinf(pondered.outputs).any()
    assert pondered.mixture.squeeze().tolist() == [20.0, 1.0]


# --- evaluation ---------------------------------------------------------------------------------


def test_pondernet_samples_after_eval_and_not_before() -> None:
    network = build("gru", PonderNet(0.2, 0.1, 8))
    inputs = inputs_for("gru", times=40)
    assert network(inputs).outputs is not None
    network.eval()
    first, again, other = (
        network(inputs, generator=torch.Generator().manual_seed(seed)) for seed in (1, 1, 2)
    )
    assert first.weights is not None
    assert set(first.weights.unique().tolist()) == {0.0, 1.0}
    assert torch.equal(first.ponder_time, again.ponder_time)
    assert not torch.equal(first.ponder_time, other.ponder_time)
    torch.manual_seed(3)
    drawn = network(inputs).ponder_time
    assert not torch.equal(drawn, network(inputs).ponder_time), "the default generator goes on"
    torch.manual_seed(3)
    assert torch.equal(drawn, network(inputs).ponder_time)
    whole = network(inputs, halting=network.halting)
    network.train()
    assert torch.equal(whole.mixture, network(inputs).mixture), "the mechanism as it trains"


@pytest.mark.parametrize("epsilon", [0.3, 0.05])
def test_sampling_stops_where_training_does(epsilon: float) -> None:
    network = build("tanh_rnn", PonderNet(0.2, 0.1, 30, epsilon))
    inputs = inputs_for("tanh_rnn", times=1, rows=40)
    most = network(inputs).ponder_time
    network.eval()
    drawn = [
        network(inputs, generator=torch.Generator().manual_seed(s)).ponder_time for s in range(30)
    ]
    assert (torch.stack(drawn) <= most).all()
    assert (torch.stack(drawn).amax(0) == most).any() and (most < 30).any()


# --- arguments ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["act", "pondernet", "dact"])
def test_the_batch_may_come_first(name: str) -> None:
    network, inputs, labels = build("lstm", MECHANISMS[name]), inputs_for("lstm", 4), labels_for(4)
    mask = torch.ones(4, ROWS, dtype=torch.bool)
    mask[2:, 1] = False
    plain = network(inputs, mask, keep_state=True)
    network.batch_first = True
    turned = network(inputs.transpose(0, 1), mask.T, keep_state=True)
    for field in FIELDS:
        got, want = getattr(turned, field), getattr(plain, field)
        if want is None:
            assert got is None
            continue
        axes = (1, 2) if field in ("weights", "outputs", "halt_logits") else (0, 1)
        assert torch.equal(got, want.transpose(*axes)), field
    assert plain.state is not None and turned.state is not None
    assert all(torch.equal(a, b) for a, b in zip(plain.state, turned.state, strict=True))
    score = network.halting.objective(score_of(labels), plain)
    other = network.halting.objective(score_of(labels.T), turned)
    assert torch.equal(score.T, other)


def test_shapes_that_do_not_fit_are_named() -> None:
    network, inputs = build("gru", ACT(0.1, 0.01, 5)), inputs_for("gru", times=2)
    features = torch.zeros(10, 32, 2, dtype=torch.long)
    for odd in (inputs[0], inputs[:0], inputs[None], torch.zeros(2, dtype=torch.long), features):
        wanted = r"\(T, B, D\) floats or \(T, B\) integers are$"
        with pytest.raises(ValueError, match=rf"^inputs: torch.* of shape .*{wanted}"):
            network(odd)
    for times in (1, 3):  # too short a mask would leave the last inputs out
        with pytest.raises(ValueError, match=r"^mask: shape"):
            network(inputs, torch.ones(times, ROWS, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"^mask: torch.float32 is not allowed; bool is"):
        network(inputs, torch.ones(2, ROWS))
    with pytest.raises(ValueError, match=r"^state: shapes"):
        network(inputs, state=(torch.zeros(ROWS, 1),))
    stacked = stack([network, network], ACT(torch.tensor([0.1, 0.2]), 0.01, 5))
    for odd in (inputs, inputs[:, None]):
        with pytest.raises(ValueError, match=r"\(T, 2, B, D\) floats"):
            stacked(odd)
    network.batch_first = True
    with pytest.raises(ValueError, match=r"shape \(3, 2\) .*\(B, T, D\)"):
        network(inputs[0])
    with pytest.raises(ValueError, match=rf"mask: shape \({ROWS}, 2\)"):
        network(inputs, torch.ones(ROWS, 2, dtype=torch.bool))
    with pytest.raises(ValueError, match="batch_first"):
        stack([network, network], ACT(torch.tensor([0.1, 0.2])))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precisions_are_refused(dtype: torch.dtype) -> None:
    network = Network(TanhRNN(2, 3), ACT(0.1), 1)
    with pytest.raises(ValueError, match=r"^precision: .* are not allowed; float32 with"):
        network.to(dtype)(torch.zeros(4, 5, 2, dtype=dtype))
    with pytest.raises(ValueError, match=r"^precision: inputs of torch.float64 and"):
        network.float()(torch.zeros(4, 5, 2, dtype=torch.float64))
    with (
        torch.autocast("cpu", dtype=torch.bfloat16),
        pytest.raises(ValueError, match=r"^autocast: is not allowed"),
    ):
        network(torch.zeros(4, 5, 2))


def test_a_wrong_number_of_settings_is_refused() -> None:
    """Such settings would broadcast along another axis, such as time."""
    pair = torch.tensor([0.1, 0.2])
    inputs = torch.zeros(2, 4, 2)
    for halting in (ACT(pair), PonderNet(pair), PonderNet(0.2, kl=("p_prior", "prior_p"))):
        network = Network(TanhRNN(2, 3), halting, 1)
        with pytest.raises(ValueError, match=r": 2 values are not allowed; one is$"):
            network(inputs)
    single = Network(TanhRNN(2, 3), ACT(0.1), 1)
    with pytest.raises(
        ValueError, match=r"^tau: 2 values are not allowed; one, or one for each of 3"
    ):
        stack([single] * 3, ACT(pair))(torch.zeros(2, 3, 4, 2))


def test_pondernets_objective_needs_the_outputs_of_every_step() -> None:
    network = build("gru", PonderNet(0.2, 0.1, 4)).eval()
    with pytest.raises(ValueError, match=r"^objective: the record has no outputs of every step"):
        network.halting.objective(score_of(labels_for()), network(inputs_for("gru")))


class Forgetful(UserCell):
    """A cell that returns one part of its state too few."""

    def step(self, drive: Tensor, state: State, first: bool) -> State:
        return super().step(drive, state, first)[:1]


def test_a_cell_that_loses_a_part_of_its_state_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shorter|longer"):
        Network(Forgetful(), ACT(0.1, 0.01, 3), 1).double()(inputs_for("gru"))


def test_the_halting_unit_may_read_the_cell_too() -> None:
    network = Network(LSTM(2, 3), ACT(0.1), 4, reads="state")
    assert network.heads.rest is not None and network.heads.rest.shape == (1, 3)
    with pytest.raises(ValueError, match=r"^reads: 'state' is not allowed"):
        Network(TanhRNN(2, 3), ACT(0.1), 1, reads="state")
    with pytest.raises(ValueError, match=r"^reads: c is not allowed; h or state is"):
        Network(LSTM(2, 3), ACT(0.1), 1, reads="c")  # type: ignore[arg-type]


def test_halt_bias_and_heads() -> None:
    """b_h starts at 1 in Graves's experiments; it is the last row of the heads."""
    network = Network(UserCell(), ACT(0.1), 4)
    assert network.heads.weight.shape == (5, 3)
    assert float(network.heads.bias[-1].detach()) == 1.0
    assert network.heads.bias[:-1].abs().max() <= 1 / 3**0.5
    assert float(Network(UserCell(), ACT(0.1), 4, -2.5).heads.bias[-1].detach()) == -2.5


def test_without_numba_a_stack_takes_the_fast_path(monkeypatch: pytest.MonkeyPatch) -> None:
    network = Network(TanhRNN(2, 32), ACT(0.1), 1)
    pair = stack([network, network], ACT(torch.tensor([0.1, 0.2])))
    inputs = torch.randn(1, 2, 64, 2, generator=torch.Generator().manual_seed(0))
    fast = pair(inputs, path="fast")
    assert not torch.equal(pair(inputs).mixture, fast.mixture), "the paths round differently"
    monkeypatch.setattr(compiled, "installed", lambda: False)
    assert torch.equal(pair(inputs).mixture, fast.mixture)


# --- in users' programs -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "halting", [ACT(1e-3, max_steps=6), FixedRepeat(3), PonderNet(0.3, max_steps=6)]
)
@pytest.mark.parametrize("around", ["ours", "torch's"])
def test_without_a_gradient_halted_rows_are_not_computed(halting: Halting, around: str) -> None:
    torch.manual_seed(3)
    cell: Any = LSTM(2, 32) if around == "ours" else Adapted(torch.nn.LSTMCell(3, 32))
    network = Network(cell, halting, 3, halt_bias=-1.0).eval()
    inputs, mask, found = torch.randn(4, 50, 2), torch.rand(4, 50) < 0.8, []
    mask[2] = False  # no row has this input
    for path in ("compiled", "readable"):
        generator = torch.Generator().manual_seed(0)
        with torch.no_grad():
            found.append(network(inputs, mask, keep_state=True, path=path, generator=generator))
    skipped, whole = found
    assert skipped.computed == int(skipped.ponder_time.sum()) <= whole.computed
    for each in ("ponder_time", "weights", "remainder", "expected_steps"):
        torch.testing.assert_close(getattr(skipped, each), getattr(whole, each))
    torch.testing.assert_close(skipped.mixture[mask], whole.mixture[mask])
    torch.testing.assert_close(skipped.state, whole.state)


def test_torch_func_grad_agrees_with_backward() -> None:
    torch.manual_seed(0)
    singles = [Network(LSTM(2, 32), ACT(1e-3, max_steps=6), 3) for _ in range(2)]
    network, inputs = stack(singles, singles[0].halting), torch.randn(2, 2, 8, 2)

    def loss(parameters: dict[str, Tensor]) -> Tensor:
        record = torch.func.functional_call(network, parameters, (inputs,))
        return network.halting.objective(lambda y: y.square().mean(-1), record).sum()

    parameters = dict(network.named_parameters())
    found = torch.func.grad(loss)(parameters)
    loss(parameters).backward()
    for name, each in parameters.items():
        torch.testing.assert_close(found[name], each.grad, rtol=1e-4, atol=1e-6)


PROGRAM = """
import warnings, torch
from pondering import ACT, LSTM, Network, Sweep
make = lambda: Network(LSTM(2, 32), ACT(1e-3, max_steps=4), 3)
sweep = Sweep(make, lambda y, t: (y - t).square().mean(-1), seeds=range(2))
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    for _ in range(2):
        loss = sweep.step(torch.randn(3, 8, 2), torch.randn(3, 8, 3))
    print(len(said), said[0].message if said else "", loss.isfinite().all().item())
"""


def test_without_a_folder_for_its_cache_numba_is_left_out() -> None:
    """Numba finds no folder if the package is read-only and its user has no home."""
    no_place = "import numba.core.caching as c\nc.CacheImpl._locator_classes = []\n"
    done = subprocess.run(
        [sys.executable, "-c", no_place + PROGRAM], capture_output=True, text=True, check=True
    )
    count, *words = done.stdout.split()
    assert count == "1" and "NUMBA_CACHE_DIR" in done.stdout and words[-1] == "True"
