"""Initial weights after Glorot and Bengio 2010, in place of torch's."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from pondering.model.network import Network


@torch.no_grad()
def glorot(network: Network, generator: Generator | None = None) -> None:
    """Draw the weights of a network, uniform in +-sqrt(6 / (fan_in + fan_out)); biases become zero.

    Each gate has its own matrix and fans. The first-step flag is one of the inputs. The output head
    (C, H) and the halting unit (1, H or 2 H) are two matrices. Filters count their area in both
    fans. The halting unit keeps its bias, and an LSTM its `forget_bias`. Of a cell without
    `matrices` (`cells.Adapted`, a user's cell) each parameter of two axes or more is one matrix.

    Args:
        network: one network, without replica axis.
        generator: source of random numbers.

    Raises:
        ValueError: the network is a stack of replicas.

    Source: Glorot and Bengio 2010, Eq. 16.
    """
    heads, cell = network.heads, network.cell
    if heads.weight.dim() != 2:
        raise ValueError("network: stacked replicas are not allowed; a single network is")
    known = hasattr(cell, "matrices")
    of_cell = cell.matrices() if known else [[p] for p in cell.parameters() if p.dim() > 1]
    halt_bias = heads.bias[-1].clone()
    for parameter in network.parameters():
        parameter.zero_()
    unit = [heads.weight[-1:], *([] if heads.rest is None else [heads.rest])]
    for parts in (*of_cell, [heads.weight[:-1]], unit):
        bound = _bound(parts)
        for part in parts:
            part.uniform_(-bound, bound, generator=generator)
    heads.bias[-1] = halt_bias
    if hasattr(cell, "set_biases"):
        cell.set_biases()


def _bound(parts: list[Tensor]) -> float:
    """sqrt(6 / (fan_in + fan_out)) of a matrix in parts, side by side."""
    area = parts[0][0, 0].numel()
    inputs = sum(part.shape[1] for part in parts)
    return math.sqrt(6 / (area * (inputs + len(parts[0]))))
