"""Halting once the output is certain, as the Continuous Thought Machine reads its answer."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Generator, Tensor

from pondering.model.halting.contract import (
    HaltingState,
    MeanField,
    Pondered,
    Score,
    Setting,
    per_row,
    refuse_no_count,
    refuse_unless,
    stopped,
    where_present,
    zeros,
)
from pondering.model.halting.readout import log_probabilities, refuse_no_classes


def certainty(outputs: Tensor) -> Tensor:
    """1 - H(softmax y) / log C, from 0 (uniform) to 1; outputs (..., C) to (...).

    One sigmoid (C = 1) has two classes.
    """
    log_p = log_probabilities(outputs)
    entropy = -(log_p.exp() * log_p).sum(-1)
    return 1 - entropy / math.log(log_p.shape[-1])


@dataclass(frozen=True)
class CertaintyState(HaltingState):
    """Where each row stands, and how certain its latest output is; all (..., B)."""

    certain: Tensor


@dataclass(frozen=True)
class Certainty(MeanField):
    """The answer is that of the most certain step; there is no halting unit.

    The loss is the mean of two cross entropies: of the step with the least, and of the most certain
    step. In training every row takes all N steps. In evaluation it stops at the first step that is
    more certain than theta, if any is; the answer is that of the most certain step it took, and the
    state of the last one crosses to the next input.

    Args:
        theta: in (0, 1], a number or (K,); 1: all N steps are taken. Training does not read it.
        max_steps: N.
        stops: whether theta stops rows; see `at_inference`.

    Raises:
        ValueError: theta outside (0, 1], max_steps < 1; from `objective`, a loss that is not the
            cross entropy of one softmax or one sigmoid.

    Source: CTM, arXiv 2505.05522, Sec. 3.5. Deviation: it evaluates at all steps, and shows what
    halting at a certainty of 0.8 would do (Sec. 5.1). Its parity averages the loss over many
    outputs before the least is taken; with one output networks at chance hedge: one step says yes,
    another no, with p = 3/4 each, a loss of 0.56 in place of ln 2. The least cross entropy is found
    by looking at the labels, so the training loss is optimistic.
    """

    theta: Setting = 1.0
    max_steps: int = 20
    stops: bool = False
    scores_every_step: ClassVar[bool] = True
    learns: ClassVar[bool] = False
    exits: ClassVar[tuple[str, ...]] = (
        "patience", "state", "divergence", "certainty", "fixed", "oracle",
    )  # fmt: skip

    def __post_init__(self) -> None:
        theta = torch.as_tensor(self.theta)
        refuse_unless((theta > 0) & (theta <= 1), "theta", self.theta, "a number in (0, 1]")
        refuse_no_count("max_steps", self.max_steps)

    def start(self, running: Tensor) -> CertaintyState:
        """Nothing is certain yet, rows (..., B)."""
        counters = zeros(running), zeros(running), zeros(running)
        return CertaintyState(running, *counters, certain=zeros(running))

    def look(
        self, output: Tensor, hidden: tuple[Tensor, ...], state: CertaintyState
    ) -> CertaintyState:
        """How certain y_n is."""
        return replace(state, certain=certainty(output.detach()))

    def step(
        self, n: int, halt_logit: Tensor, state: CertaintyState
    ) -> tuple[Tensor, CertaintyState]:
        """Stop where y_n is more certain than theta, if rows stop at all, else at N."""
        running = state.running
        sure = state.certain > per_row(self.theta, state.certain)
        ends = torch.full_like(running, n == self.max_steps)
        stops = running & (ends | sure if self.stops else ends)
        return stopped(n, stops, halt_logit, state)

    def objective(self, score: Score, pondered: Pondered) -> Tensor:
        """(min_n CE_n + CE of the most certain step) / 2."""
        outputs = _outputs(pondered)
        refuse_no_classes("Certainty", score, outputs[0])
        losses = score(outputs)
        most = certainty(outputs.detach()).argmax(0, keepdim=True)
        loss = (losses.amin(0) + losses.gather(0, most).squeeze(0)) / 2
        return where_present(loss, pondered)

    def predict(self, pondered: Pondered) -> Tensor:
        """The most certain output of those that were computed, the first of equals."""
        outputs = _outputs(pondered)
        most = certainty(outputs).argmax(0)[None, ..., None]
        return outputs.gather(0, most.expand(1, *outputs.shape[1:])).squeeze(0)

    def at_inference(self, generator: Generator | None = None) -> Certainty:
        """The same, where theta stops rows."""
        return replace(self, stops=True)


def _outputs(pondered: Pondered) -> Tensor:
    if pondered.outputs is None:
        raise ValueError("the record has no outputs of every step")
    return pondered.outputs
