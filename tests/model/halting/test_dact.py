"""DACT: its running answer, loss and gradient, and where it stops."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from oracle import oracle
from support.classes import MASK, agrees, labels_for, rows_of, score_of
from support.pinned import build, inputs_for, values_of

from pondering.model.halting import DACT

STEPS = 5


@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm", "gru"])
def test_loss_and_gradient_are_the_oracles(cell: str) -> None:
    def loss(done: oracle.Pondering, label: int, _: oracle.Pondering) -> float:
        return oracle.dact_loss(done, label, 0.3)

    network = agrees(cell, DACT(0.3, STEPS), oracle.dact(STEPS), loss)
    assert network.heads.weight.grad[-1].abs().sum() > 0


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("early", [False, True])
def test_answer_weights_and_steps_are_the_oracles(early: bool, masked: bool) -> None:
    found, rule = set(), oracle.dact(STEPS, early)
    for seed in range(5):
        network, inputs = build("gru", DACT(0.1, STEPS), seed), inputs_for("gru", len(MASK))
        mask = MASK if masked else None
        network.train(not early)
        pondered = network(inputs, mask)
        halting = network.halting.at_inference() if early else network.halting
        probabilities = halting.predict(pondered).detach().softmax(-1)
        times = halting.ponder_time(pondered)
        for b, row in enumerate(rows_of("gru", rule, values_of(network), inputs, mask)):
            for t, done in enumerate(row):
                if done is None:
                    assert times[t, b] == 0 and pondered.weights[:, t, b].sum() == 0
                    continue
                found.add(done.steps)
                want = oracle.dact_answer(done)
                np.testing.assert_allclose(probabilities[t, b].numpy(), want, rtol=1e-9)
                weights = pondered.weights[:, t, b].detach().numpy()
                padded = done.weights + [0.0] * (len(weights) - done.steps)
                np.testing.assert_allclose(weights, padded, rtol=1e-9, atol=1e-12)
                expected = oracle.expected_steps(done.weights)
                assert float(times[t, b]) == pytest.approx(done.steps if early else expected)
    assert found == ({STEPS} if not early else found) and (not early or len(found) > 2)


def test_stopping_early_never_changes_the_class() -> None:
    halting = DACT(0.0, 8)
    for seed in range(10):
        network, inputs = build("gru", halting, seed), inputs_for("gru", 1, 64, seed)
        whole = network.halting.predict(network(inputs))
        stopped = network.eval()(inputs)
        early = network.halting.predict(stopped)
        assert torch.equal(whole.argmax(-1), early.argmax(-1))
        assert (stopped.ponder_time < 8).any()


def test_one_sigmoid_is_two_classes() -> None:
    """A running answer of one output, against the same as two."""
    network, inputs, labels = build("lstm", DACT(0.2, 4)), inputs_for("lstm"), labels_for()
    pondered = network(inputs)
    one = pondered._replace(outputs=pondered.outputs[..., 1:] - pondered.outputs[..., :1])

    def score(y: torch.Tensor) -> torch.Tensor:
        return -torch.nn.functional.logsigmoid((2 * labels - 1) * y[..., 0])

    got = network.halting.objective(score, one)
    torch.testing.assert_close(got, network.halting.objective(score_of(labels), pondered))


def test_an_answer_without_any_chance_has_a_finite_loss() -> None:
    network, inputs = build("lstm", DACT(0.2, 3)).float(), inputs_for("lstm").float()
    pondered = network(inputs)
    outputs = (pondered.outputs * 1e6).detach().requires_grad_()
    sure = pondered._replace(outputs=outputs)
    loss = network.halting.objective(score_of(labels_for()), sure)
    loss.sum().backward()
    assert loss.isfinite().all() and outputs.grad.isfinite().all()


def test_a_loss_that_is_no_cross_entropy_is_refused() -> None:
    network, inputs = build("lstm", DACT(0.1, 3)), inputs_for("lstm")
    with pytest.raises(ValueError, match="DACT: this loss is not allowed"):
        network.halting.objective(lambda y: y.square().sum(-1), network(inputs))


@pytest.mark.parametrize("arguments", [{"tau": -1.0}, {"tau": 0.1, "max_steps": 0}])
def test_what_it_refuses(arguments: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=list(arguments)[-1]):
        DACT(**arguments)
