"""DACT: a running answer that later steps may overrule less and less."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Generator, Tensor

from pondering.model.halting.contract import (
    EXITS,
    HaltingState,
    MeanField,
    Pondered,
    Score,
    Setting,
    per_row,
    refuse_no_count,
    refuse_unless,
    where_present,
    zeros,
)
from pondering.model.halting.readout import log_probabilities, outputs_of, refuse_no_classes


@dataclass(frozen=True)
class DACTState(HaltingState):
    """Where each row stands, (..., B) each but the answer."""

    still: Tensor  # pi_n = prod (1 - h_j): what the steps to come may still overrule
    still_sum: Tensor  # sum pi_n so far
    answer: Tensor | None  # (..., B, C) a_n, probabilities, without gradient

    @property
    def cost(self) -> Tensor:
        """sum of pi_n over the steps, which the objective multiplies by tau."""
        return self.still_sum


@dataclass(frozen=True)
class DACT(MeanField):
    """Differentiable adaptive computation time.

    The answer is a running mixture of probabilities, a_n = pi_(n-1) softmax(y_n) +
    (1 - pi_(n-1)) a_(n-1), with pi_n = prod_(j <= n) (1 - h_j). In training no row halts. In
    evaluation it stops once the steps to come cannot change which class leads. p_n, by which states
    are mixed where they cross to a next input, is pi_(n-1) - pi_n, the rest at the last step.

    Args:
        tau: time penalty, >= 0, a number or (K,).
        max_steps: N.
        stops: whether rows stop early; see `at_inference`.

    Raises:
        ValueError: tau < 0, max_steps < 1; from `objective`, a loss that is not the cross entropy
            of one softmax or one sigmoid.

    Source: DACT, arXiv 2004.12770, Sec. 3, whose h_n is 1 - h_n here, so that a higher halting
    logit stops sooner, as with the other mechanisms. They begin with a trained network of 12 steps,
    here all is trained from the start. Graves 2016, footnote 1, rejects halting by products.
    """

    tau: Setting
    max_steps: int = 20
    stops: bool = False
    scores_every_step: ClassVar[bool] = True
    learns: ClassVar[bool] = True
    exits: ClassVar[tuple[str, ...]] = EXITS

    def __post_init__(self) -> None:
        tau = torch.as_tensor(self.tau)
        refuse_unless((tau >= 0) & tau.isfinite(), "tau", self.tau, "a number from 0 on")
        refuse_no_count("max_steps", self.max_steps)

    def start(self, running: Tensor) -> DACTState:
        """There is no answer yet, rows (..., B)."""
        counters = zeros(running), zeros(running), zeros(running)
        return DACTState(running, *counters, zeros(running) + 1, zeros(running), None)

    def look(self, output: Tensor, hidden: tuple[Tensor, ...], state: DACTState) -> DACTState:
        """a_n, which the halting rule reads."""
        fresh, still = log_probabilities(output.detach()).exp(), state.still.detach().unsqueeze(-1)
        before = fresh if state.answer is None else state.answer
        return replace(state, answer=still * fresh + (1 - still) * before)

    def step(self, n: int, halt_logit: Tensor, state: DACTState) -> tuple[Tensor, DACTState]:
        """p_n = pi_(n-1) h_n, the rest where a row stops."""
        running, before = state.running, state.still
        h = torch.sigmoid(halt_logit)
        still = before * (1 - h)
        last = torch.full_like(running, n == self.max_steps)
        if self.stops:
            last = last | self._settled(n, still, state.answer)
        p = torch.where(last, before, before * h)
        p = torch.where(running, p, 0.0)
        return p, replace(
            state,
            running=running & ~last,
            steps=state.steps + running,
            remainder=torch.where(running & last, before, state.remainder),
            expected_steps=state.expected_steps + n * p.detach(),
            still=torch.where(running, still, before),
            still_sum=state.still_sum + torch.where(running, still, 0.0),
        )

    def _settled(self, n: int, still: Tensor, answer: Tensor | None) -> Tensor:
        """Whether the N - n steps to come cannot change which class leads.

        Each takes at most the share pi_n from the leader and gives it to the runner-up.
        """
        assert answer is not None
        left = self.max_steps - n
        first, second = answer.topk(2, dim=-1).values.unbind(-1)
        return first * (1 - still) ** left > second + still * left

    def objective(self, score: Score, pondered: Pondered) -> Tensor:
        """CE of a_N, that is -log of the target's probability, + tau sum pi_n."""
        if pondered.outputs is not None:
            refuse_no_classes("DACT", score, pondered.outputs[0])
        penalty = per_row(self.tau, pondered.cost) * pondered.cost
        return where_present(score(self.predict(pondered)) + penalty, pondered)

    def predict(self, pondered: Pondered) -> Tensor:
        """The running answer at the last step, as log probabilities, or one sigmoid's logit."""
        if pondered.outputs is None or pondered.weights is None:
            raise ValueError("the record has no outputs of every step")
        probabilities = log_probabilities(pondered.outputs).exp()
        still = pondered.weights.flip(0).cumsum(0).flip(0)  # pi_(n-1) = p_n + p_(n+1) + ...
        answer = probabilities[0]
        for fresh, share in zip(probabilities[1:], still[1:].unsqueeze(-1), strict=True):
            answer = share * fresh + (1 - share) * answer
        tiny = torch.finfo(answer.dtype).tiny
        return outputs_of(answer.clamp(min=tiny).log(), pondered.outputs[0])

    def ponder_time(self, pondered: Pondered) -> Tensor:
        """Steps until a row stopped; where none stops early, sum n p_n; (T, ..., B)."""
        return pondered.ponder_time if self.stops else pondered.expected_steps

    def at_inference(self, generator: Generator | None = None) -> DACT:
        """The same, where rows stop once their answer is settled."""
        return replace(self, stops=True)
