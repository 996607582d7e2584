"""Networks in users' programs: halted rows, torch.func, devices, Numba's cache."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import Tensor

from pondering import (
    ACT,
    LSTM,
    FixedRepeat,
    Network,
    PonderNet,
    Sweep,
)
from pondering.model.cells import Adapted
from pondering.model.stacking import stack, stack_halting

MECHANISMS: dict[str, Any] = {
    "act": ACT(1e-3, max_steps=6),
    "repeat": FixedRepeat(3),
    "pondernet": PonderNet(0.3, max_steps=6),
}


def network_of(halting: Any, reads: Any = "h", seed: int = 0) -> Network:
    torch.manual_seed(seed)
    return Network(LSTM(2, 32), halting, 3, reads=reads)


def two_networks() -> Network:
    halting = ACT(1e-3, max_steps=6)
    singles = [network_of(halting, seed=seed) for seed in (0, 1)]
    return stack(singles, stack_halting([halting] * 2, torch.float32, "cpu"))


@pytest.mark.parametrize("name", ["act", "repeat", "pondernet"])
@pytest.mark.parametrize("around", ["ours", "torch's"])
def test_without_a_gradient_halted_rows_are_not_computed(name: str, around: str) -> None:
    torch.manual_seed(3)
    cell: Any = LSTM(2, 32) if around == "ours" else Adapted(torch.nn.LSTMCell(3, 32))
    network = Network(cell, MECHANISMS[name], 3, halt_bias=-1.0).eval()
    inputs, mask, found = torch.randn(4, 50, 2), torch.rand(4, 50) < 0.8, []
    for path in ("compiled", "readable"):
        generator = torch.Generator().manual_seed(0)
        with torch.no_grad():
            found.append(network(inputs, mask, keep_state=True, path=path, generator=generator))
    skipped, whole = found
    assert skipped.computed == int(skipped.ponder_time.sum()) <= whole.computed
    for each in ("ponder_time", "weights", "remainder", "expected_steps"):
        torch.testing.assert_close(getattr(skipped, each), getattr(whole, each))
    torch.testing.assert_close(skipped.mixture[mask], whole.mixture[mask])
    torch.testing.assert_close(skipped.state, whole.state)


def test_torch_func_grad_agrees_with_backward() -> None:
    network, inputs = two_networks(), torch.randn(2, 2, 8, 2)

    def loss(parameters: dict[str, Tensor]) -> Tensor:
        record = torch.func.functional_call(network, parameters, (inputs,))
        return network.halting.objective(lambda y: y.square().mean(-1), record).sum()

    parameters = dict(network.named_parameters())
    found = torch.func.grad(loss)(parameters)
    loss(parameters).backward()
    for name, each in parameters.items():
        torch.testing.assert_close(found[name], each.grad, rtol=1e-4, atol=1e-6)


def test_a_sweep_keeps_its_rates_on_the_host() -> None:
    """Some devices have no float64."""
    sweep = Sweep(
        lambda: network_of(ACT(1e-3)), lambda y, t: y.mean(-1), seeds=range(2), device="meta"
    )
    optimiser = sweep._optimiser
    assert optimiser.learning_rate.device.type == "cpu"
    assert all(each.device.type == "meta" and each.dtype != torch.float64
               for each in (*optimiser.means, *optimiser.parameters))  # fmt: skip


PROGRAM = """
import warnings, torch
from pondering import ACT, LSTM, Network, Sweep
make = lambda: Network(LSTM(2, 32), ACT(1e-3, max_steps=4), 3)
sweep = Sweep(make, lambda y, t: (y - t).square().mean(-1), seeds=range(2))
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    for _ in range(2):
        loss = sweep.step(torch.randn(3, 8, 2), torch.randn(3, 8, 3))
    print(len(said), said[0].message if said else "", loss.isfinite().all().item())
"""


def test_without_a_folder_for_its_cache_numba_is_left_out() -> None:
    """Numba finds no folder if the package is read-only and its user has no home."""
    no_place = "import numba.core.caching as c\nc.CacheImpl._locator_classes = []\n"
    done = subprocess.run(
        [sys.executable, "-c", no_place + PROGRAM], capture_output=True, text=True, check=True
    )
    count, *words = done.stdout.split()
    assert count == "1" and "NUMBA_CACHE_DIR" in done.stdout and words[-1] == "True"
