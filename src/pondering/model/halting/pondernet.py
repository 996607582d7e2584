"""PonderNet: a learned distribution over steps, and its sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Generator, Tensor
from torch.nn.functional import logsigmoid

from pondering.model.halting.contract import MeanField, Pondered, Progress, Score, Setting, per_row


@dataclass(frozen=True)
class PonderNet(MeanField):
    """PonderNet: a halting distribution p_n, kept near a truncated geometric prior.

    Args:
        lambda_p: halting probability of the prior, in (0, 1), a number or (K,).
        beta: weight of the KL term, a number or (K,).
        max_steps: N, where the rest of the mass goes.
        epsilon: None for a constant N; else a row stops once its cumulated p exceeds 1 - epsilon.

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

    def step(self, n: int, halt_logit: Tensor, progress: Progress) -> tuple[Tensor, Progress]:
        """p_n = lambda_n prod (1 - lambda_j), the rest at the last step (Eq. 2); adds to the KL."""
        running, log_survival, steps, remainder, cost, expected = progress
        log_p = log_survival + logsigmoid(halt_logit)
        log_after = log_survival + logsigmoid(-halt_logit)
        last = self._is_last(n, log_after)
        log_p = torch.where(last, log_survival, log_p)
        p = torch.where(running, torch.exp(log_p), 0.0)
        cost = cost + torch.where(running, p * (log_p - self._log_prior(n, log_p)), 0.0)
        # Normalising the prior over n <= N adds log Z(N) sum p = log Z(N), once, at step N.
        cost = cost + torch.where(running & last, self._log_normaliser(n, log_p), 0.0)
        return p, Progress(
            running & ~last,
            torch.where(running, log_after, log_survival),
            steps + running,
            torch.where(running & last, torch.exp(log_survival), remainder),
            cost,
            expected + n * p.detach(),
        )

    def distribution(self, halt_logits: Tensor, present: Tensor) -> tuple[Tensor, Progress]:
        """All of `step` at once for a constant N.

        Args:
            halt_logits: (N, ..., B).
            present: (..., B) bool, rows that ponder at all.

        Returns:
            p_n, (N, ..., B), zero where not present; the progress after step N.
        """
        after = logsigmoid(-halt_logits).cumsum(0)
        before = torch.cat([torch.zeros_like(after[:1]), after[:-1]])
        log_p = torch.cat([(before + logsigmoid(halt_logits))[:-1], before[-1:]])
        p = torch.where(present, log_p.exp(), 0.0)
        numbers = torch.arange(1.0, self.max_steps + 1, device=p.device).to(p.dtype)
        by_step = numbers.view(-1, *[1] * (p.dim() - 1))
        kl = (p * (log_p - self._log_prior(by_step, log_p))).sum(0)
        kl = kl + self._log_normaliser(self.max_steps, log_p)
        return p, Progress(
            torch.zeros_like(present),
            torch.where(present, after[-1], 0.0),
            present * float(self.max_steps),
            torch.where(present, before[-1].exp(), 0.0),
            torch.where(present, kl, 0.0),
            torch.tensordot(numbers, p.detach(), 1),
        )

    def _is_last(self, n: int, log_after: Tensor) -> Tensor:
        """Whether step n takes the rest: n = N, or the mass after it is below epsilon."""
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
        return expected_score + per_row(self.beta, pondered.cost) * pondered.cost

    def ponder_time(self, pondered: Pondered) -> Tensor:
        """The expected steps under p, (T, ..., B)."""
        return pondered.expected_steps

    def at_inference(self, generator: Generator) -> SampledHalting:
        """Halting sampled step by step with probability lambda_n (Sec. 2.3)."""
        return SampledHalting(self.max_steps, generator)


@dataclass(frozen=True)
class SampledHalting(MeanField):
    """PonderNet when evaluated: at each step a row halts with probability lambda_n.

    All the weight falls on the halting step: its output is the prediction and, on sequences, its
    state is handed on. Each row has one uniform draw u per input: it halts at the first n at which
    the cumulated p_n exceeds u. Row b's draw is the same in every replica, so that a replica's
    steps depend neither on its neighbours nor on which rows are still computed.

    Source: Banino 2021, Sec. 2.3.
    """

    max_steps: int
    generator: Generator
    scores_every_step: ClassVar[bool] = False
    learns: ClassVar[bool] = False

    def start(self, running: Tensor) -> Progress:
        """Draw u for each of the rows (..., B)."""
        draw = torch.rand(running.shape[-1], generator=self.generator).to(running.device)
        return super().start(running)._replace(left=draw.expand(running.shape))

    def step(self, n: int, halt_logit: Tensor, progress: Progress) -> tuple[Tensor, Progress]:
        """Halt with probability lambda_n; every row halts at `max_steps`."""
        running, u = progress.running, progress.left
        lambda_n = torch.sigmoid(halt_logit)
        halts = u < lambda_n
        if n == self.max_steps:
            halts = torch.ones_like(halts)
        weight = (running & halts).to(halt_logit.dtype)
        return weight, progress._replace(
            running=running & ~halts,
            left=(u - lambda_n) / (1 - lambda_n),  # u is uniform again, given that n did not halt
            steps=progress.steps + running,
            expected=progress.expected + n * weight,
        )

    def objective(self, score: Score, pondered: Pondered) -> Tensor:
        """The score of the sampled output."""
        return score(pondered.mixture)

    def at_inference(self, generator: Generator) -> SampledHalting:
        """The same rule with another generator."""
        return SampledHalting(self.max_steps, generator)
