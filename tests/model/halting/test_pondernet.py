"""PonderNet on chosen halting logits: p, the prior and KL."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import oracle
from oracle.mechanisms import LOGITS, column, drive, logit, matches

from pondering.model.halting import PonderNet
from pondering.model.halting.pondernet import KL


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
        _, at_once = halting.distribution(column(logits)[:cap], present)
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
