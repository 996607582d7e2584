"""ACT on chosen halting logits."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import oracle
from oracle.mechanisms import LOGITS, column, drive, matches

from pondering.model.halting import ACT
from pondering.model.paths.readable import add_share


@settings(max_examples=60, deadline=None, derandomize=True)
@given(LOGITS, st.sampled_from([0.01, 0.1, 0.5]), st.integers(1, 5))
def test_act_matches_equations_6_to_8(logits: list[float], epsilon: float, cap: int) -> None:
    weights, halted = drive(ACT(0.1, epsilon, cap), column(logits))
    h = [oracle.sigmoid(v) for v in logits]
    steps, remainder, p = oracle.act_weights(h, epsilon, cap)
    matches(weights[:, 0], p)
    assert float(halted.steps) == steps
    assert not halted.running.any()
    matches(halted.remainder, [remainder])
    matches(halted.cost, [steps + remainder])
    matches(halted.expected_steps, [oracle.expected_steps(p)])


def test_act_halts_when_the_sum_is_exactly_1_minus_epsilon() -> None:
    """Eq. 7 says >=, not >."""
    weights, halted = drive(ACT(0.1, 0.5, 3), column([0.0, 0.0, 0.0]))
    assert float(halted.steps) == 1.0
    assert weights[:, 0].tolist() == [1.0, 0.0, 0.0]


@settings(max_examples=30, deadline=None, derandomize=True)
@given(LOGITS, st.integers(0, 100))
def test_act_halting_gradient_is_equations_15_to_20(logits: list[float], seed: int) -> None:
    generator = np.random.default_rng(seed)
    outputs, states = generator.normal(size=(5, 2)), generator.normal(size=(5, 3))
    d_output, d_state = generator.normal(size=2), generator.normal(size=3)
    x = column(logits).requires_grad_()
    halting = ACT(0.25, 0.05, 5)
    weights, halted = drive(halting, x)
    state = torch.zeros(1, 3, dtype=torch.float64)
    output = torch.zeros(1, 2, dtype=torch.float64)
    for n in range(5):
        state = add_share(state, weights[n], torch.from_numpy(states[n : n + 1]))
        output = add_share(output, weights[n], torch.from_numpy(outputs[n : n + 1]))
    loss = (output * torch.from_numpy(d_output)).sum() + (state * torch.from_numpy(d_state)).sum()
    (loss + 0.25 * halted.cost.sum()).backward()
    h = [oracle.sigmoid(v) for v in logits]
    steps, _, _ = oracle.act_weights(h, 0.05, 5)
    want = oracle.act_halting_gradient(
        d_output, (d_state,), list(outputs), [(s,) for s in states], steps, 0.25
    )
    matches(x.grad[:, 0], [d * a * (1 - a) for d, a in zip(want, h, strict=True)])
