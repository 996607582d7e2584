"""DACT: a running answer that later steps can change less and less."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Generator, Tensor

from pondering.model.halting.contract import (
    Halting,
    HaltingState,
    PonderRecord,
    Score,
    Setting,
    check_number,
    counters,
    per_row,
    scored_steps,
    where_present,
    zeros,
)
from pondering.model.halting.readout import check_class_loss, log_probabilities, to_outputs


@dataclass(frozen=True)
class DACTState(HaltingState):
    """The progress of each row; all (..., B) but the answer."""

    survival: Tensor  # pi_n = prod (1 - h_j): the share that later steps can still change
    survival_sum: Tensor  # sum pi_n so far
    answer: Tensor | None  # (..., B, C) a_n, probabilities, without gradient

    @property
    def cost(self) -> Tensor:
        """Sum of pi_n over the steps, which the objective multiplies by tau."""
        return self.survival_sum


@dataclass(frozen=True)
class DACT(Halting):
    """Differentiable adaptive computation time.

    The answer is a running mixture of probabilities, a_n = pi_(n-1) softmax(y_n) +
    (1 - pi_(n-1)) a_(n-1), with pi_n = prod_(j <= n) (1 - h_j). In training no row halts. In
    evaluation a row stops once the later steps cannot change the likeliest class. The weight p_n
    of a state that crosses to the next input is pi_(n-1) - pi_n; the last step takes the rest.

    Args:
        tau: time penalty, >= 0, a number or (K,).
        max_steps: N.
        stops: whether rows stop early; see `at_inference`.

    Raises:
        ValueError: tau < 0, max_steps < 1; from `objective`, a loss that is not the cross entropy
            of one softmax or one sigmoid.

    Source: DACT, arXiv 2004.12770, Sec. 3. Its h_n is 1 - h_n here, so that a higher halting logit
    stops sooner, as in the other mechanisms. Deviation: the source starts from a trained network of
    12 steps; here everything is trained from the start. Graves 2016, footnote 1, rejects halting by
    products.
    """

    tau: Setting
    max_steps: int = 20
    stops: bool = False
    scores_every_step: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number("tau", self.tau, "[0, inf)")
        check_number("max_steps", self.max_steps, "[1, inf)", whole=True)

    def start(self, running: Tensor) -> DACTState:
        """pi_0 is 1, and there is no answer; rows (..., B)."""
        return DACTState(*counters(running), zeros(running) + 1, zeros(running), None)

    def look(self, output: Tensor, hidden: tuple[Tensor, ...], state: DACTState) -> DACTState:
        """Update the answer to a_n, which the halting rule reads."""
        new = log_probabilities(output.detach()).exp()
        share = state.survival.detach().unsqueeze(-1)
        old = new if state.answer is None else state.answer
        return replace(state, answer=share * new + (1 - share) * old)

    def step(self, n: int, halt_logit: Tensor, state: DACTState) -> tuple[Tensor, DACTState]:
        """p_n = pi_(n-1) h_n; all that is left where a row stops."""
        running, before = state.running, state.survival
        h = torch.sigmoid(halt_logit)
        after = before * (1 - h)
        last = torch.full_like(running, n == self.max_steps)
        if self.stops:
            last = last | self._is_decided(n, after, state.answer)
        p = torch.where(last, before, before * h)
        p = torch.where(running, p, 0.0)
        return p, replace(
            state,
            running=running & ~last,
            steps=state.steps + running,
            remainder=torch.where(running & last, before, state.remainder),
            expected_steps=state.expected_steps + n * p.detach(),
            survival=torch.where(running, after, before),
            survival_sum=state.survival_sum + torch.where(running, after, 0.0),
        )

    def _is_decided(self, n: int, survival: Tensor, answer: Tensor | None) -> Tensor:
        """Whether the N - n later steps cannot change the likeliest class.

        Each step moves at most the share pi_n from the first class to the second.
        """
        assert answer is not None
        left = self.max_steps - n
        first, second = answer.topk(2, dim=-1).values.unbind(-1)
        return first * (1 - survival) ** left > second + survival * left

    def objective(self, score: Score, record: PonderRecord) -> Tensor:
        """CE of a_N, that is -log of the target's probability, + tau sum pi_n."""
        _, outputs = scored_steps(record)
        check_class_loss("DACT", score, outputs[0])
        penalty = per_row(self.tau, record.cost) * record.cost
        return where_present(score(self.predict(record)) + penalty, record)

    def predict(self, record: PonderRecord) -> Tensor:
        """The answer a_N as log probabilities, or as one sigmoid's logit."""
        weights, outputs = scored_steps(record)
        probabilities = log_probabilities(outputs).exp()
        survival = weights.flip(0).cumsum(0).flip(0)  # pi_(n-1) = p_n + p_(n+1) + ...
        answer = probabilities[0]
        for new, share in zip(probabilities[1:], survival[1:].unsqueeze(-1), strict=True):
            answer = share * new + (1 - share) * answer
        tiny = torch.finfo(answer.dtype).tiny
        return to_outputs(answer.clamp(min=tiny).log(), outputs[0])

    def ponder_time(self, record: PonderRecord) -> Tensor:
        """Steps until a row stopped, (T, ..., B); sum n p_n where no row stops early."""
        return record.ponder_time if self.stops else record.expected_steps

    def at_inference(self, generator: Generator | None = None) -> DACT:
        """The same, where rows stop once their answer is decided."""
        return replace(self, stops=True)
