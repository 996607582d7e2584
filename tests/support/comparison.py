"""Runs whole networks through the oracle and compares the two records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from oracle import oracle
from support.pinned import Pinned, labels_for, model_of, score_of
from torch import Tensor

from pondering.model.halting import ACT, PonderNet, PonderRecord
from pondering.model.network import Network

EXACT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-12}
Row = list[oracle.Pondering | None]
Values = dict[str, np.ndarray]


def oracle_rows(
    cell: str,
    case: Pinned,
    values: Values,
    inputs: Tensor,
    mask: Tensor | None = None,
    held: list[Row] | None = None,
) -> list[Row]:
    """The oracle's steps of each example alone.

    Args:
        held: earlier rows, which fix the number of steps and the detached states.
    """
    model, found = model_of(cell, values), []
    for b in range(inputs.shape[1]):
        xs, there = inputs[:, b].numpy(), None if mask is None else mask[:, b].numpy()
        if held and case.cuts:
            found.append(_with_states_held(model, case, xs, held[b]))
        else:
            found.append(oracle.unroll(model, case.rule, xs, there, held[b] if held else None))
    return found


def _with_states_held(model: oracle.Model, case: Pinned, xs: np.ndarray, held: Row) -> Row:
    """Take as many steps as `held` has; a detached step starts from the state in `held`."""
    assert case.cuts is not None
    state: Any = tuple(np.zeros(size) for size in model.state_sizes)
    row: Row = []
    for x, known in zip(xs, held, strict=True):
        if known is None:
            row.append(None)
            continue
        detached = {n: known.states[n - 2] for n in range(2, known.steps + 1) if case.cuts(n)}
        done = model.steps(x, state, known.steps, detached)
        done.output, state = done.outputs[-1], done.states[-1]
        row.append(done)
    return row


def oracle_loss(case: Pinned, rows: list[Row], labels: Tensor, held: list[Row]) -> float:
    """Mean over examples of the sum over input times."""
    total = 0.0
    for b, row in enumerate(rows):
        for t, done in enumerate(row):
            if done is not None:
                total += case.loss(done, int(labels[t, b]), held[b][t])
    return total / len(rows)


def checked_loss(
    cell: str, case: Pinned, network: Network, inputs: Tensor, mask: Tensor | None, values: Values
) -> Any:
    """Check the loss, run the backward pass, and return the oracle's loss as a function."""
    labels = labels_for(*inputs.shape[:2])
    base = oracle_rows(cell, case, values, inputs, mask)
    loss = network.halting.objective(score_of(labels), network(inputs, mask)).sum(0).mean()
    assert float(loss.detach()) == pytest.approx(oracle_loss(case, base, labels, base), rel=1e-9)
    loss.backward()

    def slow(changed: Values) -> float:
        rows = oracle_rows(cell, case, changed, inputs, mask, base)
        return oracle_loss(case, rows, labels, base)

    return slow


def check_forward(pondered: PonderRecord, rows: list[Row], case: Pinned) -> None:
    longest = max(done.steps for row in rows for done in row if done)
    assert pondered.weights is not None
    assert pondered.weights.shape[:2] == (longest, len(rows[0]))
    times = [
        max((done.steps for done in each if done), default=0) for each in zip(*rows, strict=True)
    ]
    assert pondered.computed == sum(times) * len(rows), "computation ends when every row has halted"
    predicted = case.halting.predict(pondered).detach().softmax(-1)
    for b, row in enumerate(rows):
        for t, done in enumerate(row):
            steps = float(pondered.ponder_time[t, b])
            weights = pondered.weights[:, t, b].detach().numpy()
            if done is None:
                assert steps == 0
                assert not weights.any()
                assert not pondered.cost[t, b].any()
                assert not pondered.expected_steps[t, b].any()
                continue
            assert steps == done.steps
            padded = done.weights + [0.0] * (longest - done.steps)
            np.testing.assert_allclose(weights, padded, **EXACT)
            mixture = pondered.mixture[t, b].detach().numpy()
            np.testing.assert_allclose(mixture, done.output, **EXACT)
            np.testing.assert_allclose(predicted[t, b].numpy(), case.answer(done), **EXACT)
            expected = oracle.expected_steps(done.weights)
            assert float(pondered.expected_steps[t, b]) == pytest.approx(expected)
            if isinstance(case.halting, ACT):
                remainder, cost = (
                    float(x[t, b].detach()) for x in (pondered.remainder, pondered.cost)
                )
                assert remainder == pytest.approx(done.remainder, abs=1e-12)
                assert cost == pytest.approx(done.steps + done.remainder, abs=1e-12)
            if isinstance(case.halting, PonderNet):
                assert pondered.outputs is not None
                for n in range(done.steps):
                    step = pondered.outputs[n, t, b].detach().numpy()
                    np.testing.assert_allclose(step, done.outputs[n], **EXACT)
        last = [done for done in row if done is not None][-1]
        for got, part in zip(pondered.state or (), last.state, strict=True):
            np.testing.assert_allclose(got[b].detach().numpy(), part, **EXACT)
