"""PonderNet on given halting logits: p, the prior, KL and the loss."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import oracle
from oracle.mechanisms import LOGITS, column, drive, logit, matches, pondered_from

from pondering.model.halting import PonderNet
from pondering.model.halting.pondernet import KL

EXACT: dict[str, Any] = {"rtol": 1e-12, "atol": 1e-12}


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
    """In float64 throughout: a prior rounded to float32 is off by 1e-8."""
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


def test_kl_has_p_first_against_hand_numbers() -> None:
    """p = (0.9, 0.1), prior (2/3, 1/3): KL(p||g) = 0.14970, KL(g||p) = 0.20125."""
    _, state = drive(PonderNet(0.5, 1.0, 2), column([logit(0.9), 0.0]))
    assert float(state.cost) == pytest.approx(
        0.9 * math.log(0.9 / (2 / 3)) + 0.1 * math.log(0.1 / (1 / 3)), abs=1e-7
    )


def test_kl_has_the_prior_first_where_it_is_asked_for() -> None:
    """The same numbers; beside a replica of the paper's direction, which keeps its own."""
    logits = column([logit(0.9), 0.0]).unsqueeze(1).expand(2, 2, 1)
    _, state = drive(PonderNet(torch.full((2,), 0.5), 1.0, 2, kl=("prior_p", "p_prior")), logits)
    assert state.cost.tolist() == [
        [pytest.approx(0.20125, abs=1e-5)],
        [pytest.approx(0.14970, abs=1e-5)],
    ]


def test_the_uniform_prior_is_the_limit_of_small_lambda_p() -> None:
    logits = torch.randn(6, 4, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    small = torch.tensor(1e-9, dtype=torch.float64)
    for kl in ("p_prior", "prior_p"):
        _, limit = drive(PonderNet(0.0, 1.0, 6, kl=kl), logits)
        _, near = drive(PonderNet(small, 1.0, 6, kl=kl), logits)
        torch.testing.assert_close(limit.cost, near.cost, rtol=1e-6, atol=1e-6)


def test_the_reversed_kl_of_a_vanishing_p_is_large_and_finite() -> None:
    """g log(g / p) of a p that underflows: its logarithm does not."""
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
def test_underflowing_p_gives_the_limit(dtype: torch.dtype) -> None:
    """Logits of +-200: p is 0 or 1 to any precision, KL the surprise of one step."""
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


def test_pondernet_weights_each_example_by_its_own_p() -> None:
    """Fails if the scores are averaged over the batch, or over n, before the weighting."""
    logits = torch.tensor([[logit(0.9), logit(0.2)], [0.0, 0.0]], dtype=torch.float64)
    outputs = torch.tensor([[[1.0], [10.0]], [[100.0], [1000.0]]], dtype=torch.float64)
    halting = PonderNet(0.5, 0.0, 2)
    record = pondered_from(halting, logits, outputs)
    loss = halting.objective(lambda y: y.squeeze(-1), record)
    np.testing.assert_allclose(
        loss.numpy(), [[0.9 * 1 + 0.1 * 100, 0.2 * 10 + 0.8 * 1000]], rtol=1e-12
    )


def test_pondernet_scores_every_step_and_not_the_mixture() -> None:
    outputs = torch.tensor([[[1.0]], [[-1.0]]], dtype=torch.float64)
    halting = PonderNet(0.5, 0.0, 2)
    record = pondered_from(halting, column([0.0, 0.0]), outputs)
    loss = halting.objective(lambda y: y.square().squeeze(-1), record)
    np.testing.assert_allclose(loss.numpy(), [[1.0]], rtol=1e-12)
    assert halting.ponder_time(record).tolist() == [[pytest.approx(1.5)]]
    assert halting.predict(record).tolist() == [[[pytest.approx(0.0)]]]


def test_pondernet_settings_are_per_replica() -> None:
    logits = torch.tensor([[[0.3, -1.0], [0.3, -1.0]]] * 3, dtype=torch.float64)  # N, K, B
    outputs = torch.zeros(3, 2, 2, 1, dtype=torch.float64)
    lambda_p = torch.tensor([0.25, 0.5], dtype=torch.float64)
    beta = torch.tensor([0.125, 2.0], dtype=torch.float64)
    halting = PonderNet(lambda_p, beta, 3)
    record = pondered_from(halting, logits, outputs)
    loss = halting.objective(lambda y: y.squeeze(-1), record)
    for k in range(2):
        for b in range(2):
            kl = oracle.kl_divergence(logits[:, k, b].tolist(), float(lambda_p[k]))
            assert float(loss[0, k, b]) == pytest.approx(float(beta[k]) * kl, rel=1e-10)


def test_distribution_is_all_steps_at_once() -> None:
    """Every field of the state too, also for a row without an input."""
    generator = torch.Generator().manual_seed(4)
    logits = 2 * torch.randn(4, 2, 3, generator=generator, dtype=torch.float64)
    present = torch.tensor([[True, False, True], [True, True, True]])
    lambda_p = torch.tensor([0.25, 0.5], dtype=torch.float64)
    halting = PonderNet(lambda_p, 1.0, 4)
    weights, state = drive(halting, logits, present)
    got, after = halting.distribution(logits, present)
    torch.testing.assert_close(got, weights, **EXACT)
    for name, want in vars(state).items():
        torch.testing.assert_close(getattr(after, name), want, **EXACT, check_dtype=False, msg=name)
