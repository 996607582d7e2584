"""Stacked Adam against torch's own, one replica at a time."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from pondering.train.adam import StackedAdam

SHAPES = ((3, 4, 5), (3, 5), (3,))  # matrices, vectors and one number per replica
HEADS = ((3, 5, 7), (3, 5))  # four outputs and the halting unit, of seven hidden units
RATES = torch.tensor([0.1, 0.003, 0.1])
ALL = torch.tensor([True, True, True])
UPDATES = 40


def random(*shape: int, seed: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def stacked(shapes: tuple[tuple[int, ...], ...] = SHAPES) -> list[nn.Parameter]:
    return [nn.Parameter(random(*shape, seed=i)) for i, shape in enumerate(shapes)]


def set_gradients(parameters: list[nn.Parameter], update: int) -> None:
    """Gradients over many orders of magnitude, some exactly zero."""
    for i, p in enumerate(parameters):
        gradient = random(*p.shape, seed=100 * update + i) * 10.0 ** (update % 7 - 4)
        gradient[gradient.abs() < 1e-4] = 0.0
        p.grad = gradient


@pytest.mark.parametrize("share", [1.0, 0.5])
@pytest.mark.parametrize("factor", [None, 0.1, 3.0])
def test_each_replica_is_updated_as_by_torchs_adam(factor: float | None, share: float) -> None:
    """Each replica has its rate, the halting unit a parameter group; replica 1 stops early."""
    parameters, solo, theirs = stacked((*SHAPES, *HEADS)), [], []
    for k, rate in enumerate(RATES.tolist()):
        whole = [p.detach()[k] for p in parameters]
        rest = [*whole[:3], *(p[:-1] for p in whole[3:])]
        groups = [
            [nn.Parameter(p.clone()) for p in part] for part in (rest, [p[-1] for p in whole[3:]])
        ]
        solo.append(groups)
        theirs.append(torch.optim.Adam(
            [{"params": groups[0], "lr": rate * share},
             {"params": groups[1], "lr": rate * share * (factor or 1.0)}]
        ))  # fmt: skip
    ours = StackedAdam(parameters, RATES.clone(), parameters[3:], factor)
    for update in range(UPDATES):
        set_gradients(parameters, update)
        alive = torch.tensor([True, update < 20, True])
        for k in range(3):
            slopes = [p.grad[k].clone() for p in parameters if p.grad is not None]
            for one, slope in zip(solo[k][0], slopes, strict=True):
                one.grad = slope if one.shape == slope.shape else slope[:-1]
            for one, slope in zip(solo[k][1], slopes[3:], strict=True):
                one.grad = slope[-1]
            if alive[k]:
                theirs[k].step()
        ours.step(alive, share)
    for k, (rest, rows) in enumerate(solo):
        for p, one in zip(parameters, rest, strict=True):
            got = p[k] if one.shape == p[k].shape else p[k][:-1]
            torch.testing.assert_close(got, one, rtol=1e-6, atol=1e-6)
        for p, one in zip(parameters[3:], rows, strict=True):
            torch.testing.assert_close(p[k][-1], one, rtol=1e-6, atol=1e-6)
    assert torch.equal(ours.learning_rate, RATES)


def test_a_missing_gradient_counts_as_zero() -> None:
    missing, zero = stacked(), stacked()
    adams = [StackedAdam(each, RATES.clone()) for each in (missing, zero)]
    for each, adam in zip((missing, zero), adams, strict=True):
        set_gradients(each, 4)
        adam.step(ALL)
    before = [p.detach().clone() for p in missing]
    for p, q in zip(missing, zero, strict=True):
        p.grad, q.grad = None, torch.zeros_like(q)
    for adam in adams:
        adam.step(ALL)
    for p, q, old in zip(missing, zero, before, strict=True):
        assert torch.equal(p, q)
        assert not torch.equal(p, old), "momentum goes on"


def test_a_gradient_may_lie_in_memory_in_any_order() -> None:
    """Autograd returns transposed gradients for transposed uses of a parameter."""
    start, slope = random(3, 4, 5, seed=0), random(3, 4, 5, seed=1)
    for gradient in (slope.mT.contiguous().mT, slope[:, :1, :1].expand(3, 4, 5)):
        parameter, plain = (nn.Parameter(start.clone()) for _ in range(2))
        parameter.grad, plain.grad = gradient, gradient.contiguous()
        for each in (parameter, plain):
            StackedAdam([each], RATES.clone()).step(ALL)
        assert torch.equal(parameter, plain)
