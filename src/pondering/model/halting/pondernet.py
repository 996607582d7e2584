"""PonderNet, a learned distribution over steps, with the equation numbers of Banino 2021."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Generator, Tensor
from torch.nn.functional import logsigmoid

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
    ordered_sum,
    per_row,
    scored_steps,
    where_present,
    zeros,
)
from pondering.model.halting.sampled import SampledHalting

KL = Literal["p_prior", "prior_p"]


@dataclass(frozen=True)
class PonderNetState(HaltingState):
    """The progress of each row, its log survival and its KL; all (..., B)."""

    log_survival: Tensor  # log of prod (1 - lambda_j): the probability of not having halted yet
    kl: Tensor  # the sum of the KL so far, nats, in the direction of `PonderNet.kl`

    @property
    def cost(self) -> Tensor:
        """The KL, which the objective multiplies by beta."""
        return self.kl


@dataclass(frozen=True)
class PonderNet(Halting):
    """PonderNet: a halting distribution p_n, kept near a truncated geometric prior.

    Args:
        lambda_p: halting probability of the prior, in [0, 1), a number or (K,). 0 is the limit:
            the uniform prior over the N steps (as in Ouro, arXiv 2510.25741).
        beta: weight of the KL term, a number or (K,).
        max_steps: N; the last step takes the rest of the probability.
        epsilon: a row stops once its cumulated p exceeds 1 - epsilon, a number or (K,). None or 0:
            every row takes all N steps.
        kl: `p_prior` for KL(p || prior), that of the paper; `prior_p` for KL(prior || p), which
            most public code computes. A word, or one for each of K replicas.
        carry: the state that crosses to the next input: sum p_n s_n (`mean_field`) or s_N (`last`).

    Raises:
        ValueError: lambda_p or epsilon outside [0, 1), beta < 0, max_steps < 1, another word for
            `kl` or `carry`.

    Source: Banino 2021, Sec. 2, Eqs. 2-3. The paper says nothing of sequences. Here each input
    vector has its own p_n, and the mean-field state crosses to the next input, as in ACT. In
    training every input of a sequence takes all steps up to N.
    """

    lambda_p: Setting
    beta: Setting = 0.01
    max_steps: int = 20
    epsilon: Setting | None = None
    kl: KL | tuple[KL, ...] = "p_prior"
    carry: Carry = "mean_field"
    scores_every_step: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number("lambda_p", self.lambda_p, "[0, 1)")
        check_number("beta", self.beta, "[0, inf)")
        check_number("max_steps", self.max_steps, "[1, inf)", whole=True)
        if self.epsilon is not None:
            check_number("epsilon", self.epsilon, "[0, 1)")
        for word in (self.kl,) if isinstance(self.kl, str) else self.kl:
            check_word("kl", word, KL)
        check_word("carry", self.carry, Carry)

    def start(self, running: Tensor) -> PonderNetState:
        """The survival of every row is 1, its log 0."""
        return PonderNetState(*counters(running), log_survival=zeros(running), kl=zeros(running))

    def step(
        self, n: int, halt_logit: Tensor, state: PonderNetState
    ) -> tuple[Tensor, PonderNetState]:
        """p_n = lambda_n prod (1 - lambda_j), the rest at the last step (Eq. 2); adds to the KL."""
        running, log_survival = state.running, state.log_survival
        log_p = log_survival + logsigmoid(halt_logit)
        log_after = log_survival + logsigmoid(-halt_logit)
        last = self.is_last(n, log_after)
        log_p = torch.where(last, log_survival, log_p)
        p = torch.where(running, torch.exp(log_p), 0.0)
        kl = state.kl + torch.where(running, self.kl_term(n, p, log_p), 0.0)
        kl = torch.where(running & last, self.normalised(kl, n), kl)
        return p, PonderNetState(
            running=running & ~last,
            steps=state.steps + running,
            remainder=torch.where(running & last, torch.exp(log_survival), state.remainder),
            expected_steps=state.expected_steps + n * p.detach(),
            log_survival=torch.where(running, log_after, log_survival),
            kl=kl,
        )

    def is_last(self, n: int, log_after: Tensor) -> Tensor:
        """Whether step n is the last: n = N, or less than epsilon is left after it."""
        last = torch.full_like(log_after, n == self.max_steps, dtype=torch.bool)
        if self.epsilon is None:
            return last
        return last | (torch.exp(log_after) < per_row(self.epsilon, log_after))

    def kl_term(self, n: int | Tensor, p: Tensor, log_p: Tensor) -> Tensor:
        """The term of step n in the KL, with the prior g_n before truncation.

        p_n log(p_n / g_n), or g_n log(g_n / p_n) where `kl` is `prior_p`. The second needs log p_n
        alone, so p_n may be as small as floats allow.
        """
        log_prior = self._log_prior(n, log_p)
        term = p * (log_p - log_prior)
        if self.kl == "p_prior":
            return term
        return torch.where(self._reversed(p), log_prior.exp() * (log_prior - log_p), term)

    def normalised(self, kl: Tensor, n: int | Tensor) -> Tensor:
        """The KL from the sum of its terms, with the prior normalised over n steps: g_n / Z(n).

        sum p log(p Z / g) = sum p log(p / g) + log Z, and
        sum g / Z log(g / (Z p)) = (sum g log(g / p)) / Z - log Z.
        """
        log_z = self._log_normaliser(n, kl)
        if self.kl == "p_prior":
            return kl + log_z
        return torch.where(self._reversed(kl), kl / log_z.exp() - log_z, kl + log_z)

    def _reversed(self, like: Tensor) -> Tensor:
        """Whether `kl` is `prior_p`, a number or (K, 1) bool."""
        if isinstance(self.kl, str):
            return torch.tensor(self.kl == "prior_p", device=like.device)
        words = [word == "prior_p" for word in self.kl]
        return torch.tensor(words, device=like.device).unsqueeze(-1)

    def _log_prior(self, n: int | Tensor, like: Tensor) -> Tensor:
        """log of g_n = lambda_p (1 - lambda_p)^(n-1), the prior before truncation; 0 if uniform."""
        lambda_p = per_row(self.lambda_p, like)
        geometric = torch.log(lambda_p) + (n - 1) * torch.log1p(-lambda_p)
        return torch.where(lambda_p > 0, geometric, 0.0)

    def _log_normaliser(self, n: int | Tensor, like: Tensor) -> Tensor:
        """log of Z(n) = 1 - (1 - lambda_p)^n, the prior's mass on the first n steps; n if uniform.

        For the uniform prior both g_n and Z(n) leave out the factor lambda_p.
        """
        lambda_p = per_row(self.lambda_p, like)
        geometric = torch.log(-torch.expm1(n * torch.log1p(-lambda_p)))
        return torch.where(lambda_p > 0, geometric, torch.as_tensor(n, dtype=like.dtype).log())

    def objective(self, score: Score, record: PonderRecord) -> Tensor:
        """sum p_n L(y_n) + beta KL (Eq. 3, where `kl` is `p_prior`): every step is scored."""
        weights, outputs = scored_steps(record)
        expected_score = ordered_sum(weights * score(outputs))
        penalty = per_row(self.beta, record.cost) * record.cost
        return where_present(expected_score + penalty, record)

    def ponder_time(self, record: PonderRecord) -> Tensor:
        """The expected steps under p, (T, ..., B)."""
        return record.expected_steps

    def at_inference(self, generator: Generator | None = None) -> SampledHalting:
        """Halting sampled step by step with probability lambda_n (Sec. 2.5)."""
        return SampledHalting(self.max_steps, generator, self.epsilon)
