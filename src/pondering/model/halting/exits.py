"""Exits at evaluation: a network of which every step was scored stops where a rule says so.

The same trained network may be stopped by any rule; nothing is trained. On sequences a rule also
decides which state crosses to the next input. `evaluate/exits.py` compares rules on single vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import torch
from torch import Generator, Tensor

from pondering.model.halting.contract import (
    HaltingState,
    MeanField,
    Pondered,
    Score,
    refuse_no_count,
    stopped,
    where_present,
    zeros,
)


class Seen(NamedTuple):
    """What the steps 1 .. n of one input have shown, the latest last; n tensors each."""

    halt_logits: tuple[Tensor, ...] = ()  # (..., B)
    outputs: tuple[Tensor, ...] = ()  # (..., B, C) y_n
    states: tuple[Tensor, ...] = ()  # (..., B, H) s_n, all parts of the cell's state side by side


Rule = Callable[[Seen], Tensor]
"""Whether each row stops at step n, (..., B) bool; it counts for those that are still running."""


@dataclass(frozen=True)
class ExitState(HaltingState):
    """Where each row stands and what has been seen."""

    seen: Seen


@dataclass(frozen=True)
class Exit(MeanField):
    """A rule in place of the mechanism's own halting.

    All the weight falls on the step at which a row stops: its output is the prediction and, on
    sequences, its state is handed on.

    Args:
        rule: from what has been seen up to step n; thresholds (K, 1) give each replica its own.
        max_steps: where every row stops.

    Raises:
        ValueError: max_steps < 1.

    Example: `Exit(lambda seen: seen.halt_logits[-1] > 0, max_steps=20)` stops at the first n with
    h_n > 0.5; `network(inputs, mask, halting=Exit(...))` runs it.
    """

    rule: Rule
    max_steps: int
    scores_every_step: ClassVar[bool] = True  # a rule may read y_n
    learns: ClassVar[bool] = False

    def __post_init__(self) -> None:
        refuse_no_count("max_steps", self.max_steps)

    def start(self, running: Tensor) -> ExitState:
        """Nothing has been seen of this input, rows (..., B)."""
        return ExitState(running, zeros(running), zeros(running), zeros(running), Seen())

    def look(self, output: Tensor, hidden: tuple[Tensor, ...], state: ExitState) -> ExitState:
        """Remember y_n and s_n."""
        outputs, states = (*state.seen.outputs, output), (*state.seen.states, side_by_side(hidden))
        return replace(state, seen=state.seen._replace(outputs=outputs, states=states))

    def step(self, n: int, halt_logit: Tensor, state: ExitState) -> tuple[Tensor, ExitState]:
        """p_n = 1 where a row that is running stops."""
        seen = state.seen._replace(halt_logits=(*state.seen.halt_logits, halt_logit))
        running = state.running
        stops = running if n == self.max_steps else running & self.rule(seen)
        return stopped(n, stops, halt_logit, replace(state, seen=seen))

    def objective(self, score: Score, pondered: Pondered) -> Tensor:
        """The score of the output at which each row stopped."""
        return where_present(score(pondered.mixture), pondered)

    def at_inference(self, generator: Generator | None = None) -> Exit:
        """The same: it is a rule of evaluation."""
        return self


def side_by_side(hidden: tuple[Tensor, ...]) -> Tensor:
    """All parts of a cell's state, such as an LSTM's two, as one tensor (..., B, H)."""
    return hidden[0] if len(hidden) == 1 else torch.cat(hidden, dim=-1)


def relative_change(states: tuple[Tensor, ...]) -> Tensor:
    """|s_n - s_(n-1)| / |s_n| of the last of n states (..., B, H), Euclidean norms: (..., B).

    At n = 1 there is no earlier step of this input to compare with: s_0 counts as zero, and the
    change is 1. A state that stays zero does not change.
    """
    now = states[-1]
    before = states[-2] if len(states) > 1 else torch.zeros_like(now)
    size = torch.linalg.vector_norm(now, dim=-1)
    moved = torch.linalg.vector_norm(now - before, dim=-1)
    return torch.where(moved > 0, moved / size, moved)
