"""Adam over stacked replicas: each with its own learning rate, clipping and life."""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor, nn


class StackedAdam:
    """Adam (Kingma & Ba 2015), as torch.optim.Adam, with one learning rate per replica.

    torch's own takes one learning rate per parameter tensor, and here a tensor holds all replicas.

    Args:
        parameters: tensors (K, ...).
        learning_rate: (K,).
    """

    betas = (0.9, 0.999)
    epsilon = 1e-8

    def __init__(self, parameters: Iterable[nn.Parameter], learning_rate: Tensor) -> None:
        self.parameters = list(parameters)
        self.learning_rate = learning_rate
        self.updates = 0
        self.means = [torch.zeros_like(p) for p in self.parameters]
        self.squares = [torch.zeros_like(p) for p in self.parameters]

    @torch.no_grad()
    def step(self, alive: Tensor | None = None) -> None:
        """Update every replica; those False in `alive` (K,) keep their parameters."""
        self.updates += 1
        first, second = self.betas
        gradients = [_gradient(p) for p in self.parameters]
        rate = self.learning_rate
        if alive is not None:
            gradients = [_where_alive(alive, g) for g in gradients]
            rate = torch.where(alive, rate, 0.0)
        torch._foreach_lerp_(self.means, gradients, 1 - first)
        torch._foreach_mul_(self.squares, second)
        torch._foreach_addcmul_(self.squares, gradients, gradients, 1 - second)
        denominators = torch._foreach_sqrt(self.squares)
        torch._foreach_div_(denominators, math.sqrt(1 - second**self.updates))
        torch._foreach_add_(denominators, self.epsilon)
        rate = rate / (1 - first**self.updates)
        for p, mean, denominator in zip(self.parameters, self.means, denominators, strict=True):
            p.sub_(_spread(rate, p) * (mean / denominator))

    @torch.no_grad()
    def clip(self, norms: Tensor, limit: float) -> None:
        """Scale each replica's gradient so that its norm (K,) is at most `limit`."""
        scale = limit / norms.clamp(min=limit)
        for p in self.parameters:
            if p.grad is not None:
                p.grad.mul_(_spread(scale, p.grad))

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for p in self.parameters:
            p.grad = None

    def state(self) -> dict[str, Tensor]:
        """Everything a checkpoint must hold, by name."""
        moments = {f"mean.{i}": m for i, m in enumerate(self.means)}
        moments |= {f"square.{i}": s for i, s in enumerate(self.squares)}
        return moments | {"learning_rate": self.learning_rate}

    def restore(self, state: dict[str, Tensor], updates: int) -> None:
        """Take up the state of a checkpoint after `updates` updates."""
        self.updates = updates
        self.learning_rate.copy_(state["learning_rate"])
        for i, (mean, square) in enumerate(zip(self.means, self.squares, strict=True)):
            mean.copy_(state[f"mean.{i}"])
            square.copy_(state[f"square.{i}"])


def _gradient(parameter: nn.Parameter) -> Tensor:
    return parameter.grad if parameter.grad is not None else torch.zeros_like(parameter)


def _spread(values: Tensor, like: Tensor) -> Tensor:
    """(K,) as (K, 1, ...) for a tensor (K, ...)."""
    return values.reshape(-1, *[1] * (like.dim() - 1))


def _where_alive(alive: Tensor, gradient: Tensor) -> Tensor:
    return torch.where(_spread(alive, gradient), gradient, 0.0)
