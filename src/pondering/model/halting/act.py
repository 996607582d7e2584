"""Adaptive Computation Time, with the equation numbers of Graves 2016."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import torch
from torch import Generator, Tensor

from pondering.model.halting.contract import (
    Carry,
    HaltingState,
    MeanField,
    Pondered,
    Score,
    Setting,
    per_row,
    refuse_no_count,
    refuse_no_word,
    refuse_unless,
    where_present,
    zeros,
)


@dataclass(frozen=True)
class ACTState(HaltingState):
    """Where each row stands, and what the next step may still give away; all (..., B)."""

    unspent: Tensor  # 1 - sum of p_n so far, the remainder R of Eq. 8; 0 once halted

    @property
    def cost(self) -> Tensor:
        """The ponder cost N + R of Eq. 10. N is a constant in the gradient (Eq. 14)."""
        return self.steps + self.remainder


@dataclass(frozen=True)
class ACT(MeanField):
    """Adaptive Computation Time.

    Args:
        tau: time penalty, >= 0, a number or (K,).
        epsilon: a row halts once its halting units sum to 1 - epsilon.
        max_steps: M, where every row halts.
        carry: which state crosses to the next input: sum p_n s_n (`mean_field`, Eq. 9) or s_N
            (`last`), which the paper does not have.
        tau_warmup: updates over which the penalty rises linearly from 0 to tau, a whole number or
            (K,); 0: it is tau from the first update on. In a loop of your own the objective of
            update u is `halting.at_update(u).objective(...)`. Graves 2016 keeps tau constant.

    Raises:
        ValueError: tau < 0, epsilon outside [0, 1), max_steps < 1, tau_warmup not whole or < 0,
            another word for `carry`.

    Source: Graves 2016, Secs. 2 to 2.2, Eqs. 5-14.
    """

    tau: Setting
    epsilon: float = 0.01
    max_steps: int = 100
    carry: Carry = "mean_field"
    tau_warmup: Setting = 0
    scores_every_step: ClassVar[bool] = False
    learns: ClassVar[bool] = True

    def __post_init__(self) -> None:
        tau = torch.as_tensor(self.tau)
        refuse_unless((tau >= 0) & tau.isfinite(), "tau", self.tau, "a number from 0 on")
        refuse_unless(0 <= self.epsilon < 1, "epsilon", self.epsilon, "a number in [0, 1)")
        refuse_no_count("max_steps", self.max_steps)
        refuse_no_word("carry", self.carry, Carry)
        warmup = torch.as_tensor(self.tau_warmup, dtype=torch.float64)
        whole = (warmup >= 0) & (warmup == warmup.round()) & warmup.isfinite()
        refuse_unless(whole, "tau_warmup", self.tau_warmup, "a whole number from 0 on")

    def start(self, running: Tensor) -> ACTState:
        """All probability is unspent where there is an input, none elsewhere."""
        counters = zeros(running), zeros(running), zeros(running)
        return ACTState(running, *counters, unspent=zeros(running) + running)

    def step(self, n: int, halt_logit: Tensor, state: ACTState) -> tuple[Tensor, ACTState]:
        """p_n = h_n before the last step and R at it (Eqs. 5-8, 13)."""
        h = torch.sigmoid(halt_logit)  # Eq. 5
        # Eq. 7: N is the first n where the sum of h reaches 1 - epsilon, which is the same as
        # h_n >= unspent - epsilon. A row that has halted spends nothing: its p_n is zero.
        goes_on = h < state.unspent - self.epsilon
        last = n == self.max_steps  # Eq. 13
        p = state.unspent if last else torch.where(goes_on, h, state.unspent)  # Eq. 6
        remainder = torch.where(state.running, p, state.remainder)  # Eq. 8 at the last step
        unspent = state.unspent - p
        return p, ACTState(
            running=unspent > 0,
            steps=state.steps + state.running,
            remainder=remainder,
            expected_steps=torch.add(state.expected_steps, p.detach(), alpha=n),
            unspent=unspent,
        )

    def objective(self, score: Score, pondered: Pondered) -> Tensor:
        """L(sum p_n y_n) + tau (N + R) (Eqs. 9-12)."""
        penalty = per_row(self.tau, pondered.cost) * pondered.cost
        return where_present(score(pondered.mixture) + penalty, pondered)

    def at_update(self, update: int) -> ACT:
        """With the penalty tau min(1, u / U) at update u = 0, 1, ... of a warm-up of U."""
        if update >= self._warm_from:
            return self
        warmup = torch.as_tensor(self.tau_warmup, dtype=torch.float64)
        share = torch.where(warmup > update, update / warmup, 1.0)
        if isinstance(self.tau, Tensor):
            share = share.to(self.tau.dtype)
        return replace(self, tau=self.tau * share, tau_warmup=0)

    @cached_property
    def _warm_from(self) -> int:
        """The first update at which every replica has its full penalty."""
        return int(torch.as_tensor(self.tau_warmup).max())

    @staticmethod
    def logit_gradient(score: Tensor, last: Tensor, cost: Tensor, h: Tensor) -> Tensor:
        """dL/d logit of h_n for n < N; at n = N it is zero.

        p_n = h_n and p_N = 1 - sum h_n, so h_n moves weight from the last step to step n, and
        takes it from the remainder.

        Args:
            score: dL/dp_n, the product of dL/ds and s_n, any shape.
            last: dL/dp_N, the same for the last step.
            cost: dL/dR of the remainder R.
            h: h_n.

        Source: Graves 2016, Eqs. 14-20.
        """
        gradient: Tensor = torch.ops.aten.sigmoid_backward(score - last - cost, h)
        return gradient

    def at_inference(self, generator: Generator | None = None) -> ACT:
        """The same: ACT halts deterministically."""
        return self
