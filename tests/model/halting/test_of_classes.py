"""Mechanisms for answers in classes: Correctness, Certainty, DACT and RandomDepth.

`test_network.py` compares their steps and gradients with the oracle.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
import torch
from oracle import oracle
from support.comparison import oracle_rows
from support.pinned import TRAINED, build, inputs_for, labels_for, score_of, values_of
from torch import Tensor

from pondering.model.halting import DACT, Certainty, Correctness, Halting, RandomDepth
from pondering.model.halting.certainty import certainty
from pondering.model.halting.readout import rightness
from pondering.model.stacking import stack

STEPS = 5
SCORED = torch.tensor([[True, False, True], [True, True, True]])


def test_certainty_is_zero_of_equal_outputs_and_one_of_a_single_answer() -> None:
    assert float(certainty(torch.zeros(7))) == pytest.approx(0, abs=1e-6)
    assert float(certainty(torch.tensor([200.0, 0, 0]))) == pytest.approx(1)


def sigmoid_score(labels: Tensor, y: Tensor) -> Tensor:
    return -torch.nn.functional.logsigmoid((2 * labels - 1) * y[..., 0])


@pytest.mark.parametrize("halting", [DACT(0.2, 4), Certainty(max_steps=4)])
def test_one_sigmoid_is_two_classes(halting: Halting) -> None:
    network, inputs, labels = build("lstm", halting), inputs_for("lstm"), labels_for()
    pondered = network(inputs)
    one = pondered._replace(outputs=pondered.outputs[..., 1:] - pondered.outputs[..., :1])
    got = halting.objective(lambda y: sigmoid_score(labels, y), one)
    torch.testing.assert_close(got, halting.objective(score_of(labels), pondered))


@pytest.mark.parametrize("halting", [DACT(0.1, 3), Certainty(max_steps=3)])
def test_a_loss_that_is_no_cross_entropy_is_refused(halting: Halting) -> None:
    pondered = build("lstm", halting)(inputs_for("lstm"))
    with pytest.raises(ValueError, match=f"{type(halting).__name__}: this loss is not allowed"):
        halting.objective(lambda y: (y - 1).square().sum(-1), pondered)
    parts = score_of(labels_for())
    with pytest.raises(ValueError, match="one softmax"):
        halting.objective(lambda y: parts(y) + parts(-y), pondered)


# --- DACT ---------------------------------------------------------------------------------------


def test_stopping_early_never_changes_the_class() -> None:
    halting = DACT(0.0, 8)
    for seed in range(10):
        network, inputs = build("gru", halting, seed), inputs_for("gru", 1, 64, seed)
        whole = network.halting.predict(network(inputs))
        stopped = network.eval()(inputs)
        early = network.halting.predict(stopped)
        assert torch.equal(whole.argmax(-1), early.argmax(-1))
        assert (stopped.ponder_time < 8).any()


def test_an_answer_of_probability_zero_has_a_finite_loss() -> None:
    network, inputs = build("lstm", DACT(0.2, 3)).float(), inputs_for("lstm").float()
    pondered = network(inputs)
    outputs = (pondered.outputs * 1e6).detach().requires_grad_()
    sure = pondered._replace(outputs=outputs)
    loss = network.halting.objective(score_of(labels_for()), sure)
    loss.sum().backward()
    assert loss.isfinite().all() and outputs.grad.isfinite().all()


# --- Correctness --------------------------------------------------------------------------------


def exploration_rule(share: float, draws: list[list[float]]) -> oracle.Rule:
    """At a share of the steps, a row that expects to be right may stop only from U{2..N} on."""

    def stops(done: oracle.Pondering) -> bool:
        first, second = draws[done.steps - 1]
        least = 2 + math.floor(second * (STEPS - 1))
        return done.logits[-1] > 0 and not (first < share and done.steps < least)

    return oracle.exit_where(stops, STEPS)


def test_steps_and_losses_of_exploration_match_the_oracle() -> None:
    """All replicas share the draws of an update. Only training explores."""
    shares, rows, case = [0.0, 0.5, 1.0], 6, TRAINED["correctness"]
    inputs, labels = inputs_for("tanh_rnn", 1, rows), labels_for(1, rows)
    solo = [build("tanh_rnn", case.halting) for _ in shares]
    for network in solo:  # most steps expect to be right
        network.heads.bias.data[-1] += 1.0
    together = stack(solo, Correctness(0.7, STEPS, torch.tensor(shares)))
    both, taken = inputs.unsqueeze(1).expand(1, 3, *inputs.shape[1:]), set()
    for update in range(4):
        halting = together.halting.at_update(update)
        record = together(both, halting=halting)
        losses = halting.objective(score_of(labels.unsqueeze(1)), record)[0].detach()
        generator = torch.Generator().manual_seed(update)
        draws = torch.stack([torch.rand(2, rows, generator=generator) for _ in range(STEPS)])
        for (k, share), b in itertools.product(enumerate(shares), range(rows)):
            rule = exploration_rule(share, draws[..., b].tolist())
            row = oracle_rows(
                "tanh_rnn", case._replace(rule=rule), values_of(solo[k]), inputs[:, b : b + 1]
            )
            done = row[0][0]
            assert done is not None and record.ponder_time[0, k, b] == done.steps
            loss = oracle.correctness_loss(done, int(labels[0, b]), 0.7)
            np.testing.assert_allclose(float(losses[k, b]), loss, rtol=1e-9)
            taken.add((share, done.steps))
    assert {(0.0, 1), (0.5, 1), (0.5, 2), (1.0, 2)} <= taken, taken
    for still in (together.halting, halting.at_inference()):
        steps = together(both, halting=still).ponder_time[0]
        assert torch.equal(steps[2], steps[0])


def test_an_answer_is_right_where_all_its_parts_are() -> None:
    """Four outputs are two softmaxes or four sigmoids; an unscored vector is not known."""
    outputs = torch.tensor([[[0.1, 0.0, -3.0, 2.0], [0.1, 0.0, 5.0, 2.0], [0.0, 1.0, 0.0, 1.0]]])
    labels = torch.tensor([[0, 1], [0, 1], [1, 1]])
    scored = torch.tensor([True, True, False])

    def of_parts(each: Tensor) -> Tensor:
        log_p = each.unflatten(-1, (2, 2)).log_softmax(-1)
        losses = -log_p.gather(-1, labels.expand(*each.shape[:-1], 2).unsqueeze(-1)).sum((-1, -2))
        return torch.where(scored, losses, 0.0)

    right, known = rightness(of_parts, outputs)
    assert right[0, :2].tolist() == [True, False]
    assert known[0].tolist() == [True, True, False]


def test_unscored_vectors_teach_the_halting_unit_nothing() -> None:
    halting, score = TRAINED["correctness"].halting, score_of(labels_for())
    pondered = build("lstm", halting)(inputs_for("lstm"))
    loss = halting.objective(lambda y: torch.where(SCORED, score(y), 0.0), pondered)
    assert torch.equal(loss != 0, SCORED)
    with pytest.raises(ValueError, match="halting logits"):
        halting.objective(score, pondered._replace(halt_logits=None))


# --- RandomDepth --------------------------------------------------------------------------------


def test_depths_are_drawn_as_in_the_source() -> None:
    """n from U{0..N-1}, k from U{1..N-n}: P(n, n + k) = 1 / N / (N - n). Else from U{1..N}."""
    progressive = {(n, n + k): 1 / 3 / (3 - n) for n in range(3) for k in range(1, 3 - n + 1)}
    uniform = {(0, depth): 0.25 for depth in (1, 2, 3, 4)}
    for halting, want in (
        (RandomDepth(1.0, 3), progressive), (RandomDepth(1.0, 4, progressive=False), uniform),
    ):  # fmt: skip
        each = [halting.at_update(update) for update in range(3000)]
        counts = Counter((int(now.cut), int(now.depth)) for now in each)
        assert set(counts) == set(want)
        for pair, share in want.items():
            assert counts[pair] / 3000 == pytest.approx(share, abs=0.03), pair


def test_alpha_is_the_share_of_updates_at_random_depth() -> None:
    halting = RandomDepth(torch.tensor([0.0, 0.3, 1.0]), 50)
    depths = torch.stack([halting.at_update(update).depth for update in range(1000)])
    assert (depths[:, 0] == 50).all()
    assert float((depths[:, 1] < 50).float().mean()) == pytest.approx(0.3, abs=0.05)
    both = depths[:, 1] < 50
    assert torch.equal(depths[both, 1], depths[both, 2])


def test_evaluation_takes_all_steps() -> None:
    network, inputs = build("lstm", RandomDepth(1.0, 6)), inputs_for("lstm")
    assert (network.eval()(inputs).ponder_time == 6).all()
    assert network.halting.at_update(0).at_inference().depth is None
