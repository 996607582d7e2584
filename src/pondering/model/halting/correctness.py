"""Halting once the network thinks that its answer is right, as HRM and TRM train it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Generator, Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from pondering.model.halting.contract import (
    EXITS,
    HaltingState,
    MeanField,
    Pondered,
    Score,
    Setting,
    added,
    per_row,
    refuse_no_count,
    refuse_unless,
    stopped,
    where_present,
)
from pondering.model.halting.readout import rightness


@dataclass(frozen=True)
class Correctness(MeanField):
    """A row stops at the first step whose halting logit says that the answer is right.

    The loss is summed over the steps that were taken: sum CE_n + weight BCE(a_n, 1[y_n is right]),
    with the halting logit a_n as the logit of being right. All weight of a row falls on the step at
    which it stops: its output is the prediction and its state crosses to the next input.

    Args:
        weight: of the halting unit's cross entropy, from 0 on, a number or (K,).
        max_steps: N, where every row stops.
        explore: probability with which, at each step of training, a row may stop only from a step
            drawn from U{2..N} on; a number or (K,).
        detach: whether the gradient is cut between steps, as both sources have it.
        generator: what `explore` draws from, as `at_update` sets it. None: no row explores.

    Raises:
        ValueError: weight < 0, explore outside [0, 1], max_steps < 1; from `objective`, a record
            without the steps' halting logits. A loss that does not go to zero for a sharp right
            answer (of numbers, of smoothed labels) is not refused: all answers count as wrong.

    Source: TRM, arXiv 2510.04871, Sec. 4 and its code (weight 1/2, explore 0.1, N 16); HRM, arXiv
    2506.21734, learns two values by Q-learning in its place. Deviations: they update the weights
    after every step, with the gradient cut between steps, and their code evaluates at a fixed N;
    here one update sees all steps, uncut unless `detach`, and the rule of training stops the
    evaluation too. HRM's text draws for an input once, TRM's code, as here, at each step: of rows
    that think they are right a hundredth goes on beyond two steps. An answer of one bit is right in
    half of all cases, so that such rows are most of them from the start. The halting unit starts
    with `halt_bias` (theirs is -5) and drawn weights, theirs with zero weights. A row's draw is the
    same in all replicas of a stack. On sequences it begins where the longest of them left off at
    the input before, so that there a replica explores otherwise than alone.
    """

    weight: Setting = 0.5
    max_steps: int = 16
    explore: Setting = 0.1
    detach: bool = False
    generator: Generator | None = None
    scores_every_step: ClassVar[bool] = True
    learns: ClassVar[bool] = True
    exits: ClassVar[tuple[str, ...]] = EXITS

    def __post_init__(self) -> None:
        weight = torch.as_tensor(self.weight)
        fits = (weight >= 0) & weight.isfinite()
        refuse_unless(fits, "weight", self.weight, "a number from 0 on")
        explore = torch.as_tensor(self.explore)
        share = (explore >= 0) & (explore <= 1)
        refuse_unless(share, "explore", self.explore, "a number in [0, 1]")
        refuse_no_count("max_steps", self.max_steps)

    def at_update(self, update: int) -> Correctness:
        """With draws of this update's own."""
        return replace(self, generator=Generator().manual_seed(update))

    def step(self, n: int, halt_logit: Tensor, state: HaltingState) -> tuple[Tensor, HaltingState]:
        """Stop where a_n > 0, unless the row explores."""
        running, enough = state.running, halt_logit > 0
        if self.generator is not None:
            enough = enough & ~self._explores(n, running)
        stops = running if n == self.max_steps else running & enough
        return stopped(n, stops, halt_logit, state)

    def _explores(self, n: int, running: Tensor) -> Tensor:
        """Which rows, (B,) or (K, B), a draw of this step forbids to stop at step n < N."""
        draws = torch.rand(2, running.shape[-1], generator=self.generator).to(running.device)
        least = 2 + (draws[1] * (self.max_steps - 1)).floor()
        return (draws[0] < per_row(self.explore, draws)) & (least > n)

    def cuts(self, n: int) -> bool | Tensor:
        """Between any two steps of an input, where `detach`."""
        return self.detach and n > 1

    def objective(self, score: Score, pondered: Pondered) -> Tensor:
        """sum CE_n + weight BCE(a_n, 1[y_n is right]) over the steps that a row took."""
        if pondered.outputs is None or pondered.halt_logits is None:
            raise ValueError("objective: the record has no outputs and halting logits of each step")
        right, scored = rightness(score, pondered.outputs)
        logits = pondered.halt_logits
        wants = right.to(logits.dtype)
        halting = binary_cross_entropy_with_logits(logits, wants, reduction="none")
        weight = per_row(self.weight, logits)
        each = score(pondered.outputs) + weight * torch.where(scored, halting, 0.0)
        count = torch.arange(1, len(each) + 1, device=each.device)
        taken = count.view(-1, *[1] * (each.dim() - 1)) <= pondered.ponder_time
        return where_present(added(torch.where(taken, each, 0.0)), pondered)

    def at_inference(self, generator: Generator | None = None) -> Correctness:
        """The same without exploration."""
        return replace(self, generator=None)
