"""Halting mechanisms: ACT, PonderNet, fixed repeat. The whole difference between the papers.

The network emits one halting logit per ponder step n = 1, 2, ... and row. A mechanism answers
four questions, and nothing else in the code asks which mechanism it is:

- `step`: which weight p_n this step gets, and who is still running;
- `carry`: which state crosses to the next input;
- `objective`: how the task's score of the outputs becomes the loss;
- `predict`: which output is the prediction.

All tensors are (..., B): rows B, optional replica axes in front. Settings (tau, lambda_p, beta,
rho) are numbers, or tensors (K,) with one value per replica.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol

import torch
from torch import Generator, Tensor
from torch.nn.functional import logsigmoid

Setting = Tensor | float
Score = Callable[[Tensor], Tensor]


class Progress(NamedTuple):
    """Where each row stands after some ponder steps; all (..., B)."""

    running: Tensor  # bool: has not halted
    left: Tensor  # ACT: 1 - sum of p so far. PonderNet: log of it. Sampling: the draw, rescaled
    steps: Tensor  # steps computed so far; N(t) once halted
    remainder: Tensor  # R(t), the mass given to the last step, once halted
    cost: Tensor  # ACT: N + R once halted. PonderNet: KL so far. Fixed repeat: zero
    expected: Tensor  # sum of n p_n so far


class Pondered(NamedTuple):
    """What a mechanism sees of one pass: T inputs, N ponder steps at most."""

    weights: Tensor | None  # (T, N, ..., B) p_n, zero once halted; None on the fast path
    outputs: Tensor | None  # (T, N, ..., B, C) y_n, if the mechanism scores every step
    mixture: Tensor  # (T, ..., B, C) sum of p_n y_n
    ponder_time: Tensor  # (T, ..., B) N(t), steps until the row halted
    remainder: Tensor  # (T, ..., B) R(t)
    cost: Tensor  # (T, ..., B) N + R or KL
    expected_steps: Tensor  # (T, ..., B) sum of n p_n
    computed: int  # rows x steps that were evaluated, halted ones included


class Halting(Protocol):
    """The contract; see the module's description."""

    scores_every_step: ClassVar[bool]  # whether `objective` needs outputs, not their mixture alone
    learns: ClassVar[bool]  # whether the halting unit takes part in the gradient

    @property
    def max_steps(self) -> int:
        """M or N: no row takes more steps."""
        ...

    def start(self, running: Tensor) -> Progress:
        """Nothing computed yet; rows that are False in `running` never ponder."""
        ...

    def step(self, n: int, halt_logit: Tensor, progress: Progress) -> tuple[Tensor, Progress]:
        """Weight p_n of step n (zero for rows that had halted) and the progress after it."""
        ...

    def carry(self, total: Tensor, weight: Tensor, value: Tensor) -> Tensor:
        """Add step n's share of a state or output (..., B, H) to its running total."""
        ...

    def objective(self, score: Score, pondered: Pondered) -> Tensor:
        """Loss of each input vector, (T, ..., B), from the task's score of outputs."""
        ...

    def predict(self, pondered: Pondered) -> Tensor:
        """The output that counts as the prediction, (T, ..., B, C)."""
        ...

    def ponder_time(self, pondered: Pondered) -> Tensor:
        """The reported steps per input vector, (T, ..., B)."""
        ...

    def at_inference(self, generator: Generator) -> Halting:
        """The mechanism as it halts when nothing is learnt from it."""
        ...


class MeanField:
    """What the mechanisms share: state and output are averaged under p_n (Graves Eq. 9).

    A base for others: `step`, `objective`, `at_inference`, `max_steps` and the two class variables
    are left to them.
    """

    def start(self, running: Tensor) -> Progress:
        """Nothing computed yet, for rows (..., B)."""
        zero = torch.zeros(running.shape, device=running.device)
        return Progress(running, zero, zero, zero, zero, zero)

    def carry(self, total: Tensor, weight: Tensor, value: Tensor) -> Tensor:
        """total + p_n s_n; a row without weight adds nothing even where its state is infinite."""
        weight = weight.unsqueeze(-1)
        return total + torch.where(weight > 0, weight * value, 0.0)

    def predict(self, pondered: Pondered) -> Tensor:
        """The mean-field output, (T, ..., B, C)."""
        return pondered.mixture

    def ponder_time(self, pondered: Pondered) -> Tensor:
        """N(t), the steps until the row halted, (T, ..., B)."""
        return pondered.ponder_time


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


@dataclass(frozen=True)
class FixedRepeat(MeanField):
    """Every input is processed rho times; output and state are the last ones.

    rho = 1 is the plain network ("without ACT").

    Source: Fojo et al. 2018, Repeat-RNN.
    """

    rho: Setting
    scores_every_step: ClassVar[bool] = False
    learns: ClassVar[bool] = False

    @cached_property
    def max_steps(self) -> int:
        """The largest rho."""
        return int(torch.as_tensor(self.rho).max())

    def step(self, n: int, halt_logit: Tensor, progress: Progress) -> tuple[Tensor, Progress]:
        """p_n = 1 at n = rho; the halting logit is ignored."""
        running = progress.running
        last = torch.as_tensor(per_row(self.rho, halt_logit) <= n, device=running.device)
        weight = (running & last).to(halt_logit.dtype)
        return weight, progress._replace(
            running=running & ~last,
            steps=progress.steps + running,
            expected=progress.expected + n * weight,
        )

    def objective(self, score: Score, pondered: Pondered) -> Tensor:
        """The score of the last output alone."""
        return score(pondered.mixture)

    def at_inference(self, generator: Generator) -> FixedRepeat:
        """The same: the count is fixed."""
        return self


def per_row(setting: Setting, like: Tensor) -> Tensor:
    """A setting (K,) as (K, 1), so that it broadcasts over rows; a number stays one."""
    value = torch.as_tensor(setting, dtype=like.dtype)
    return value.unsqueeze(-1) if value.dim() else value
