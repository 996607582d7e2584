"""Adam over stacked replicas, each with its learning rate and clipping."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import torch
from torch import Tensor, nn

from pondering.model.stacking import gradient_norms

Tensors = list[Tensor] | tuple[Tensor, ...]
VECTOR = 16  # floats in the widest vector of a CPU


class StackedAdam:
    """Adam (Kingma & Ba 2015), as torch.optim.Adam, with one learning rate per replica.

    torch's own takes one learning rate per parameter tensor, and here a tensor holds all replicas.

    Args:
        parameters: tensors (K, ...).
        learning_rate: (K,) on the host (some devices have no float64); `step` multiplies it by the
            share of the update.
        halting_unit: the parameters whose last row belongs to the halting unit.
        halting_rate: factor of the learning rate of that row; None: 1.
    """

    betas = (0.9, 0.999)
    epsilon = 1e-8

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        learning_rate: Tensor,
        halting_unit: Sequence[nn.Parameter] = (),
        halting_rate: float | None = None,
    ) -> None:
        self.parameters = list(parameters)
        self._factors = [1.0] if halting_rate is None else [1.0, halting_rate]
        halting = set(map(id, halting_unit))
        self._has_halting_row = [id(p) in halting for p in self.parameters]
        self.learning_rate = learning_rate
        self.updates = 0
        self.means = [torch.zeros_like(p) for p in self.parameters]
        self.squares = [torch.zeros_like(p) for p in self.parameters]
        states = ([p.detach() for p in self.parameters], self.means, self.squares)
        self._all = [_pieces(parts) for parts in states]
        views = ([part.unbind() for part in parts] for parts in states)
        solo = zip(*(zip(*parts, strict=True) for parts in views), strict=True)
        self._solo = [tuple(map(self._groups, kinds)) for kinds in solo]

    def descend(
        self, loss: Tensor, alive: Tensor, clip: float | None = None, share: float = 1.0
    ) -> Tensor:
        """One update by the gradient of a loss; no gradient may be there before it.

        Args:
            loss: each replica's, (K,).
            alive: (K,) bool, the replicas that train.
            clip: the largest norm of a replica's gradient; None: any.
            share: factor of each learning rate.

        Returns:
            (K,) bool: whose loss and gradient are finite. The others have not been updated.
        """
        torch.autograd.backward(loss.sum())
        norms = gradient_norms(self.parameters)
        finite = torch.isfinite(loss) & torch.isfinite(norms)
        if clip is not None:
            scale = clip / norms.clamp(min=clip)
            for p in self.parameters:
                if p.grad is not None:
                    p.grad.mul_(scale.reshape(-1, *[1] * (p.grad.dim() - 1)))
        self.step(alive & finite, share)
        return finite

    @torch.no_grad()
    def step(self, alive: Tensor, share: float = 1.0) -> None:
        """Update every replica that is True in `alive`.

        Args:
            alive: (K,) bool.
            share: factor of each learning rate.
        """
        self.updates += 1
        rates = [rate * share for rate in self.learning_rate.tolist()]
        alive_by_replica = alive.tolist()
        gradients = [_gradient(p) for p in self.parameters]
        count = torch.tensor(float(self.updates), device=self.parameters[0].device)
        alike = len(self._factors) == 1 and len(set(rates)) == 1
        if all(alive_by_replica) and alike:  # the same bits in one call
            parameters, means, squares = self._all
            self._fused(parameters, _pieces(gradients), means, squares, count, rates[0])
            return
        by_replica = zip(*(part.unbind() for part in gradients), strict=True)
        for states, slopes, rate, is_alive in zip(
            self._solo, by_replica, rates, alive_by_replica, strict=True
        ):
            if not is_alive:
                continue
            groups = zip(*states, self._groups(slopes), self._factors, strict=True)
            for values, means, squares, gradient, factor in groups:
                self._fused(values, gradient, means, squares, count, rate * factor)

    def _groups(self, tensors: Tensors) -> list[Tensors]:
        """One replica's tensors; the halting unit's rows apart if their rate differs."""
        if len(self._factors) == 1:
            return [tensors]
        pairs = list(zip(tensors, self._has_halting_row, strict=True))
        rest = [each[:-1] if has_row else each for each, has_row in pairs]
        rest = [each for each in rest if each.numel()]  # a parameter may have no other row
        return [rest, [each[-1:] for each, has_row in pairs if has_row]]

    def _fused(
        self,
        parameters: Tensors,
        gradients: Tensors,
        means: Tensors,
        squares: Tensors,
        count: Tensor,
        rate: float,
    ) -> None:
        """torch's Adam in one pass over memory, as `torch.optim.Adam(fused=True)` calls it."""
        first, second = self.betas
        # A private name of torch. The public `torch.optim.adam.adam(fused=True)` gives the same
        # bits (over 300 updates), but takes 1.4 to 2.4 times as long for stacks.
        torch._fused_adam_(
            parameters, gradients, means, squares, [], [count] * len(parameters),
            lr=rate, beta1=first, beta2=second, weight_decay=0.0, eps=self.epsilon,
            amsgrad=False, maximize=False,
        )  # fmt: skip

    def state(self) -> dict[str, Tensor]:
        """The state for a checkpoint, by name."""
        moments = {f"mean.{i}": m for i, m in enumerate(self.means)}
        moments |= {f"square.{i}": s for i, s in enumerate(self.squares)}
        return moments | {"learning_rate": self.learning_rate}

    def restore(self, state: dict[str, Tensor], updates: int) -> None:
        """Load the state of a checkpoint after `updates` updates."""
        self.updates = updates
        self.learning_rate.copy_(state["learning_rate"])
        for i, (mean, square) in enumerate(zip(self.means, self.squares, strict=True)):
            mean.copy_(state[f"mean.{i}"])
            square.copy_(state[f"square.{i}"])


def _gradient(parameter: nn.Parameter) -> Tensor:
    if parameter.grad is None:
        return torch.zeros_like(parameter)
    return parameter.grad.contiguous()


def _pieces(parts: list[Tensor]) -> list[Tensor]:
    """Tensors (K, ...), split by replica if a replica's numbers end within a vector.

    A CPU may round the last few numbers of a tensor differently. They must not depend on the
    neighbours of a replica.
    """
    whole = [part.is_cuda or part[0].numel() % VECTOR == 0 for part in parts]
    return [
        piece
        for part, keep in zip(parts, whole, strict=True)
        for piece in ([part] if keep else part.unbind())
    ]
