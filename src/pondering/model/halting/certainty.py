"""Halting once the output is certain, as the Continuous Thought Machine reads its answer."""

from __future__ import annotations

import math
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
    halt_at,
    per_row,
    scored_steps,
    where_present,
    zeros,
)
from pondering.model.halting.readout import check_class_loss, log_probabilities


def certainty(outputs: Tensor) -> Tensor:
    """1 - H(softmax y) / log C, from 0 (uniform) to 1; outputs (..., C) to (...).

    One sigmoid (C = 1) has two classes.
    """
    log_p = log_probabilities(outputs)
    entropy = -(log_p.exp() * log_p).sum(-1)
    return 1 - entropy / math.log(log_p.shape[-1])


@dataclass(frozen=True)
class CertaintyState(HaltingState):
    """The progress of each row, and the certainty of its latest output; all (..., B)."""

    certainty: Tensor


@dataclass(frozen=True)
class Certainty(Halting):
    """The answer is the output of the most certain step; there is no halting unit.

    The loss is the mean of two cross entropies: the smallest one, and that of the most certain
    step. In training every row takes all N steps. In evaluation a row stops at the first step that
    is more certain than theta. The answer is that of the most certain step that it took; the state
    of its last step crosses to the next input.

    Args:
        theta: in (0, 1], a number or (K,); 1: all N steps are taken. Training does not read it.
        max_steps: N.
        stops: whether theta stops rows; see `at_inference`.

    Raises:
        ValueError: theta outside (0, 1], max_steps < 1; from `objective`, a loss that is not the
            cross entropy of one softmax or one sigmoid.

    Source: CTM, arXiv 2505.05522, Sec. 3.5. Deviation: CTM evaluates at all steps, and shows what
    halting at a certainty of 0.8 would do (Sec. 5.1). Its parity has many outputs and averages
    their loss before the minimum. With one output a network at chance can hedge: one step says yes
    and another no, with p = 3/4 each, for a loss of 0.56 in place of ln 2. The minimum reads the
    labels, so the training loss is optimistic.
    """

    theta: Setting = 1.0
    max_steps: int = 20
    stops: bool = False
    scores_every_step: ClassVar[bool] = True
    learns: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_number("theta", self.theta, "(0, 1]")
        check_number("max_steps", self.max_steps, "[1, inf)", whole=True)

    def start(self, running: Tensor) -> CertaintyState:
        """The certainty before step 1 is 0, rows (..., B)."""
        return CertaintyState(*counters(running), certainty=zeros(running))

    def look(
        self, output: Tensor, hidden: tuple[Tensor, ...], state: CertaintyState
    ) -> CertaintyState:
        """Remember the certainty of y_n."""
        return replace(state, certainty=certainty(output.detach()))

    def step(
        self, n: int, halt_logit: Tensor, state: CertaintyState
    ) -> tuple[Tensor, CertaintyState]:
        """Stop at N, or with `stops` where y_n is more certain than theta."""
        last = torch.full_like(state.running, n == self.max_steps)
        if self.stops:
            last = last | (state.certainty > per_row(self.theta, state.certainty))
        return halt_at(n, state.running & last, halt_logit, state)

    def objective(self, score: Score, record: PonderRecord) -> Tensor:
        """(min_n CE_n + CE of the most certain step) / 2."""
        _, outputs = scored_steps(record)
        check_class_loss("Certainty", score, outputs[0])
        losses = score(outputs)
        best = certainty(outputs.detach()).argmax(0, keepdim=True)
        loss = (losses.amin(0) + losses.gather(0, best).squeeze(0)) / 2
        return where_present(loss, record)

    def predict(self, record: PonderRecord) -> Tensor:
        """The most certain output of the steps that were computed, the first of equals."""
        _, outputs = scored_steps(record)
        best = certainty(outputs).argmax(0)[None, ..., None]
        return outputs.gather(0, best.expand(1, *outputs.shape[1:])).squeeze(0)

    def at_inference(self, generator: Generator | None = None) -> Certainty:
        """The same, where theta stops rows."""
        return replace(self, stops=True)
