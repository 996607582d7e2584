"""Adaptive Computation Time, with the equation numbers of Graves 2016."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import torch
from torch import Tensor

from pondering.model.halting.contract import (
    Carry,
    Halting,
    HaltingState,
    PonderRecord,
    Score,
    Setting,
    check_number,
    check_word,
    counters,
    per_row,
    where_present,
    zeros,
)


@dataclass(frozen=True)
class ACTState(HaltingState):
    """The progress of each row, and the probability that is left; all (..., B)."""

    unspent: Tensor  # 1 - sum of p_n so far, the remainder R of Eq. 8; 0 once halted

    @property
    def cost(self) -> Tensor:
        """The ponder cost N + R of Eq. 10. N is a constant in the gradient (Eq. 14)."""
        return self.steps + self.remainder


@dataclass(frozen=True)
class ACT(Halting):
    """Adaptive Computation Time.

    Args:
        tau: time penalty, >= 0, a number or (K,).
        epsilon: a row halts once its halting units sum to 1 - epsilon.
        max_steps: M, where every row halts.
        carry: the state that crosses to the next input: sum p_n s_n (`mean_field`, Eq. 9) or s_N
            (`last`), which the paper does not have.
        tau_warmup: updates over which the penalty rises linearly from 0 to tau, a whole number or
            (K,). 0: the penalty is tau from the first update on, as in Graves 2016. In a loop of
            your own the objective of update u is `halting.at_update(u).objective(...)`.

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

    def __post_init__(self) -> None:
        check_number("tau", self.tau, "[0, inf)")
        check_number("epsilon", self.epsilon, "[0, 1)", one=True)
        check_number("max_steps", self.max_steps, "[1, inf)", whole=True)
        check_word("carry", self.carry, Carry)
        check_number("tau_warmup", self.tau_warmup, "[0, inf)", whole=True)

    def start(self, running: Tensor) -> ACTState:
        """All probability is unspent where there is an input, none elsewhere."""
        return ACTState(*counters(running), unspent=zeros(running) + running)

    def step(self, n: int, halt_logit: Tensor, state: ACTState) -> tuple[Tensor, ACTState]:
        """p_n = h_n before the last step and R at it (Eqs. 5-8, 13)."""
        h = torch.sigmoid(halt_logit)  # Eq. 5
        # Eq. 7: N is the first n where the sum of h reaches 1 - epsilon. That is the same as
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

    def objective(self, score: Score, record: PonderRecord) -> Tensor:
        """L(sum p_n y_n) + tau (N + R) (Eqs. 9-12)."""
        penalty = per_row(self.tau, record.cost) * record.cost
        return where_present(score(record.mixture) + penalty, record)

    def at_update(self, update: int) -> Self:
        """With the penalty tau min(1, u / U) at update u = 0, 1, ... of a warm-up of U updates."""
        if update >= self._warmup_end:
            return self
        warmup = torch.as_tensor(self.tau_warmup, dtype=torch.float64)
        share = torch.where(warmup > update, update / warmup, 1.0)
        if isinstance(self.tau, Tensor):
            share = share.to(self.tau.dtype)
        return replace(self, tau=self.tau * share, tau_warmup=0)

    @cached_property
    def _warmup_end(self) -> int:
        """The first update at which every replica has its full penalty."""
        return int(torch.as_tensor(self.tau_warmup).max())

    @staticmethod
    def logit_gradient(score: Tensor, last: Tensor, cost: Tensor, h: Tensor) -> Tensor:
        """dL/d logit of h_n for n < N; at n = N the gradient is zero.

        p_n = h_n and p_N = 1 - sum h_n. So h_n moves weight from the last step to step n, and
        lowers the remainder.

        Args:
            score: dL/dp_n, the product of dL/ds and s_n, any shape.
            last: dL/dp_N, the same for the last step.
            cost: dL/dR of the remainder R.
            h: h_n.

        Source: Graves 2016, Eqs. 14-20.
        """
        gradient: Tensor = torch.ops.aten.sigmoid_backward(score - last - cost, h)
        return gradient
