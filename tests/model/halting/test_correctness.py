"""Halting by correctness: loss, gradient, exploration, and what it is refused."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import torch
from oracle import oracle
from support.classes import MASK, agrees, labels_for, rows_of, score_of
from support.pinned import build, inputs_for, values_of

from pondering.model.cells import LSTM, TanhRNN
from pondering.model.halting import Correctness
from pondering.model.halting.readout import rightness
from pondering.model.network import Network
from pondering.model.stacking import stack

STEPS = 5
RULE = oracle.exit_where(lambda done: done.logits[-1] > 0, STEPS)
HALTING = Correctness(0.7, STEPS, explore=0.0)


@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm", "gru"])
def test_loss_and_gradient_are_the_oracles(cell: str) -> None:
    network = agrees(cell, HALTING, RULE, lambda done, y, _: oracle.correctness_loss(done, y, 0.7))
    assert network.heads.weight.grad[-1].abs().sum() > 0


def test_rows_stop_where_the_halting_unit_says_right() -> None:
    found = set()
    for seed in range(4):
        network, inputs = build("tanh_rnn", HALTING, seed), inputs_for("tanh_rnn", 3)
        rows = rows_of("tanh_rnn", RULE, values_of(network), inputs)
        pondered = network(inputs)
        steps = [[done.steps for done in row if done] for row in rows]
        assert pondered.ponder_time.T.tolist() == steps
        outputs = np.array([[done.output for done in row if done] for row in rows])
        got = network.halting.predict(pondered).detach().transpose(0, 1).numpy()
        np.testing.assert_allclose(got, outputs, rtol=1e-9)
        found |= {n for row in steps for n in row}
    assert {1, STEPS} < found


def stopped(halting: Correctness, rows: tuple[int, ...]) -> torch.Tensor:
    """Steps of rows whose halting unit says right from the first step on."""
    state, always = halting.start(torch.ones(rows, dtype=torch.bool)), torch.full(rows, 9.0)
    for n in range(1, STEPS + 1):
        _, state = halting.step(n, always, state)
    return state.steps


def test_at_each_step_some_rows_may_not_stop_yet() -> None:
    """P(on at step n) = explore P(U > n) = 0.5 (N - n) / (N - 1), drawn anew at each step."""
    halting = Correctness(max_steps=STEPS, explore=0.5)
    steps = stopped(halting.at_update(3), (20_000,))
    on = 1.0
    for n in range(1, STEPS + 1):
        stays = 0.5 * (STEPS - n) / (STEPS - 1) if n < STEPS else 0.0
        assert float((steps == n).float().mean()) == pytest.approx(on * (1 - stays), abs=0.01), n
        on *= stays
    assert torch.equal(steps, stopped(halting.at_update(3), (20_000,)))
    assert not torch.equal(steps, stopped(halting.at_update(4), (20_000,)))
    assert (stopped(halting.at_inference(), (64,)) == 1).all()


def exploring(share: float, draws: list[list[float]]) -> oracle.Rule:
    """A row that thinks it is right stops only from U{2..N} on, at a share of the steps."""

    def stops(done: oracle.Pondering) -> bool:
        first, second = draws[done.steps - 1]
        least = 2 + math.floor(second * (STEPS - 1))
        return done.logits[-1] > 0 and not (first < share and done.steps < least)

    return oracle.exit_where(stops, STEPS)


def test_exploring_networks_stop_and_lose_what_the_oracle_does() -> None:
    shares, rows = [0.0, 0.5, 1.0], 6
    inputs, labels = inputs_for("tanh_rnn", 1, rows), labels_for(1, rows)
    solo = [build("tanh_rnn", HALTING) for _ in shares]
    for network in solo:  # most steps hold their answer for right
        network.heads.bias.data[-1] += 1.0
    together = stack(solo, Correctness(0.7, STEPS, torch.tensor(shares)))
    taken = set()
    for update in range(4):
        halting = together.halting.at_update(update)
        record = together(inputs.unsqueeze(1).expand(1, 3, *inputs.shape[1:]), halting=halting)
        lost = halting.objective(score_of(labels.unsqueeze(1)), record)[0].detach()
        generator = torch.Generator().manual_seed(update)
        draws = torch.stack([torch.rand(2, rows, generator=generator) for _ in range(STEPS)])
        for (k, share), b in itertools.product(enumerate(shares), range(rows)):
            rule = exploring(share, draws[..., b].tolist())
            done = rows_of("tanh_rnn", rule, values_of(solo[k]), inputs[:, b : b + 1])[0][0]
            assert record.ponder_time[0, k, b] == done.steps
            loss = oracle.correctness_loss(done, int(labels[0, b]), 0.7)
            np.testing.assert_allclose(float(lost[k, b]), loss, rtol=1e-9)
            taken.add((share, done.steps))
    assert {(0.0, 1), (0.5, 1), (0.5, 2), (1.0, 2)} <= taken, taken


def test_replicas_of_a_stack_explore_alike() -> None:
    steps = stopped(Correctness(max_steps=STEPS, explore=0.5).at_update(0), (3, 64))
    assert torch.equal(steps[0], steps[2])


@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm"])
def test_detached_each_step_starts_from_a_state_without_gradient(cell: str) -> None:
    halting = Correctness(0.7, STEPS, explore=0.0, detach=True)

    def loss(done: oracle.Pondering, label: int, _: oracle.Pondering) -> float:
        return oracle.correctness_loss(done, label, 0.7)

    network = agrees(cell, halting, RULE, loss, lambda n: True)
    whole = build(cell, HALTING)
    pondered = whole(inputs_for(cell), MASK)
    assert (pondered.ponder_time > 1).any()
    HALTING.objective(score_of(labels_for()), pondered).sum(0).mean().backward()
    assert not torch.allclose(whole.cell.recurrent.grad, network.cell.recurrent.grad)


def test_an_answer_is_right_where_all_its_parts_are() -> None:
    """Four outputs as two softmaxes, and as four sigmoids; what is not scored is neither."""
    outputs = torch.tensor([[[0.1, 0.0, -3.0, 2.0], [0.1, 0.0, 5.0, 2.0], [0.0, 1.0, 0.0, 1.0]]])
    labels = torch.tensor([[0, 1], [0, 1], [1, 1]])
    scored = torch.tensor([True, True, False])

    def of_parts(each: torch.Tensor) -> torch.Tensor:
        log_p = each.unflatten(-1, (2, 2)).log_softmax(-1)
        losses = -log_p.gather(-1, labels.expand(*each.shape[:-1], 2).unsqueeze(-1)).sum((-1, -2))
        return torch.where(scored, losses, 0.0)

    right, known = rightness(of_parts, outputs)
    assert right[0, :2].tolist() == [True, False]
    assert known[0].tolist() == [True, True, False]


def test_unscored_vectors_teach_the_halting_unit_nothing() -> None:
    network, inputs, labels = build("lstm", HALTING), inputs_for("lstm"), labels_for()

    def score(outputs: torch.Tensor) -> torch.Tensor:
        return torch.where(MASK, score_of(labels)(outputs), 0.0)

    loss = network.halting.objective(score, network(inputs))
    assert torch.equal(loss != 0, MASK)


def test_a_stack_trains_each_network_as_alone() -> None:
    generator = torch.Generator().manual_seed(0)
    halting = Correctness(0.5, STEPS).at_update(7)
    solo = [Network(LSTM(2, 8, True, generator), halting, 2, 0.0, generator) for _ in range(2)]
    stacked = stack(solo, Correctness(torch.tensor([0.5, 0.5]), STEPS))
    inputs, labels = torch.randn(2, 6, 2, generator=generator), labels_for(2, 6)
    both = inputs.unsqueeze(1).expand(2, 2, 6, 2)
    trained = stacked.halting.at_update(7)
    record = stacked(both, halting=trained)
    losses = trained.objective(score_of(labels.unsqueeze(1)), record)
    for k, network in enumerate(solo):
        again = Correctness(0.5, STEPS).at_update(7)
        own = again.objective(score_of(labels), network(inputs, halting=again))
        torch.testing.assert_close(losses[:, k], own)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"weight": -1.0}, "weight"),
        ({"explore": 1.5}, "explore"),
        ({"max_steps": 0}, "max_st"),
        ({"explore": torch.tensor([0.5, -0.1])}, "explore"),
    ],
)
def test_what_it_refuses(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Correctness(**arguments)


def test_a_record_without_the_steps_is_refused() -> None:
    network = Network(TanhRNN(2, 4, True, torch.Generator()), HALTING, 2)
    record = network(torch.zeros(1, 2, 2))._replace(halt_logits=None)
    with pytest.raises(ValueError, match="halting logits"):
        HALTING.objective(score_of(labels_for(1, 2)), record)


def test_only_the_pass_of_an_update_explores() -> None:
    halting = Correctness(max_steps=STEPS, explore=1.0)
    assert (stopped(halting, (64,)) == 1).all()
    assert (stopped(halting.at_update(0), (64,)) > 1).any()
