"""The most certain answer: its measure, its loss and gradient, and where it stops."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from oracle import oracle
from support.classes import MASK, agrees, labels_for, rows_of, score_of
from support.pinned import build, inputs_for, values_of

from pondering.model.halting import Certainty
from pondering.model.halting.certainty import certainty

STEPS = 5
WHOLE = oracle.exit_where(lambda done: False, STEPS)


def test_certainty_is_one_less_the_entropy_as_a_share_of_its_most() -> None:
    generator = torch.Generator().manual_seed(0)
    outputs = 3 * torch.randn(20, 4, generator=generator, dtype=torch.float64)
    want = [oracle.certainty_of(y) for y in outputs.numpy()]
    np.testing.assert_allclose(certainty(outputs).numpy(), want, rtol=1e-12)
    assert float(certainty(torch.zeros(7))) == pytest.approx(0, abs=1e-6)
    assert float(certainty(torch.tensor([200.0, 0, 0]))) == pytest.approx(1)


def test_one_sigmoid_is_two_classes() -> None:
    logit = torch.tensor([[0.7]], dtype=torch.float64)
    both = torch.cat([torch.zeros_like(logit), logit], dim=-1)
    torch.testing.assert_close(certainty(logit), certainty(both))


@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm", "gru"])
def test_loss_and_gradient_are_the_oracles(cell: str) -> None:
    def loss(done: oracle.Pondering, label: int, base: oracle.Pondering) -> float:
        losses = [oracle.cross_entropy(y, label) for y in base.outputs]
        chosen = losses.index(min(losses)), oracle.most_certain(base)
        return oracle.certainty_loss(done, label, chosen)

    agrees(cell, Certainty(max_steps=STEPS), WHOLE, loss)


def test_the_answer_is_that_of_the_most_certain_step() -> None:
    chosen = set()
    for seed in range(6):
        network, inputs = build("tanh_rnn", Certainty(max_steps=STEPS), seed), inputs_for("", 1)
        got = network.halting.predict(network(inputs))[0].detach().numpy()
        for b, (done,) in enumerate(rows_of("tanh_rnn", WHOLE, values_of(network), inputs)):
            most = oracle.most_certain(done)
            chosen.add(most)
            np.testing.assert_allclose(got[b], done.outputs[most], rtol=1e-9)
    assert len(chosen) > 2


@pytest.mark.parametrize("theta", [0.05, 0.4, 1.0])
def test_it_stops_at_the_first_step_that_is_certain_enough(theta: float) -> None:
    rule = oracle.exit_where(lambda done: oracle.certainty_of(done.outputs[-1]) > theta, STEPS)
    network, inputs = build("lstm", Certainty(theta, STEPS), 2), inputs_for("lstm", len(MASK))
    trained = network(inputs, MASK)
    assert (trained.ponder_time[MASK] == STEPS).all()
    pondered = network.eval()(inputs, MASK)
    rows = rows_of("lstm", rule, values_of(network), inputs, MASK)
    taken = [[done.steps if done else 0 for done in row] for row in rows]
    assert pondered.ponder_time.T.tolist() == taken
    got = network.halting.predict(pondered).detach().transpose(0, 1)[MASK.T].numpy()
    want = [done.outputs[oracle.most_certain(done)] for row in rows for done in row if done]
    np.testing.assert_allclose(got, np.array(want), rtol=1e-9)


def test_each_replica_has_its_own_theta() -> None:
    halting = Certainty(torch.tensor([0.2, 0.9]), 4).at_inference()
    state = halting.start(torch.ones(2, 3, dtype=torch.bool))
    state = halting.look(torch.tensor([1.5]).expand(2, 3, 1), (), state)
    weight, _ = halting.step(1, torch.zeros(2, 3), state)
    assert weight.tolist() == [[1, 1, 1], [0, 0, 0]]


def test_a_loss_that_is_no_cross_entropy_is_refused() -> None:
    network, inputs = build("lstm", Certainty(max_steps=3)), inputs_for("lstm")
    pondered = network(inputs)
    with pytest.raises(ValueError, match="Certainty: this loss is not allowed"):
        network.halting.objective(lambda y: (y - 1).square().sum(-1), pondered)
    parts = score_of(labels_for())
    with pytest.raises(ValueError, match="one softmax"):
        network.halting.objective(lambda y: parts(y) + parts(-y), pondered)


@pytest.mark.parametrize("arguments", [{"theta": 0.0}, {"theta": 1.5}, {"max_steps": 0}])
def test_what_it_refuses(arguments: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(arguments))):
        Certainty(**arguments)
