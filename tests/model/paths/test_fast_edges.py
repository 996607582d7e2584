"""The fast path against the readable one at its edges: all halt at once, none does, few there."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from support.pinned import score_against
from torch import Tensor

from pondering.model.cells import CELLS, ConvMLP
from pondering.model.halting import ACT, FixedRepeat, Halting, PonderNet, PonderRecord
from pondering.model.network import Network, PathName
from pondering.model.stacking import stack

REPLICAS, HIDDEN, STEPS, SIZE, IMAGE = 3, 6, 9, 4, 784
EXACT: dict[str, Any] = {"rtol": 1e-10, "atol": 1e-12}
HALTING: dict[str, Halting] = {
    "act": ACT(torch.tensor([0.25, 0.0, 0.5]), 0.01, STEPS),
    "act of one step": ACT(torch.tensor([0.25, 0.0, 0.5]), 0.01, 1),
    "repeat": FixedRepeat(torch.tensor([1.0, 9.0, 2.0])),
    "plain": FixedRepeat(torch.tensor([1.0, 1.0, 1.0])),
    "pondernet": PonderNet(torch.tensor([0.1, 0.5, 0.9]), 0.5, STEPS),
    "pondernet of one step": PonderNet(torch.tensor([0.1, 0.5, 0.9]), 0.5, 1),
}
BIASES = {  # of the halting unit, by replica
    "spread": (20.0, -2.0, -30.0),
    "all at once": (20.0, 20.0, 20.0),
    "never": (-30.0, -30.0, -30.0),
}
SHAPES = {"vectors": (1, 12), "sequences": (4, 12), "one row": (2, 1)}
PRESENT = (1.0, 0.7, 0.1, 0.0)  # the share of inputs that are there


def network_of(
    cell: str, halting: Halting, biases: tuple[float, ...], flag: bool = True
) -> Network:
    solos = []
    for seed, bias in enumerate(biases):
        generator = torch.Generator().manual_seed(seed)
        size = IMAGE if cell == "conv_mlp" else SIZE
        solo = Network(CELLS[cell](size, HIDDEN, flag, generator), halting, 2, bias, generator)
        with torch.no_grad():
            solo.heads.weight[-1] *= 3
        solos.append(solo)
    return stack(solos, halting).double()


def results(
    network: Network, batch: tuple[Tensor, Tensor, Tensor], path: PathName
) -> tuple[PonderRecord, dict[str, Tensor], Tensor]:
    """The record, the gradients of the parameters and of the inputs."""
    network.path = path
    network.zero_grad()
    inputs, targets, mask = batch
    inputs = inputs.clone().requires_grad_()
    pondered = network(inputs, mask)
    losses = network.halting.objective(score_against(targets), pondered)
    torch.where(mask, losses, 0.0).sum(0).mean(-1).sum().backward()
    gradients = {
        name: torch.zeros_like(p) if p.grad is None else p.grad.clone()
        for name, p in network.named_parameters()
    }
    untouched = torch.zeros_like(inputs)
    return pondered, gradients, untouched if inputs.grad is None else inputs.grad


CASES = [("act", biases) for biases in BIASES]
CASES += [(name, "spread") for name in HALTING if name != "act"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("name", "biases"), CASES)
@pytest.mark.parametrize("cell", ["tanh_rnn", "lstm"])
def test_both_paths_agree(cell: str, name: str, biases: str, shape: str) -> None:
    network = network_of(cell, HALTING[name], BIASES[biases])
    for share in PRESENT:
        compare(network, *SHAPES[shape], share, biases)


@pytest.mark.parametrize("flag", [True, False])
@pytest.mark.parametrize("name", ["pondernet", "pondernet of one step"])
def test_both_paths_agree_on_images(name: str, flag: bool) -> None:
    network = network_of("conv_mlp", HALTING[name], BIASES["spread"], flag)
    for times, rows in ((1, 5), (3, 2), (2, 1)):
        compare(network, times, rows, 0.7, "spread")


def compare(network: Network, times: int, rows: int, share: float, biases: str) -> None:
    """Forward and gradient of both paths, `share` of the inputs being there."""
    generator = torch.Generator().manual_seed(1)
    shape = (times, REPLICAS, rows)
    size = IMAGE if isinstance(network.cell, ConvMLP) else SIZE
    inputs = torch.randn(*shape, size, generator=generator, dtype=torch.float64)
    targets = torch.randint(0, 2, (*shape, 2), generator=generator).double()
    mask = torch.rand(shape, generator=generator) < share
    slow, want, want_inputs = results(network, (inputs, targets, mask), "readable")
    fast, got, got_inputs = results(network, (inputs, targets, mask), "fast")
    for field in ("mixture", "ponder_time", "remainder", "cost", "expected_steps"):
        got_field, want_field = getattr(fast, field), getattr(slow, field)
        torch.testing.assert_close(got_field, want_field, **EXACT, check_dtype=False)
    for key, gradient in got.items():
        torch.testing.assert_close(gradient, want[key], **EXACT, msg=lambda m, k=key: f"{k}: {m}")
    torch.testing.assert_close(got_inputs, want_inputs, **EXACT)
    if mask.any() and isinstance(network.halting, ACT) and network.halting.max_steps == STEPS:
        steps = slow.ponder_time[mask]
        assert biases != "all at once" or bool((steps == 1).all())
        assert biases != "never" or bool((steps == STEPS).all())
        if biases == "spread" and mask[:, 0].any() and mask[:, 2].any():
            assert {1, STEPS} <= set(steps.long().tolist())
    if not network.halting.scores_every_step:  # else all N steps are computed, whoever is there
        assert int(slow.ponder_time.sum()) <= fast.computed <= slow.computed
