"""Halting once the network predicts that its answer is right, as HRM and TRM train it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import torch
from torch import Generator, Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from pondering.model.halting.contract import (
    Halting,
    HaltingState,
    PonderRecord,
    Score,
    Setting,
    check_number,
    halt_at,
    ordered_sum,
    per_row,
    where_present,
)
from pondering.model.halting.readout import rightness


@dataclass(frozen=True)
class Correctness(Halting):
    """A row stops at the first step whose halting logit says that the answer is right.

    The loss is summed over the steps that a row took: CE_n + weight BCE(a_n, 1[y_n is right]). The
    halting logit a_n is the logit of being right. All weight of a row is on the step at which it
    stops: its output is the prediction and its state crosses to the next input.

    Args:
        weight: of the halting unit's cross entropy, from 0 on, a number or (K,).
        max_steps: N, where every row stops.
        explore: probability, at each step of training, that a row may not stop before a step drawn
            from U{2..N}; a number or (K,).
        detach: whether the gradient is cut between steps, as in both sources.
        generator: source of the exploration, set by `at_update`. None: no row explores.

    Raises:
        ValueError: weight < 0, explore outside [0, 1], max_steps < 1; from `objective`, a record
            without the halting logits of every step. A loss that does not go to zero for a sharp
            right answer (of numbers, of smoothed labels) is not refused: all answers are wrong.

    Source: TRM, arXiv 2510.04871, Sec. 4 and its code (weight 1/2, explore 0.1, N 16). HRM, arXiv
    2506.21734, learns two values by Q-learning instead.

    Deviations: both sources update the weights after every step and cut the gradient there, and
    their code evaluates at a fixed N. Here one update sees all steps, uncut unless `detach`, and
    evaluation stops by the rule of training. HRM's text draws once for an input; TRM's code draws
    at each step, as here. An answer of one bit is right by chance in half of all cases. The halting
    unit starts with `halt_bias` and random weights, in the sources with -5 and zero weights. A row
    has the same draw in all replicas of a stack. On sequences the draws follow the number of steps
    of the longest replica, so a replica explores differently alone.
    """

    weight: Setting = 0.5
    max_steps: int = 16
    explore: Setting = 0.1
    detach: bool = False
    generator: Generator | None = None
    scores_every_step: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number("weight", self.weight, "[0, inf)")
        check_number("explore", self.explore, "[0, 1]")
        check_number("max_steps", self.max_steps, "[1, inf)", whole=True)

    def at_update(self, update: int) -> Self:
        """With the draws of this update."""
        return replace(self, generator=Generator().manual_seed(update))

    def step(self, n: int, halt_logit: Tensor, state: HaltingState) -> tuple[Tensor, HaltingState]:
        """Stop where a_n > 0, unless the row explores."""
        running, right = state.running, halt_logit > 0
        if self.generator is not None:
            right = right & ~self._explores(n, running)
        stops = running if n == self.max_steps else running & right
        return halt_at(n, stops, halt_logit, state)

    def _explores(self, n: int, running: Tensor) -> Tensor:
        """Which rows, (B,) or (K, B), may not stop at step n < N."""
        draws = torch.rand(2, running.shape[-1], generator=self.generator).to(running.device)
        least = 2 + (draws[1] * (self.max_steps - 1)).floor()
        return (draws[0] < per_row(self.explore, draws)) & (least > n)

    def cuts(self, n: int) -> bool | Tensor:
        """Between any two steps of an input, where `detach`."""
        return self.detach and n > 1

    def objective(self, score: Score, record: PonderRecord) -> Tensor:
        """sum CE_n + weight BCE(a_n, 1[y_n is right]) over the steps that a row took."""
        logits = record.halt_logits
        if record.outputs is None or logits is None:
            raise ValueError("objective: the record has no outputs and halting logits of each step")
        right, scored = rightness(score, record.outputs)
        bce = binary_cross_entropy_with_logits(logits, right.to(logits.dtype), reduction="none")
        weight = per_row(self.weight, logits)
        losses = score(record.outputs) + weight * torch.where(scored, bce, 0.0)
        count = torch.arange(1, len(losses) + 1, device=losses.device)
        taken = count.view(-1, *[1] * (losses.dim() - 1)) <= record.ponder_time
        return where_present(ordered_sum(torch.where(taken, losses, 0.0)), record)

    def at_inference(self, generator: Generator | None = None) -> Correctness:
        """The same without exploration."""
        return replace(self, generator=None)
