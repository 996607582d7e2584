"""Networks that name one class: their score, and their gradient against the oracle's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from oracle import oracle
from support.pinned import OUTPUTS, ROWS, TIMES, build, inputs_for, model_of, values_of
from torch import Tensor

from pondering.model.halting import Halting, Score
from pondering.model.network import Network

MASK = torch.tensor([[True, False, True], [True, True, True]])
Row = list[oracle.Pondering | None]
OfRow = Callable[[oracle.Pondering, int], float]
Cuts = Callable[[int], bool]


def labels_for(times: int = TIMES, rows: int = ROWS, seed: int = 6) -> Tensor:
    return torch.randint(0, OUTPUTS, (times, rows), generator=torch.Generator().manual_seed(seed))


def score_of(labels: Tensor) -> Score:
    """Cross entropy of outputs (..., T, B, C)."""

    def score(outputs: Tensor) -> Tensor:
        index = labels.expand(outputs.shape[:-1]).unsqueeze(-1)
        return -outputs.log_softmax(-1).gather(-1, index).squeeze(-1)

    return score


def rows_of(
    cell: str,
    rule: oracle.Rule,
    values: dict[str, np.ndarray],
    inputs: Tensor,
    mask: Tensor | None = None,
    forced: list[Row] | None = None,
) -> list[Row]:
    model = model_of(cell, values)
    return [
        oracle.unroll(
            model, rule, inputs[:, b].numpy(), None if mask is None else mask[:, b].numpy(),
            forced[b] if forced else None,
        )
        for b in range(inputs.shape[1])
    ]  # fmt: skip


def total(rows: list[Row], labels: Tensor, loss: OfRow) -> float:
    """Mean over examples of the sum over input times."""
    return sum(
        loss(done, int(labels[t, b]))
        for b, row in enumerate(rows)
        for t, done in enumerate(row)
        if done
    ) / len(rows)


def held_rows(
    cell: str, values: dict[str, np.ndarray], inputs: Tensor, base: list[Row], cuts: Cuts
) -> list[Row]:
    """The rows of `base`, as many steps each, a step n with `cuts` of n from base's own state."""
    model, found = model_of(cell, values), []
    for b, before in enumerate(base):
        state, row = tuple(np.zeros(size) for size in model.state_sizes), list[Any]()
        for t, own in enumerate(before):
            if own is None:
                row.append(None)
                continue
            held = {n: own.states[n - 2] for n in range(2, own.steps + 1) if cuts(n)}
            done = model.steps(inputs[t, b].numpy(), state, own.steps, held)
            done.output, state = done.outputs[-1], done.states[-1]
            row.append(done)
        found.append(row)
    return found


def agrees(
    cell: str,
    halting: Halting,
    rule: oracle.Rule,
    loss: Callable[..., float],
    cuts: Cuts | None = None,
) -> Network:
    """Loss and gradient on masked sequences, N held, against finite differences of the oracle.

    Args:
        loss: of (done, label, what the base run has of that row and time).
        cuts: whether step n starts from a state that has no gradient.
    """
    network, inputs, labels = build(cell, halting), inputs_for(cell), labels_for()
    values = values_of(network)
    base = rows_of(cell, rule, values, inputs, MASK)

    def slow(changed: dict[str, np.ndarray]) -> float:
        if cuts is None:
            rows = rows_of(cell, rule, changed, inputs, MASK, base)
        else:
            rows = held_rows(cell, changed, inputs, base, cuts)
        found = 0.0
        for b, row in enumerate(rows):
            for t, done in enumerate(row):
                if done:
                    found += loss(done, int(labels[t, b]), base[b][t])
        return found / len(rows)

    pondered = network(inputs, MASK)
    got = network.halting.objective(score_of(labels), pondered).sum(0).mean()
    np.testing.assert_allclose(float(got.detach()), slow(values), rtol=1e-9)
    got.backward()
    same_gradients(network, oracle.central_differences(slow, values))
    return network


def same_gradients(network: Network, want: dict[str, Any]) -> None:
    for key, parameter in network.named_parameters():
        found = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        np.testing.assert_allclose(found.numpy(), want[key], rtol=1e-6, atol=2e-8, err_msg=key)
