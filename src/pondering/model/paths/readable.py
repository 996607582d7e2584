"""The papers' equations step by step: every row computes each step until the last row halts.

The tests compare the other paths with this one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from pondering.model.cells import State
from pondering.model.halting import Halting, HaltingState


class InputRecord(NamedTuple):
    """The pondering of one input: N steps of rows (..., B)."""

    weights: Tensor | None  # (N, ..., B) p_n; None where halted rows are left out
    outputs: Tensor | None  # (N, ..., B, C) y_n, if every step is scored
    mixture: Tensor | None  # (..., B, C) sum of p_n y_n, if every step is scored
    features: Tensor  # (..., B, H) sum of p_n h_n, the first part of the state
    state: State  # what crosses to the next input: sum of p_n s_n or s_N, see `Halting.carry`
    halting_state: HaltingState  # after the last step
    computed: int  # rows x steps evaluated
    halt_logits: Tensor | None = None  # (N, ..., B), with `outputs`


def ponder(
    cell: Any, heads: Any, halting: Halting, drive: Tensor, state: State, present: Tensor
) -> InputRecord:
    """Ponder one input: step until every row has halted.

    Args:
        cell, heads, halting: a `cells.Cell`, `heads.Heads`, and the mechanism.
        drive: (..., B, E), the embedded input.
        state: tensors (..., B, H), from the previous input.
        present: (..., B) bool, the rows that have an input.
    """
    halting_state = halting.start(present)
    totals = tuple(torch.zeros_like(part) for part in state)
    weights: list[Tensor] = []
    outputs: list[Tensor] = []
    halt_logits: list[Tensor] = []
    mixture: Tensor | None = None
    n = 0
    while n == 0 or (n < halting.max_steps and bool(halting_state.running.any())):
        n += 1
        running = halting_state.running.unsqueeze(-1)
        if (cut := halting.cuts(n)) is not False:
            cut = torch.as_tensor(cut).unsqueeze(-1)
            state = tuple(torch.where(cut, part.detach(), part) for part in state)
        new = cell.step(drive, state, n == 1)
        state = tuple(torch.where(running, a, b) for a, b in zip(new, state, strict=True))
        y, halt_logit = heads.read(state)
        halting_state = halting.look(y, state, halting_state)
        weight, halting_state = halting.step(n, halt_logit, halting_state)
        totals = tuple(
            add_share(total, weight, part) for total, part in zip(totals, state, strict=True)
        )
        weights.append(weight)
        if halting.scores_every_step:
            mixture = torch.zeros_like(y) if mixture is None else mixture
            mixture = add_share(mixture, weight, y)
            outputs.append(y)
            halt_logits.append(halt_logit)
    return InputRecord(
        weights=torch.stack(weights),
        outputs=torch.stack(outputs) if outputs else None,
        mixture=mixture,
        features=totals[0],
        state=state if halting.carry == "last" else totals,
        halting_state=halting_state,
        computed=n * present.numel(),
        halt_logits=torch.stack(halt_logits) if halt_logits else None,
    )


def add_share(total: Tensor, weight: Tensor, value: Tensor) -> Tensor:
    """total + p_n s_n; a row without weight adds nothing, even if its state is infinite."""
    weight = weight.unsqueeze(-1)
    return total + torch.where(weight > 0, weight * value, 0.0)
