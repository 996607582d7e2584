"""Sampled halting on chosen halting logits."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
from oracle import oracle
from oracle.mechanisms import drive, pondered_from

from pondering.model.halting import PonderNet, SampledHalting


def test_sampled_steps_follow_p() -> None:
    """Pearson's chi-square of 40,000 draws against Eq. 2, within four standard deviations."""
    logits = [-1.0, 0.2, -0.5, 0.8, -3.0]
    halting = PonderNet(0.5, 0.01, 5).at_inference(torch.Generator().manual_seed(1))
    assert isinstance(halting, SampledHalting)
    rows = 40_000
    weights, state = drive(halting, torch.tensor(logits).unsqueeze(1).expand(5, rows))
    assert torch.equal(weights.sum(0), torch.ones(rows))
    assert torch.equal(weights.argmax(0) + 1, state.steps.long())
    assert torch.equal(state.expected_steps, state.steps)
    p = [math.exp(v) for v in oracle.pondernet_log_weights(logits)]
    counts = weights.sum(1).tolist()
    chi_square = sum((c - rows * q) ** 2 / (rows * q) for c, q in zip(counts, p, strict=True))
    assert chi_square < 4 + 4 * math.sqrt(2 * 4)


def test_sampling_goes_on_where_the_draw_is_exactly_lambda() -> None:
    """u is in [0, 1): u < lambda has probability lambda, and lambda = 0 never halts."""
    halting = SampledHalting(2, torch.Generator())
    begun = halting.start(torch.ones(2, dtype=torch.bool))
    begun = replace(begun, draw=torch.tensor([0.5, 0.0]))
    weight, state = halting.step(1, torch.tensor([0.0, -torch.inf]), begun)
    assert weight.tolist() == [0.0, 0.0]
    assert state.running.tolist() == [True, True]


def test_rows_draw_independently() -> None:
    """Equal neighbouring rows halt without correlation."""
    rows = 20_000
    weights, _ = drive(SampledHalting(2, torch.Generator().manual_seed(0)), torch.zeros(2, 2, rows))
    left, right = weights[0][0, :-1], weights[0][0, 1:]
    agreement = float((left == right).double().mean())
    assert abs(agreement - 0.5) < 4 * 0.5 / math.sqrt(rows)


def test_objective_and_prediction_are_those_of_the_sampled_output() -> None:
    halting = SampledHalting(2, torch.Generator().manual_seed(0))
    outputs = torch.tensor([[[3.0]], [[7.0]]])
    for logit, output, steps in ((200.0, 3.0, 1.0), (-200.0, 7.0, 2.0)):
        record = pondered_from(halting, torch.tensor([[logit], [0.0]]), outputs)
        assert halting.objective(lambda y: y.squeeze(-1), record).tolist() == [[output]]
        assert halting.predict(record).tolist() == [[[output]]]
        assert halting.ponder_time(record).tolist() == [[steps]]
