"""Adaptive Computation Time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Generator, Tensor

from pondering.model.halting.contract import MeanField, Pondered, Progress, Score, Setting, per_row


@dataclass(frozen=True)
class ACT(MeanField):
    """Adaptive Computation Time.

    Args:
        tau: time penalty, >= 0, a number or (K,).
        epsilon: a row halts once its halting units sum to 1 - epsilon.
        max_steps: M, where every row halts.

    Source: Graves 2016, Secs. 2 and 2.1, Eqs. 5-14.
    """

    tau: Setting
    epsilon: float = 0.01
    max_steps: int = 100
    scores_every_step: ClassVar[bool] = False
    learns: ClassVar[bool] = True

    def start(self, running: Tensor) -> Progress:
        """All of the weight is left to the rows that have an input."""
        begun = super().start(running)
        return begun._replace(left=begun.left + running)

    def step(self, n: int, halt_logit: Tensor, progress: Progress) -> tuple[Tensor, Progress]:
        """p_n = h_n before the last step and R at it (Eqs. 5-8, 13)."""
        running, left, steps, remainder, _, expected = progress
        h = torch.sigmoid(halt_logit)  # Eq. 5
        # Eq. 7: the sum reaches 1 - epsilon with h_n where h_n >= R - epsilon, R = 1 - sum so far
        # (Eq. 8). Nothing is left to a row that has halted, so its further weights are zero.
        goes_on = h < left - self.epsilon
        weight = left if n == self.max_steps else torch.where(goes_on, h, left)  # Eqs. 6, 13
        steps = steps + running
        remainder = torch.where(running, weight, remainder)  # stays at that of the last step
        left = left - weight
        cost = steps + remainder  # Eq. 10; N is a constant in the gradient, Eq. 14
        expected = torch.add(expected, weight.detach(), alpha=n)
        return weight, Progress(left > 0, left, steps, remainder, cost, expected)

    def objective(self, score: Score, pondered: Pondered) -> Tensor:
        """L(sum p_n y_n) + tau (N + R) (Eqs. 9-12)."""
        return score(pondered.mixture) + per_row(self.tau, pondered.cost) * pondered.cost

    @staticmethod
    def logit_gradient(score: Tensor, last: Tensor, cost: Tensor, h: Tensor) -> Tensor:
        """dL/d logit of h_n for n < N; at n = N it is zero.

        p_n = h_n and p_N = 1 - sum h_n, so h_n moves weight from the last step to step n, and
        takes it from the remainder.

        Args:
            score: dL/dp_n, the product of dL/ds and s_n, (K, B).
            last: the same of step N.
            cost: dL/dR, which is tau times dL/d cost.
            h: h_n.

        Source: Graves 2016, Eqs. 14-20.
        """
        gradient: Tensor = torch.ops.aten.sigmoid_backward(score - last - cost, h)
        return gradient

    def at_inference(self, generator: Generator) -> ACT:
        """The same: ACT halts deterministically."""
        return self
