"""PonderNet, a learned distribution over steps, with the equation numbers of Banino 2021."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Generator, Tensor
from torch.nn.functional import logsigmoid

from pondering.model.halting.contract import (
    HaltingState,
    MeanField,
    Pondered,
    Score,
    Setting,
    per_row,
    refuse_no_count,
    refuse_unless,
    where_present,
)
from pondering.model.halting.sampled import SampledHalting


@dataclass(frozen=True)
class PonderNetState(HaltingState):
    """Where each row stands, how likely it was to get there, and its KL; all (..., B)."""

    log_survival: Tensor  # log of prod (1 - lambda_j): the probability of not having halted yet
    kl: Tensor  # sum of p_n log(p_n / prior_n) so far, nats; KL(p || prior) once halted

    @property
    def cost(self) -> Tensor:
        """KL(p || prior), which Eq. 3 multiplies by beta."""
        return self.kl


@dataclass(frozen=True)
class PonderNet(MeanField):
    """PonderNet: a halting distribution p_n, kept near a truncated geometric prior.

    Args:
        lambda_p: halting probability of the prior, in (0, 1), a number or (K,).
        beta: weight of the KL term, a number or (K,).
        max_steps: N, where the rest of the mass goes.
        epsilon: None for a constant N; else a row stops once its cumulated p exceeds 1 - epsilon.

    Raises:
        ValueError: lambda_p or epsilon outside (0, 1), beta < 0, max_steps < 1.

    Source: Banino 2021, Sec. 2, Eqs. 2-3. On sequences the paper is silent: here each input
    vector has its own p_n, and the mean-field state crosses to the next one, as in ACT.
    Deviation: on sequences only, by that choice; it costs all steps up to N in training.
    """

    lambda_p: Setting
    beta: Setting = 0.01
    max_steps: int = 20
    epsilon: float | None = None
    scores_every_step: ClassVar[bool] = True
    learns: ClassVar[bool] = True

    def __post_init__(self) -> None:
        prior, beta = torch.as_tensor(self.lambda_p), torch.as_tensor(self.beta)
        inside = (prior > 0) & (prior < 1)
        refuse_unless(inside, "lambda_p", self.lambda_p, "a number between 0 and 1")
        refuse_unless((beta >= 0) & beta.isfinite(), "beta", self.beta, "a number from 0 on")
        refuse_no_count("max_steps", self.max_steps)
        if self.epsilon is not None:
            fits = 0 < self.epsilon < 1
            refuse_unless(fits, "epsilon", self.epsilon, "None or a number between 0 and 1")

    def start(self, running: Tensor) -> PonderNetState:
        """Every row has survived so far: the log of 1 is zero."""
        zero = torch.zeros(running.shape, device=running.device)
        return PonderNetState(running, zero, zero, zero, log_survival=zero, kl=zero)

    def step(
        self, n: int, halt_logit: Tensor, state: PonderNetState
    ) -> tuple[Tensor, PonderNetState]:
        """p_n = lambda_n prod (1 - lambda_j), the rest at the last step (Eq. 2); adds to the KL."""
        running, log_survival = state.running, state.log_survival
        log_p = log_survival + logsigmoid(halt_logit)
        log_after = log_survival + logsigmoid(-halt_logit)
        last = self._is_last(n, log_after)
        log_p = torch.where(last, log_survival, log_p)
        p = torch.where(running, torch.exp(log_p), 0.0)
        kl = state.kl + torch.where(running, p * (log_p - self._log_prior(n, log_p)), 0.0)
        # Normalising the prior over n <= N adds log Z(N) sum p = log Z(N), once, at step N.
        kl = kl + torch.where(running & last, self._log_normaliser(n, log_p), 0.0)
        return p, PonderNetState(
            running=running & ~last,
            steps=state.steps + running,
            remainder=torch.where(running & last, torch.exp(log_survival), state.remainder),
            expected_steps=state.expected_steps + n * p.detach(),
            log_survival=torch.where(running, log_after, log_survival),
            kl=kl,
        )

    def distribution(self, halt_logits: Tensor, present: Tensor) -> tuple[Tensor, PonderNetState]:
        """All of `step` at once for a constant N.

        Args:
            halt_logits: (N, ..., B).
            present: (..., B) bool, rows that ponder at all.

        Returns:
            p_n, (N, ..., B), zero where not present; the state after step N.
        """
        after = logsigmoid(-halt_logits).cumsum(0)
        before = torch.cat([torch.zeros_like(after[:1]), after[:-1]])
        log_p = torch.cat([(before + logsigmoid(halt_logits))[:-1], before[-1:]])
        p = torch.where(present, log_p.exp(), 0.0)
        numbers = torch.arange(1.0, self.max_steps + 1, device=p.device).to(p.dtype)
        by_step = numbers.view(-1, *[1] * (p.dim() - 1))
        kl = (p * (log_p - self._log_prior(by_step, log_p))).sum(0)
        kl = kl + self._log_normaliser(self.max_steps, log_p)
        return p, PonderNetState(
            running=torch.zeros_like(present),
            steps=present * float(self.max_steps),
            remainder=torch.where(present, before[-1].exp(), 0.0),
            expected_steps=torch.tensordot(numbers, p.detach(), 1),
            log_survival=torch.where(present, after[-1], 0.0),
            kl=torch.where(present, kl, 0.0),
        )

    def _is_last(self, n: int, log_after: Tensor) -> Tensor:
        """Whether step n is the last: n = N, or less than epsilon is left after it."""
        if n == self.max_steps:
            return torch.ones_like(log_after, dtype=torch.bool)
        if self.epsilon is None:
            return torch.zeros_like(log_after, dtype=torch.bool)
        return torch.exp(log_after) < self.epsilon

    def _log_prior(self, n: int | Tensor, like: Tensor) -> Tensor:
        """log of lambda_p (1 - lambda_p)^(n-1), the geometric prior before truncation."""
        lambda_p = per_row(self.lambda_p, like)
        return torch.log(lambda_p) + (n - 1) * torch.log1p(-lambda_p)

    def _log_normaliser(self, n: int, like: Tensor) -> Tensor:
        """log of 1 - (1 - lambda_p)^n, the prior's mass on the first n steps."""
        return torch.log(-torch.expm1(n * torch.log1p(-per_row(self.lambda_p, like))))

    def objective(self, score: Score, pondered: Pondered) -> Tensor:
        """sum p_n L(y_n) + beta KL(p || prior) (Eq. 3): every step is scored, then averaged."""
        assert pondered.outputs is not None and pondered.weights is not None
        expected_score = (pondered.weights * score(pondered.outputs)).sum(1)
        penalty = per_row(self.beta, pondered.cost) * pondered.cost
        return where_present(expected_score + penalty, pondered)

    def ponder_time(self, pondered: Pondered) -> Tensor:
        """The expected steps under p, (T, ..., B)."""
        return pondered.expected_steps

    def at_inference(self, generator: Generator) -> SampledHalting:
        """Halting sampled step by step with probability lambda_n (Sec. 2.3)."""
        return SampledHalting(self.max_steps, generator)
