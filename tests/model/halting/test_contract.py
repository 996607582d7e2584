"""Behaviour that all halting mechanisms share."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from oracle.mechanisms import column, drive

from pondering.model.halting import (
    ACT,
    DACT,
    Certainty,
    Correctness,
    Exit,
    FixedRepeat,
    Halting,
    PonderNet,
    PonderRecord,
    RandomDepth,
    SampledHalting,
)
from pondering.model.paths.fast.every_step import distribution

SEEDED = torch.Generator().manual_seed(0)
WITH_NUMBERS: list[Halting] = [
    ACT(0.1, 0.01, 3),
    PonderNet(0.3, 0.01, 3),
    PonderNet(0.3, 0.01, 3, epsilon=0.05),
    FixedRepeat(3),
    Exit(lambda history: history.halt_logits[-1] > 0, 3),
]


@pytest.mark.parametrize("halting", WITH_NUMBERS, ids=lambda h: type(h).__name__)
def test_number_settings_follow_the_data_to_its_device(halting: Halting) -> None:
    """The meta device stands for a GPU: a setting left on the CPU would raise."""
    present = torch.ones(4, dtype=torch.bool, device="meta")
    halted = halting.start(present)
    logits = torch.zeros(4, device="meta")
    weight, halted = halting.step(1, logits, halted)
    outputs = torch.zeros(1, 1, 4, 2, device="meta")
    record = PonderRecord(weight[None, None], outputs, outputs[0], *[halted.cost[None]] * 4, 0)
    loss = halting.objective(lambda y: y.sum(-1), record)
    assert (loss.device.type, loss.shape) == ("meta", (1, 4))


def test_draws_and_settings_of_replicas_follow_the_data_to_its_device() -> None:
    """Draws of sampling, step numbers of a whole distribution, and one rho per replica."""
    present = torch.ones(2, 4, dtype=torch.bool, device="meta")
    logits = torch.zeros(3, 2, 4, device="meta")
    assert SampledHalting(3, torch.Generator()).start(present).draw.device.type == "meta"
    weights, _ = distribution(PonderNet(0.3, 0.01, 3), logits, present)
    assert weights.device.type == "meta"
    repeat = FixedRepeat(torch.tensor([1.0, 3.0]))
    weights, _ = repeat.step(1, logits[0], repeat.start(present))
    assert weights.device.type == "meta"


@pytest.mark.parametrize("halting", [PonderNet(0.3, 0.01, 7, 0.05), SampledHalting(7, SEEDED)])
def test_inference_samples_with_the_passed_generator(halting: Halting) -> None:
    """The maximum number of steps stays."""
    generator = torch.Generator().manual_seed(1)
    sampled = halting.at_inference(generator)
    assert isinstance(sampled, SampledHalting)
    assert sampled.max_steps == 7
    assert sampled.generator is generator


def test_defaults_are_those_of_the_papers() -> None:
    """Graves 2016: epsilon 0.01, at most 100 steps; Banino 2021: beta 0.01, N = 20."""
    act, pondernet = ACT(0.1), PonderNet(0.2)
    assert (act.epsilon, act.max_steps, act.tau_warmup) == (0.01, 100, 0)
    assert (pondernet.beta, pondernet.max_steps, pondernet.epsilon) == (0.01, 20, None)


@pytest.mark.parametrize("halting", [ACT(0.1, 0.01, 3), PonderNet(0.3, 0.01, 3)])
def test_the_number_of_steps_carries_no_gradient(halting: Halting) -> None:
    """The number of steps is a measurement and no part of a loss."""
    logits = column([0.1, -0.2, 0.3]).requires_grad_()
    _, halted = drive(halting, logits)
    assert halted.cost.requires_grad
    assert not halted.expected_steps.requires_grad


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: ACT(tau=-1.0), "tau"),
        (lambda: ACT(tau=float("nan")), "tau"),
        (lambda: ACT(tau=torch.tensor([0.1, -0.1])), "tau"),
        (lambda: ACT(tau=0.1, epsilon=-1.0), "epsilon"),
        (lambda: ACT(tau=0.1, epsilon=1.0), "epsilon"),
        (lambda: ACT(tau=0.1, max_steps=0), "max_steps"),
        (lambda: ACT(tau=0.1, max_steps=2.5), "max_steps"),
        (lambda: ACT(tau=0.1, tau_warmup=-1), "tau_warmup"),
        (lambda: ACT(tau=0.1, tau_warmup=2.5), "tau_warmup"),
        (lambda: ACT(tau=0.1, tau_warmup=torch.tensor([1.0, torch.inf])), "tau_warmup"),
        (lambda: PonderNet(lambda_p=-0.1), "lambda_p"),
        (lambda: PonderNet(lambda_p=1.0), "lambda_p"),
        (lambda: PonderNet(lambda_p=torch.tensor([0.5, 5.0])), "lambda_p"),
        (lambda: PonderNet(lambda_p=0.5, beta=-0.1), "beta"),
        (lambda: PonderNet(lambda_p=0.5, epsilon=-0.1), "epsilon"),
        (lambda: PonderNet(lambda_p=0.5, epsilon=torch.tensor([0.0, 1.0])), "epsilon"),
        (lambda: PonderNet(lambda_p=0.5, max_steps=0), "max_steps"),
        (lambda: PonderNet(lambda_p=0.5, kl="reverse"), "kl"),
        (lambda: PonderNet(torch.tensor([0.5, 0.5]), kl=("p_prior", "p")), "kl"),
        (lambda: PonderNet(lambda_p=0.5, carry="first"), "carry"),
        (lambda: ACT(tau=0.1, carry="first"), "carry"),
        (lambda: FixedRepeat(1.5), "rho"),
        (lambda: FixedRepeat(torch.tensor([1.0, 0.0])), "rho"),
        (lambda: Correctness(weight=-1.0), "weight"),
        (lambda: Correctness(explore=1.5), "explore"),
        (lambda: Correctness(explore=torch.tensor([0.5, -0.1])), "explore"),
        (lambda: Correctness(max_steps=0), "max_steps"),
        (lambda: Certainty(theta=0.0), "theta"),
        (lambda: Certainty(theta=1.5), "theta"),
        (lambda: Certainty(max_steps=0), "max_steps"),
        (lambda: DACT(tau=-1.0), "tau"),
        (lambda: DACT(tau=0.1, max_steps=0), "max_steps"),
        (lambda: RandomDepth(alpha=1.5), "alpha"),
        (lambda: RandomDepth(alpha=-0.1), "alpha"),
        (lambda: RandomDepth(max_steps=0), "max_steps"),
        (lambda: Exit(lambda history: history.halt_logits[-1] > 0, 0), "max_steps"),
    ],
)
def test_a_meaningless_argument_is_refused_by_name(make: Callable[[], Halting], named: str) -> None:
    with pytest.raises(ValueError, match=rf"^{named}: .* is not allowed; "):
        make()
