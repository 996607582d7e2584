"""Stacked networks whose rows and replicas halt at very different steps."""

from __future__ import annotations

import copy
from typing import Any

import torch
from support.pinned import score_of
from torch import Tensor

from pondering.model.cells import CELLS
from pondering.model.halting import ACT, FixedRepeat, Halting, PonderNet, PonderRecord
from pondering.model.network import Network
from pondering.model.stacking import stack

REPLICAS, INPUTS, IMAGE, HIDDEN, OUTPUTS, STEPS = 3, 4, 784, 20, 2, 12
RECORDS = ("mixture", "ponder_time", "remainder", "cost", "expected_steps")
TAU, PRIOR, RHO = (0.25, 0.0, 0.5), (0.1, 0.5, 0.9), (1.0, 4.0, 2.0)
BIASES = {
    "spread": (4.0, -2.0, -1.0),
    "all at once": (20.0, 20.0, 20.0),
    "never": (-30.0, -30.0, -30.0),
}
SHAPES = {"vectors": (1, 40), "sequences": (4, 40), "one row": (3, 1)}
PRESENT = (1.0, 0.7, 0.1, 0.0)  # shares of inputs that the mask keeps


def halting_of(mechanism: str, replicas: int = REPLICAS, rho: tuple[float, ...] = RHO) -> Halting:
    """A mechanism with one setting for each replica."""
    tau, prior = torch.tensor(TAU[:replicas]), torch.tensor(PRIOR[:replicas])
    made: Halting = {
        "act": ACT(tau, 0.05, STEPS),
        "act_last": ACT(tau, 0.05, STEPS, carry="last"),
        "act_once": ACT(tau, 0.05, 1),
        "act_thrice": ACT(tau, 0.05, 3),
        "repeat": FixedRepeat(torch.tensor(rho[:replicas])),
        "plain": FixedRepeat(torch.ones(replicas)),
        "pondernet": PonderNet(prior, 0.5, STEPS),
        "pondernet_once": PonderNet(prior, 0.5, 1),
        "pondernet_eps": PonderNet(prior, 0.5, STEPS, 0.2),
        "pondernet_last": PonderNet(prior, 0.5, STEPS, 0.2, carry="last"),
    }[mechanism]
    return made


def networks(
    cell: str, biases: tuple[float, ...] = BIASES["spread"], flag: bool = True, hidden: int = HIDDEN
) -> list[Network]:
    """One network for each bias. In `lstm+state` the halting unit also reads the LSTM's cell."""
    solos, (kind, _, reads) = [], cell.partition("+")
    for seed, bias in enumerate(biases):
        generator = torch.Generator().manual_seed(seed)
        made = CELLS[kind](IMAGE if kind == "conv_mlp" else INPUTS, hidden, flag, generator)
        solo = Network(made, ACT(0.1), OUTPUTS, bias, generator, reads or "h")
        with torch.no_grad():
            solo.heads.weight[-1] *= 6
        solos.append(solo)
    return solos


def stacked(solos: list[Network], halting: Halting, path: Any = "compiled") -> Network:
    network = stack(solos, halting)
    network.path = path
    return network


def readable_twin(network: Network) -> Network:
    """A float64 copy of the network on the readable path."""
    twin = copy.deepcopy(network).double()
    twin.path = "readable"
    return twin


Batch = tuple[Tensor, Tensor, Tensor]
Gradients = dict[str, Tensor]


def batch_of(times: int, rows: int, share: float, size: int = INPUTS) -> Batch:
    """Inputs, labels, and the mask of a share of them."""
    generator = torch.Generator().manual_seed(9)
    shape = (times, REPLICAS, rows)
    inputs = 2 * torch.randn(*shape, size, generator=generator)
    labels = torch.randint(0, OUTPUTS, shape, generator=generator)
    return inputs, labels, torch.rand(shape, generator=generator) < share


def results(network: Network, batch: Batch) -> tuple[PonderRecord, Gradients]:
    """The record, and the gradients of the inputs and of every parameter."""
    network.zero_grad()
    inputs = batch[0].to(network.heads.weight.dtype, copy=True).requires_grad_()
    pondered = network(inputs, batch[2])
    losses = network.halting.objective(score_of(batch[1]), pondered)
    torch.where(batch[2], losses, 0.0).sum(0).mean(-1).sum().backward()
    gradients = {
        name: torch.zeros_like(p) if p.grad is None else p.grad.clone()
        for name, p in network.named_parameters()
    }
    found = inputs.grad
    return pondered, gradients | {"inputs": torch.zeros_like(inputs) if found is None else found}


def compare(found: tuple[PonderRecord, Gradients], exact: tuple[PonderRecord, Gradients]) -> None:
    """Assert that records and gradients agree within the rounding of their precision."""
    double = found[0].mixture.dtype == torch.float64
    near, least = (1e-10, 1e-12) if double else (2e-5, 2e-6)
    close: dict[str, Any] = {"rtol": near, "check_dtype": False}
    for field in RECORDS:
        got, want = getattr(found[0], field), getattr(exact[0], field)
        torch.testing.assert_close(
            got, want, **close, atol=least, msg=lambda m, f=field: f"{f}: {m}"
        )
    for name, gradient in found[1].items():
        atol = least * max(1.0, float(exact[1][name].abs().max()))
        torch.testing.assert_close(
            gradient, exact[1][name], **close, atol=atol, msg=lambda m, n=name: f"{n}: {m}"
        )
