"""PonderNet on chosen halting logits: p, the prior and KL, and sampled halting."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import oracle
from oracle.mechanisms import LOGITS, column, drive, logit, matches, pondered_from

from pondering.model.halting import PonderNet, SampledHalting
from pondering.model.halting.pondernet import KL
from pondering.model.paths.fast.every_step import distribution


@settings(max_examples=60, deadline=None, derandomize=True)
@given(LOGITS, st.sampled_from([None, 0.05, 0.3]), st.integers(1, 5))
def test_pondernet_matches_equation_2(logits: list[float], epsilon: float | None, cap: int) -> None:
    weights, state = drive(PonderNet(0.25, 1.0, cap, epsilon), column(logits))
    steps = oracle.pondernet_steps(logits, epsilon, cap)
    p = [math.exp(v) for v in oracle.pondernet_log_weights(logits[:steps])]
    matches(weights[:, 0], p)
    assert sum(p) == pytest.approx(1.0)
    assert float(state.steps) == steps
    assert not state.running.any()
    matches(state.expected_steps, [oracle.expected_steps(p)])
    matches(state.remainder, [p[-1]])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    LOGITS,
    st.sampled_from([None, 0.05, 0.3]),
    st.integers(1, 5),
    st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.9]),
    st.sampled_from(["p_prior", "prior_p"]),
)
def test_pondernet_cost_is_the_kl_of_p_and_the_truncated_prior(
    logits: list[float], epsilon: float | None, cap: int, lambda_p: float, kl: KL
) -> None:
    """The prior is float64, since rounding to float32 would add an error of 1e-8."""
    prior = torch.tensor(lambda_p, dtype=torch.float64)
    halting = PonderNet(prior, 1.0, cap, epsilon, kl)
    _, state = drive(halting, column(logits))
    steps = oracle.pondernet_steps(logits, epsilon, cap)
    want = oracle.kl_divergence(logits[:steps], lambda_p, kl)
    if epsilon is None:
        present = torch.ones(1, dtype=torch.bool)
        _, at_once = distribution(halting, column(logits)[:cap], present)
        np.testing.assert_allclose(at_once.cost.numpy(), [want], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(state.cost.numpy(), [want], rtol=1e-9, atol=1e-10)


def test_kl_has_p_or_the_prior_first_against_hand_numbers() -> None:
    """p = (0.9, 0.1), prior (2/3, 1/3): KL(p||g) = 0.14970, KL(g||p) = 0.20125."""
    logits = column([logit(0.9), 0.0]).unsqueeze(1).expand(2, 2, 1)
    _, state = drive(PonderNet(torch.full((2,), 0.5), 1.0, 2, kl=("prior_p", "p_prior")), logits)
    assert state.cost.flatten().tolist() == pytest.approx([0.20125, 0.14970], abs=1e-5)


def test_the_reversed_kl_of_a_vanishing_p_is_large_and_finite() -> None:
    """p underflows in g log(g / p), but log p does not."""
    logits = torch.tensor([[200.0], [0.0], [0.0]], requires_grad=True)
    _, state = drive(PonderNet(0.5, 1.0, 3, kl="prior_p"), logits)
    state.cost.sum().backward()
    # log p_2 = -200 + log 1/2, log p_3 = -200 + log 1/2, g = 4/7, 2/7, 1/7
    want = (
        4 / 7 * math.log(4 / 7) + 2 / 7 * (math.log(4 / 7) + 200) + 1 / 7 * (math.log(2 / 7) + 200)
    )
    assert float(state.cost.detach()) == pytest.approx(want, rel=1e-6)
    assert logits.grad is not None and float(logits.grad[0]) == pytest.approx(3 / 7, rel=1e-6)


def test_pondernet_goes_on_when_the_cumulated_p_is_exactly_1_minus_epsilon() -> None:
    """Cumulated p must exceed 1 - epsilon (Banino Sec. 2.3)."""
    _, state = drive(PonderNet(0.5, 1.0, 3, epsilon=0.5), column([0.0, 0.0, 0.0]))
    assert float(state.steps) == 2.0


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_kl_and_weights_have_their_limits_where_p_underflows(dtype: torch.dtype) -> None:
    """At logits of +-200, p is 0 or 1 and KL is the surprise of one step."""
    prior = oracle.geometric_prior(0.25, 4)
    logits = torch.tensor(
        [[200.0, -200.0, -200.0], [-200.0, -200.0, 200.0], [9.0, -200.0, 5.0], [0.0, 0.0, 0.0]],
        dtype=dtype,
        requires_grad=True,
    )
    weights, state = drive(PonderNet(0.25, 1.0, 4), logits)
    halted = [0, 3, 1]
    want = torch.zeros(4, 3, dtype=dtype)
    want[halted, range(3)] = 1.0
    torch.testing.assert_close(weights, want, rtol=0, atol=1e-30)
    limits = torch.tensor([-math.log(prior[n]) for n in halted], dtype=dtype)
    torch.testing.assert_close(state.cost.detach(), limits, rtol=1e-6, atol=0)
    (state.cost.sum() + weights.square().sum()).backward()
    torch.testing.assert_close(logits.grad, torch.zeros_like(logits), rtol=0, atol=1e-30)


# --- sampled ------------------------------------------------------------------------------------


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
    for first, output, steps in ((200.0, 3.0, 1.0), (-200.0, 7.0, 2.0)):
        record = pondered_from(halting, torch.tensor([[first], [0.0]]), outputs)
        assert halting.objective(lambda y: y.squeeze(-1), record).tolist() == [[output]]
        assert halting.predict(record).tolist() == [[[output]]]
        assert halting.ponder_time(record).tolist() == [[steps]]
