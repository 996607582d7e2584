"""One run at a time, as public implementations of ACT and PonderNet write it.

torch's own cells and optimiser, automatic differentiation, and rows that have halted (or whose
sequence is over) indexed out. Nothing here is shared with the package: the package is measured
against this loop.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

State = tuple[Tensor, ...]
Score = Callable[[Tensor], Tensor]  # outputs (B, 1) to losses (B,)
Ponder = Callable[["PlainNetwork", Tensor, State, Score], tuple[Tensor, State]]
CELLS = {"tanh_rnn": nn.RNNCell, "lstm": nn.LSTMCell}


class Sequences(NamedTuple):
    """A batch: T vectors of B sequences."""

    inputs: Tensor  # (T, B, D)
    targets: Tensor  # (T, B)
    mask: Tensor  # (T, B) bool: there is an input
    scored: Tensor  # (T, B) bool: there is a target


class PlainNetwork(nn.Module):
    """A cell with an output of one bit and a halting unit.

    Args:
        cell: a key of `CELLS`.
        inputs: size of an input vector; a flag is added, 1 at ponder step 1 (Graves, Sec. 2.1).
        hidden: H.
    """

    def __init__(self, cell: str, inputs: int, hidden: int) -> None:
        super().__init__()
        self.cell = CELLS[cell](inputs + 1, hidden)
        self.output = nn.Linear(hidden, 1)
        self.halt = nn.Linear(hidden, 1)
        self.hidden = hidden

    def start(self, rows: int) -> State:
        """The state before the first input, (B, H) each."""
        parts = 2 if isinstance(self.cell, nn.LSTMCell) else 1
        return tuple(self.output.weight.new_zeros(rows, self.hidden) for _ in range(parts))

    def step(self, n: int, x: Tensor, state: State) -> State:
        """Ponder step n of x (B, D)."""
        x = torch.cat([x, x.new_full((len(x), 1), float(n == 1))], dim=1)
        if isinstance(self.cell, nn.LSTMCell):
            new: State = self.cell(x, state)
            return new
        return (self.cell(x, state[0]),)


def act(
    network: PlainNetwork, x: Tensor, state: State, score: Score,
    tau: float, epsilon: float, max_steps: int,
) -> tuple[Tensor, State]:  # fmt: skip
    """ACT of one input: losses with their ponder cost, (B,), and the state averaged under p.

    Source: Graves 2016, Eqs. 5-13.
    """
    rows = torch.arange(len(x), device=x.device)
    spent = x.new_zeros(len(x))
    cost = x.new_zeros(len(x))
    output = x.new_zeros(len(x), network.output.out_features)
    mean = tuple(torch.zeros_like(part) for part in state)
    for n in range(1, max_steps + 1):
        state = network.step(n, x, state)
        h = torch.sigmoid(network.halt(state[0])).squeeze(1)
        halts = spent + h >= 1 - epsilon if n < max_steps else torch.ones_like(h, dtype=torch.bool)
        p = torch.where(halts, 1 - spent, h)
        weight = p.unsqueeze(1)
        output = output.index_add(0, rows, weight * network.output(state[0]))
        mean = tuple(m.index_add(0, rows, weight * s) for m, s in zip(mean, state, strict=True))
        cost = cost.index_add(0, rows, torch.where(halts, n + p, 0.0))
        rest = (~halts).nonzero().squeeze(1)
        if not len(rest):
            break
        rows, x, spent = rows[rest], x[rest], (spent + h)[rest]
        state = tuple(part[rest] for part in state)
    return score(output) + tau * cost, mean


def pondernet(
    network: PlainNetwork, x: Tensor, state: State, score: Score,
    lambda_p: float, beta: float, max_steps: int,
) -> tuple[Tensor, State]:  # fmt: skip
    """PonderNet with a constant N: expected losses and KL, (B,), and the state averaged under p.

    Source: Banino 2021, Eqs. 2-3.
    """
    survival = x.new_ones(len(x))
    mean = tuple(torch.zeros_like(part) for part in state)
    weights, losses = [], []
    for n in range(1, max_steps + 1):
        state = network.step(n, x, state)
        halting = torch.sigmoid(network.halt(state[0])).squeeze(1)
        p = survival * halting if n < max_steps else survival
        survival = survival * (1 - halting)
        weights.append(p)
        losses.append(score(network.output(state[0])))
        mean = tuple(m + p.unsqueeze(1) * s for m, s in zip(mean, state, strict=True))
    p = torch.stack(weights, dim=1)
    prior = lambda_p * (1 - lambda_p) ** torch.arange(max_steps, device=x.device, dtype=x.dtype)
    log_prior = (prior / prior.sum()).log().expand_as(p)
    divergence = functional.kl_div(log_prior, p, reduction="none").sum(1)
    return (p * torch.stack(losses, dim=1)).sum(1) + beta * divergence, mean


def loss(network: PlainNetwork, ponder: Ponder, batch: Sequences) -> Tensor:
    """The mean over sequences of the loss summed over time."""
    count = batch.mask.shape[1]
    state = network.start(count)
    total = batch.inputs.new_zeros(())
    for x, targets, mask, scored in zip(*batch, strict=True):
        here = mask.nonzero().squeeze(1)
        if len(here) == count:
            losses, state = ponder(network, x, state, _score(targets, scored))
        else:  # the other sequences are over
            old = tuple(part[here] for part in state)
            losses, new = ponder(network, x[here], old, _score(targets[here], scored[here]))
            state = tuple(s.index_copy(0, here, n) for s, n in zip(state, new, strict=True))
        total = total + losses.sum()
    return total / count


def _score(targets: Tensor, scored: Tensor) -> Score:
    def cross_entropy(outputs: Tensor) -> Tensor:
        logits, bits = outputs[:, 0], targets.to(outputs.dtype)
        losses = functional.binary_cross_entropy_with_logits(logits, bits, reduction="none")
        return torch.where(scored, losses, 0.0)

    return cross_entropy


def update(
    network: PlainNetwork, ponder: Ponder, batch: Sequences, optimiser: torch.optim.Optimizer
) -> None:
    """One update of one network."""
    optimiser.zero_grad()
    torch.autograd.backward(loss(network, ponder, batch))
    optimiser.step()
