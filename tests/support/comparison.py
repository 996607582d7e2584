"""Whole networks through the oracle, and the comparison of the two records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from oracle import oracle
from support.classes import rows_of
from support.pinned import MECHANISMS, score_against
from torch import Tensor

from pondering.model.halting import ACT, Halting, PonderNet, PonderRecord
from pondering.model.network import Network

EXACT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-12}


def oracle_rows(
    cell: str,
    name: str,
    values: dict[str, np.ndarray],
    inputs: Tensor,
    mask: Tensor | None = None,
    forced: list[Any] | None = None,
) -> list[list[oracle.Pondering | None]]:
    return rows_of(cell, MECHANISMS[name][1], values, inputs, mask, forced)


def oracle_loss(
    halting: Halting, rows: list[list[oracle.Pondering | None]], targets: Tensor
) -> float:
    """Mean over examples of the sum over input times."""
    total = 0.0
    for b, row in enumerate(rows):
        for t, done in enumerate(row):
            if done is None:
                continue
            wanted = targets[t, b].numpy()

            def score(y: np.ndarray, wanted: np.ndarray = wanted) -> float:
                return oracle.binary_cross_entropy(y, wanted)

            if isinstance(halting, ACT):
                total += oracle.act_loss(done, score, halting.tau)
            elif isinstance(halting, PonderNet):
                rule = halting.lambda_p, halting.beta, halting.kl
                total += oracle.pondernet_loss(done, score, *rule)
            else:
                total += score(done.output)
    return total / len(rows)


def loss_of(
    network: Network, inputs: Tensor, targets: Tensor, mask: Tensor | None = None
) -> Tensor:
    losses = network.halting.objective(score_against(targets), network(inputs, mask))
    if mask is not None:
        losses = torch.where(mask, losses, 0.0)
    return losses.sum(0).mean()


def check_forward(
    pondered: PonderRecord, rows: list[list[oracle.Pondering | None]], halting: Halting
) -> None:
    longest = max(done.steps for row in rows for done in row if done)
    assert pondered.weights.shape[:2] == (longest, len(rows[0]))
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
            expected = oracle.expected_steps(done.weights)
            assert float(pondered.expected_steps[t, b]) == pytest.approx(expected)
            if isinstance(halting, ACT):
                assert float(pondered.remainder[t, b].detach()) == pytest.approx(
                    done.remainder, abs=1e-12
                )
                cost = done.steps + done.remainder
                assert float(pondered.cost[t, b].detach()) == pytest.approx(cost, abs=1e-12)
            if isinstance(halting, PonderNet):
                assert pondered.outputs is not None
                for n in range(done.steps):
                    step = pondered.outputs[n, t, b].detach().numpy()
                    np.testing.assert_allclose(step, done.outputs[n], **EXACT)
