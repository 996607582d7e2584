"""ACT and fixed repeat on given halting logits, and what all mechanisms share."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import oracle
from oracle.mechanisms import LOGITS, column, drive, logit, matches, pondered_from

from pondering.model.halting import ACT, FixedRepeat, Halting, Pondered, PonderNet, SampledHalting

# --- ACT --------------------------------------------------------------------------------------


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


def test_act_halts_at_n_1_when_epsilon_is_reached_there() -> None:
    weights, halted = drive(ACT(0.1, 0.01, 4), column([6.0, 0.0, 0.0, 0.0]))
    assert weights[:, 0].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert (float(halted.steps), float(halted.remainder)) == (1.0, 1.0)
    assert float(halted.cost) == 2.0


def test_act_halts_when_the_sum_is_exactly_1_minus_epsilon() -> None:
    """Eq. 7 says >=, not >."""
    weights, halted = drive(ACT(0.1, 0.5, 3), column([0.0, 0.0, 0.0]))
    assert float(halted.steps) == 1.0
    assert weights[:, 0].tolist() == [1.0, 0.0, 0.0]


def test_act_gives_the_remainder_to_step_m() -> None:
    """h sums to 0.3 at M: N = M and R = 1 - h_1 - h_2 (Eqs. 8, 13)."""
    weights, halted = drive(ACT(0.1, 0.01, 3), column([logit(0.1)] * 3))
    matches(weights[:, 0], [0.1, 0.1, 0.8])
    assert float(halted.steps) == 3.0
    matches(halted.remainder, [0.8])


def test_act_with_one_step_is_the_plain_network() -> None:
    weights, halted = drive(ACT(0.1, 0.01, 1), column([-3.0]))
    assert weights.tolist() == [[1.0]]
    assert float(halted.cost) == 2.0


@settings(max_examples=40, deadline=None, derandomize=True)
@given(LOGITS, st.sampled_from([0.01, 0.3]))
def test_act_cost_gradient_is_equation_14(logits: list[float], epsilon: float) -> None:
    x = column(logits).requires_grad_()
    _, halted = drive(ACT(0.1, epsilon, 5), x)
    halted.cost.sum().backward()
    h = [oracle.sigmoid(v) for v in logits]
    steps, _, _ = oracle.act_weights(h, epsilon, 5)
    want = oracle.act_cost_gradient(steps, 5)
    matches(x.grad[:, 0], [d * a * (1 - a) for d, a in zip(want, h, strict=True)])


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
        state = halting.carry(state, weights[n], torch.from_numpy(states[n : n + 1]))
        output = halting.carry(output, weights[n], torch.from_numpy(outputs[n : n + 1]))
    loss = (output * torch.from_numpy(d_output)).sum() + (state * torch.from_numpy(d_state)).sum()
    (loss + 0.25 * halted.cost.sum()).backward()
    h = [oracle.sigmoid(v) for v in logits]
    steps, _, _ = oracle.act_weights(h, 0.05, 5)
    want = oracle.act_halting_gradient(
        d_output, (d_state,), list(outputs), [(s,) for s in states], steps, 0.25
    )
    matches(x.grad[:, 0], [d * a * (1 - a) for d, a in zip(want, h, strict=True)])


def test_act_objective_penalises_each_replica_with_its_own_tau() -> None:
    logits = torch.tensor([[[2.0, -1.0], [0.5, -2.0]]] * 3, dtype=torch.float64)  # N, K, B
    outputs = torch.arange(12, dtype=torch.float64).reshape(3, 2, 2, 1)
    tau = torch.tensor([0.5, 0.0])
    record = pondered_from(ACT(tau, 0.01, 3), logits, outputs)
    loss = ACT(tau, 0.01, 3).objective(lambda y: y.squeeze(-1), record)
    assert loss.shape == (1, 2, 2)
    for k in range(2):
        for b in range(2):
            h = [oracle.sigmoid(float(v)) for v in logits[:, k, b]]
            steps, remainder, p = oracle.act_weights(h, 0.01, 3)
            score = sum(a * float(y) for a, y in zip(p, outputs[:, k, b, 0], strict=False))
            want = score + float(tau[k]) * (steps + remainder)
            assert float(loss[0, k, b]) == pytest.approx(want, abs=1e-12)


def test_act_scores_the_mixture_and_not_the_steps() -> None:
    """L(sum p y) with L(y) = y^2, y = +1, -1 under p = 0.5, 0.5: zero, where the mean L is one."""
    outputs = torch.tensor([[[1.0]], [[-1.0]]], dtype=torch.float64)
    record = pondered_from(ACT(0.0, 0.01, 2), column([0.0, 0.0]), outputs)
    loss = ACT(0.0, 0.01, 2).objective(lambda y: y.square().squeeze(-1), record)
    assert loss.tolist() == [[0.0]]


# --- fixed repeat -----------------------------------------------------------------------------


@pytest.mark.parametrize("rho", [1, 2, 5])
def test_repeat_gives_everything_to_step_rho(rho: int) -> None:
    halting = FixedRepeat(rho)
    assert halting.max_steps == rho
    weights, halted = drive(halting, torch.randn(rho, 4))
    assert weights.tolist() == [[0.0] * 4] * (rho - 1) + [[1.0] * 4]
    assert halted.steps.tolist() == [float(rho)] * 4
    assert halted.expected_steps.tolist() == [float(rho)] * 4
    assert halted.cost.tolist() == [0.0] * 4
    assert not halted.running.any()


def test_repeat_counts_per_replica() -> None:
    halting = FixedRepeat(torch.tensor([1.0, 3.0, 2.0]))
    assert halting.max_steps == 3
    weights, halted = drive(halting, torch.zeros(3, 3, 2))
    assert halted.steps.tolist() == [[1.0] * 2, [3.0] * 2, [2.0] * 2]
    for k, rho in enumerate((1, 3, 2)):
        assert weights[:, k, 0].tolist() == [float(n == rho) for n in (1, 2, 3)]


def test_repeat_objective_is_the_score_of_the_last_output() -> None:
    outputs = torch.tensor([[[3.0]], [[7.0]]])
    record = pondered_from(FixedRepeat(2), torch.zeros(2, 1), outputs)
    assert FixedRepeat(2).objective(lambda y: y.squeeze(-1), record).tolist() == [[7.0]]


# --- all of them ------------------------------------------------------------------------------

SEEDED = torch.Generator().manual_seed(0)
ALL: list[Halting] = [
    ACT(0.1, 0.01, 3),
    PonderNet(0.3, 0.01, 3),
    PonderNet(0.3, 0.01, 3, epsilon=0.05),
    SampledHalting(3, SEEDED),
    FixedRepeat(3),
]


@pytest.mark.parametrize("halting", ALL, ids=lambda h: type(h).__name__)
def test_absent_rows_have_no_weight_no_cost_no_steps(halting: Halting) -> None:
    present = torch.tensor([True, False, True])
    weights, halted = drive(halting, torch.zeros(3, 3), present)
    assert weights.dtype == torch.float32
    assert weights[:, 1].tolist() == [0.0] * 3
    for value in (halted.steps, halted.cost, halted.remainder, halted.expected_steps):
        assert float(value[1]) == 0.0
    assert not halted.running.any()
    np.testing.assert_allclose(weights.sum(0)[[0, 2]].numpy(), [1.0, 1.0], rtol=1e-6)


@pytest.mark.parametrize("halting", ALL, ids=lambda h: type(h).__name__)
def test_carry_ignores_what_a_halted_row_became(halting: Halting) -> None:
    """0 * inf is NaN: a row without weight must be selected away, not multiplied."""
    total = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    value = torch.tensor([[10.0, 20.0], [torch.inf, torch.nan]])
    got = halting.carry(total, torch.tensor([0.5, 0.0]), value)
    assert got.tolist() == [[6.0, 12.0], [3.0, 4.0]]


@pytest.mark.parametrize("halting", [ACT(0.1, 0.01, 3), FixedRepeat(3)], ids=["act", "repeat"])
def test_inference_changes_nothing_where_halting_is_deterministic(halting: Halting) -> None:
    assert halting.at_inference(torch.Generator()) is halting


@pytest.mark.parametrize(
    "halting", [*ALL[:3], ALL[4]], ids=["act", "pondernet", "pondernet_eps", "repeat"]
)
def test_number_settings_follow_the_data_to_its_device(halting: Halting) -> None:
    """The meta device stands for a GPU: a setting left on the CPU does not mix with it."""
    present = torch.ones(4, dtype=torch.bool, device="meta")
    halted = halting.start(present)
    logits = torch.zeros(4, device="meta")
    weight, halted = halting.step(1, logits, halted)
    outputs = torch.zeros(1, 1, 4, 2, device="meta")
    record = Pondered(weight[None, None], outputs, outputs[0], *[halted.cost[None]] * 4, 0)
    loss = halting.objective(lambda y: y.sum(-1), record)
    assert (loss.device.type, loss.shape) == ("meta", (1, 4))


def test_what_is_drawn_counted_or_set_per_replica_follows_the_data_too() -> None:
    """The draws of sampling, the step numbers of a whole distribution, one rho per replica."""
    present = torch.ones(2, 4, dtype=torch.bool, device="meta")
    logits = torch.zeros(3, 2, 4, device="meta")
    assert SampledHalting(3, torch.Generator()).start(present).draw.device.type == "meta"
    weights, _ = PonderNet(0.3, 0.01, 3).distribution(logits, present)
    assert weights.device.type == "meta"
    repeat = FixedRepeat(torch.tensor([1.0, 3.0]))
    weights, _ = repeat.step(1, logits[0], repeat.start(present))
    assert weights.device.type == "meta"


@pytest.mark.parametrize("halting", [PonderNet(0.3, 0.01, 7, 0.05), SampledHalting(7, SEEDED)])
def test_inference_samples_with_the_generator_it_is_given(halting: Halting) -> None:
    """Up to the same cap, and never with torch's global generator."""
    generator = torch.Generator().manual_seed(1)
    sampled = halting.at_inference(generator)
    assert isinstance(sampled, SampledHalting)
    assert sampled.max_steps == 7
    assert sampled.generator is generator


def test_what_is_not_said_is_as_in_the_papers() -> None:
    """Graves 2016: epsilon 0.01, at most 100 steps; Banino 2021: beta 0.01, N = 20."""
    act, pondernet = ACT(0.1), PonderNet(0.2)
    assert (act.epsilon, act.max_steps) == (0.01, 100)
    assert (pondernet.beta, pondernet.max_steps, pondernet.epsilon) == (0.01, 20, None)


@pytest.mark.parametrize("halting", [ACT(0.1, 0.01, 3), PonderNet(0.3, 0.01, 3)])
def test_the_number_of_steps_carries_no_gradient(halting: Halting) -> None:
    """It is a measurement, not a part of any loss."""
    logits = column([0.1, -0.2, 0.3]).requires_grad_()
    _, halted = drive(halting, logits)
    assert halted.cost.requires_grad
    assert not halted.expected_steps.requires_grad
