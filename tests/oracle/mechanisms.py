"""Runs halting mechanisms on chosen halting logits, without a network."""

from __future__ import annotations

import math

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

from pondering.model.halting import Halting, HaltingState, PonderRecord

LOGITS = st.lists(st.floats(-6, 6), min_size=5, max_size=5)


def drive(
    halting: Halting, logits: Tensor, present: Tensor | None = None
) -> tuple[Tensor, HaltingState]:
    """Take all max_steps steps of logits (N, ..., B)."""
    if present is None:
        present = torch.ones(logits.shape[1:], dtype=torch.bool)
    state = halting.start(present)
    weights = []
    for n in range(1, halting.max_steps + 1):
        weight, state = halting.step(n, logits[n - 1], state)
        weights.append(weight)
    return torch.stack(weights), state


def column(values: list[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64).unsqueeze(1)


def pondered_from(halting: Halting, logits: Tensor, outputs: Tensor) -> PonderRecord:
    """The record of one input from logits (N, ..., B) and outputs (N, ..., B, C)."""
    weights, state = drive(halting, logits)
    return PonderRecord(
        weights=weights[:, None],
        outputs=outputs[:, None],
        mixture=(weights.unsqueeze(-1) * outputs).sum(0)[None],
        ponder_time=state.steps[None],
        remainder=state.remainder[None],
        cost=state.cost[None],
        expected_steps=state.expected_steps[None],
        computed=0,
    )


def matches(got: Tensor, want: list[float]) -> None:
    padded = want + [0.0] * (len(got) - len(want))
    np.testing.assert_allclose(got.detach().numpy(), padded, rtol=1e-10, atol=1e-12)


def logit(probability: float) -> float:
    return math.log(probability / (1 - probability))
