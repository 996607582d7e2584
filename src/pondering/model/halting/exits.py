"""Exits at evaluation: a rule stops a network that scores every step; nothing is trained.

On sequences a rule also decides which state crosses to the next input. `evaluate/exits.py` compares
rules on single vectors.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import torch
from torch import Tensor

from pondering.model.halting.contract import Halting, HaltingState, check_number, counters, halt_at


class History(NamedTuple):
    """Steps 1 .. n of one input, the latest last; n tensors each."""

    halt_logits: tuple[Tensor, ...] = ()  # (..., B)
    outputs: tuple[Tensor, ...] = ()  # (..., B, C) y_n
    states: tuple[Tensor, ...] = ()  # (..., B, H) s_n, all parts of the cell's state side by side


Rule = Callable[[History], Tensor]
"""Whether each row stops at step n, (..., B) bool; rows that have halted are not asked."""


@dataclass(frozen=True)
class ExitState(HaltingState):
    """The progress of each row, and the history of the input."""

    history: History


@dataclass(frozen=True)
class Exit(Halting):
    """A rule in place of the mechanism's halting.

    All weight is on the step at which a row stops: its output is the prediction, and on sequences
    its state crosses to the next input.

    Args:
        rule: from the history up to step n; a threshold (K, 1) has one value per replica.
        max_steps: where every row stops.

    Raises:
        ValueError: max_steps < 1.

    Example: `Exit(lambda history: history.halt_logits[-1] > 0, max_steps=20)` stops at the first n
    with h_n > 0.5. `network(inputs, mask, halting=Exit(...))` runs it.
    """

    rule: Rule
    max_steps: int
    scores_every_step: ClassVar[bool] = True  # a rule may read y_n
    learns: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_number("max_steps", self.max_steps, "[1, inf)", whole=True)

    def start(self, running: Tensor) -> ExitState:
        """The history is empty, rows (..., B)."""
        return ExitState(*counters(running), History())

    def look(self, output: Tensor, hidden: tuple[Tensor, ...], state: ExitState) -> ExitState:
        """Remember y_n and s_n."""
        past = state.history
        outputs, states = (*past.outputs, output), (*past.states, side_by_side(hidden))
        return replace(state, history=past._replace(outputs=outputs, states=states))

    def step(self, n: int, halt_logit: Tensor, state: ExitState) -> tuple[Tensor, ExitState]:
        """p_n = 1 where a running row stops."""
        history = state.history._replace(halt_logits=(*state.history.halt_logits, halt_logit))
        running = state.running
        stops = running if n == self.max_steps else running & self.rule(history)
        return halt_at(n, stops, halt_logit, replace(state, history=history))


def side_by_side(hidden: tuple[Tensor, ...]) -> Tensor:
    """All parts of a cell's state, such as an LSTM's two, as one tensor (..., B, H)."""
    return hidden[0] if len(hidden) == 1 else torch.cat(hidden, dim=-1)


def relative_change(states: tuple[Tensor, ...]) -> Tensor:
    """|s_n - s_(n-1)| / |s_n| of the last of n states (..., B, H), Euclidean norms: (..., B).

    s_0 counts as zero, so the change at n = 1 is 1. A state that stays zero does not change.
    """
    last = states[-1]
    before = states[-2] if len(states) > 1 else torch.zeros_like(last)
    change = torch.linalg.vector_norm(last - before, dim=-1)
    return torch.where(change > 0, change / torch.linalg.vector_norm(last, dim=-1), change)
