"""Small networks on the compiled path, and how their numbers are compared."""

from __future__ import annotations

import copy
from typing import Any

import torch
from support.pinned import score_against
from torch import Tensor

from pondering.model.cells import CELLS
from pondering.model.halting import ACT, FixedRepeat, PonderNet, PonderRecord
from pondering.model.heads import Reads
from pondering.model.network import Network
from pondering.model.stacking import stack

REPLICAS, INPUTS, HIDDEN, STEPS = 3, 4, 20, 12
RECORDS = ("mixture", "ponder_time", "remainder", "cost", "expected_steps")
CLOSE: dict[str, Any] = {"rtol": 2e-5, "atol": 2e-6, "check_dtype": False}
TAU = (0.25, 0.0, 0.5)
RHO = (1.0, 4.0, 2.0)
BIASES = {
    "spread": (4.0, -2.0, -1.0),
    "all at once": (20.0, 20.0, 20.0),
    "never": (-30.0, -30.0, -30.0),
}
SHAPES = {"vectors": (1, 40), "sequences": (4, 40), "one row": (3, 1)}
PRESENT = (1.0, 0.7, 0.1, 0.0)  # the share of inputs that are there


def networks(
    cell: str,
    biases: tuple[float, ...],
    steps: int = STEPS,
    flag: bool = True,
    reads: Reads = "h",
) -> list[Network]:
    """One replica a bias, so different that their rows halt at very different steps."""
    solos = []
    for seed, bias in enumerate(biases):
        generator = torch.Generator().manual_seed(seed)
        made = CELLS[cell](INPUTS, HIDDEN, flag, generator)
        solo = Network(made, ACT(TAU[seed], 0.05, steps), 2, bias, generator, reads)
        with torch.no_grad():
            solo.heads.weight[-1] *= 6
        solos.append(solo)
    return solos


def stacked(solos: list[Network], mechanism: str = "act", rho: tuple[float, ...] = RHO) -> Network:
    """The replicas on the compiled path."""
    settings, steps = torch.tensor(TAU[: len(solos)]), solos[0].halting.max_steps
    halting = {
        "act": ACT(settings, 0.05, steps),
        "act_last": ACT(settings, 0.05, steps, carry="last"),
        "repeat": FixedRepeat(torch.tensor(rho[: len(solos)])),
        "pondernet": PonderNet(settings / 2 + 0.2, 0.3, steps),
        "pondernet_eps": PonderNet(settings / 2 + 0.2, 0.3, steps, 0.2, carry="last"),
    }[mechanism]
    network = stack(solos, halting)
    network.path = "compiled"
    return network


def readable_twin(network: Network) -> Network:
    """The same on the readable path, in double precision."""
    twin = copy.deepcopy(network).double()
    twin.path = "readable"
    return twin


Batch = tuple[Tensor, Tensor, Tensor]
Gradients = dict[str, Tensor]


def batch_of(times: int, rows: int, share: float) -> Batch:
    generator = torch.Generator().manual_seed(9)
    shape = (times, REPLICAS, rows)
    inputs = 2 * torch.randn(*shape, INPUTS, generator=generator)
    targets = torch.randint(0, 2, (*shape, 2), generator=generator).float()
    return inputs, targets, torch.rand(shape, generator=generator) < share


def results(network: Network, batch: Batch) -> tuple[PonderRecord, dict[str, Tensor]]:
    """The record, and the gradients of the inputs and of every parameter."""
    network.zero_grad()
    dtype = network.heads.weight.dtype
    inputs = batch[0].to(dtype, copy=True).requires_grad_()
    targets, mask = batch[1].to(dtype), batch[2]
    pondered = network(inputs, mask)
    losses = network.halting.objective(score_against(targets), pondered)
    torch.where(mask, losses, 0.0).sum(0).mean(-1).sum().backward()
    gradients = {
        name: torch.zeros_like(p) if p.grad is None else p.grad.clone()
        for name, p in network.named_parameters()
    }
    found = inputs.grad
    return pondered, gradients | {"inputs": torch.zeros_like(inputs) if found is None else found}


def compare(found: tuple[PonderRecord, Gradients], exact: tuple[PonderRecord, Gradients]) -> None:
    """Records and gradients, to what single precision has."""
    for field in RECORDS:
        torch.testing.assert_close(getattr(found[0], field), getattr(exact[0], field), **CLOSE)
    for name, gradient in found[1].items():
        scale = float(exact[1][name].abs().max())
        close = CLOSE | {"atol": 2e-6 * max(1.0, scale)}
        torch.testing.assert_close(
            gradient, exact[1][name], **close, msg=lambda m, n=name: f"{n}: {m}"
        )
