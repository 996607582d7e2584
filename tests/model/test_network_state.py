"""A sequence in parts: the state that goes in and comes out; and what lies under a mask."""

from __future__ import annotations

import pytest
import torch
from support.classes import labels_for, score_of
from support.comparison import EXACT
from support.pinned import MECHANISMS, ROWS, build, inputs_for

from pondering.model import stacking
from pondering.model.halting import ACT, DACT, Certainty, Correctness, Halting, RandomDepth
from pondering.model.paths import PathName

ALL: dict[str, Halting] = {name: halting for name, (halting, _) in MECHANISMS.items()} | {
    "correctness": Correctness(0.5, 5, explore=0.0),
    "certainty": Certainty(0.1, 5),
    "dact": DACT(0.1, 5),
    "random_depth": RandomDepth(1.0, 5, depth=4, cut=2),
}


@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm"])
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("gradient", [True, False])
def test_two_parts_are_the_whole(cell: str, name: str, gradient: bool) -> None:
    network, inputs = build(cell, ALL[name]), inputs_for(cell, times=4)
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
    assert network(inputs, mask).state is None


def test_a_gradient_crosses_the_parts() -> None:
    network, inputs = build("gru", ALL["act"]), inputs_for("gru", times=2)
    first = network(inputs[:1], keep_state=True)
    network(inputs[1:], state=first.state).mixture.sum().backward()
    found = {name: p.grad.clone() for name, p in network.named_parameters()}
    network.zero_grad()
    network(inputs).mixture[1].sum().backward()
    for name, parameter in network.named_parameters():
        torch.testing.assert_close(found[name], parameter.grad, **EXACT)


@pytest.mark.parametrize("path", ["readable", "fast", "compiled"])
@pytest.mark.parametrize("name", ["act", "pondernet", "repeat"])
def test_stacked_replicas_go_on_from_a_state_by_every_path(path: PathName, name: str) -> None:
    single = build("lstm", ALL[name])
    network = stacking.stack([single, single], ALL[name])
    inputs = inputs_for("lstm", times=3)
    each = inputs.unsqueeze(1).expand(-1, 2, -1, -1)
    first = network(each[:2], keep_state=True, path=path)
    second = network(each[2:], state=first.state, path=path)
    torch.testing.assert_close(second.mixture[0, 1], single(inputs).mixture[2], **EXACT)


def test_a_state_of_another_shape_is_named() -> None:
    network = build("lstm", ACT(0.1))
    with pytest.raises(ValueError, match=r"^state: shapes"):
        network(inputs_for("lstm", times=1), state=(torch.zeros(ROWS, 1),))


@pytest.mark.parametrize("halting", ALL.values(), ids=ALL)
def test_nan_under_the_mask_reaches_no_gradient(halting: Halting) -> None:
    network, inputs = build("gru", halting), inputs_for("gru", times=2)
    mask = torch.ones(2, ROWS, dtype=torch.bool)
    mask[1, 0] = False
    gradients = []
    for padding in (0.0, torch.nan):
        padded = inputs.clone()
        padded[1, 0] = padding
        network.zero_grad()
        pondered = network(padded, mask)
        loss = network.halting.objective(score_of(labels_for(2)), pondered)
        loss[mask].sum().backward()
        gradients.append([p.grad.clone() for p in network.parameters() if p.grad is not None])
    for clean, dirty in zip(*gradients, strict=True):
        assert torch.equal(clean, dirty)


@pytest.mark.parametrize("halting", ALL.values(), ids=ALL)
def test_a_masked_place_costs_nothing_by_any_mechanism(halting: Halting) -> None:
    network, inputs = build("gru", halting), inputs_for("gru", times=2)
    mask = torch.ones(2, ROWS, dtype=torch.bool)
    mask[1, 0] = False
    for judged in (halting, halting.at_inference(torch.Generator().manual_seed(0))):
        pondered = network(inputs, mask, halting=judged)
        loss = judged.objective(score_of(labels_for(2)), pondered)
        assert loss[1, 0] == 0 and (loss[mask] > 0).all()
